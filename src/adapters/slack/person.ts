import type { Person } from "../../core/domain/message.ts";
import { escapeText, visibleLine } from "./text.ts";

/** A person in mrkdwn: a mention where Slack knows them, else the name they were given, which pings nobody. */
export const personMrkdwn = (person: Person): string =>
  person.provider === "slack" && /^[UW][A-Z0-9]+$/.test(person.userId)
    ? `<@${person.userId}>`
    : escapeText(visibleLine(person.name ?? person.userId));
