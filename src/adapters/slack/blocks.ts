import type { Button, KnownBlock, PlainTextElement, SectionBlock } from "@slack/types";
import type { Button as Meaning } from "../../core/domain/message.ts";
import { encodeButton } from "../buttonValue.ts";
import { LIMITS } from "./limits.ts";
import { toMrkdwn } from "./mrkdwn.ts";
import { splitForSlack } from "./split.ts";

/** The body of one Slack message, without where it goes. `text` is what notifications and screen readers get. */
export interface SlackBody {
  readonly text: string;
  readonly blocks?: readonly KnownBlock[];
}

/** Slack parses nothing in it; `emoji: false`, since untrusted text must not draw a `:white_check_mark:` either. */
export const plain = (text: string): PlainTextElement => ({ type: "plain_text", text, emoji: false });

export const plainSection = (text: string): SectionBlock => ({ type: "section", text: plain(text) });

/** `text` is mrkdwn, already escaped; `verbatim` keeps Slack from making links and mentions of bare words. */
export const mrkdwnSection = (text: string): SectionBlock => ({
  type: "section",
  text: { type: "mrkdwn", text, verbatim: true },
});

/** Markdown as sections, each with its code fences closed. */
export const proseSections = (markdown: string): SectionBlock[] =>
  markdown.trim() === ""
    ? []
    : splitForSlack(markdown, LIMITS.sectionText).map((part) => ({
        type: "section",
        text: { type: "mrkdwn", text: toMrkdwn(part) },
      }));

export const button = (actionId: string, label: string, meaning: Meaning, style?: "primary" | "danger"): Button => ({
  type: "button",
  action_id: actionId,
  text: plain(label),
  value: encodeButton(meaning),
  ...(style && { style }),
});

/** All text of the blocks together: what Slack's limit on the whole message counts. */
export function textLength(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + textLength(item), 0);
  if (typeof value !== "object" || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [key, nested]) => sum + (key === "text" && typeof nested === "string" ? nested.length : textLength(nested)),
    0,
  );
}

export const fitsMessage = (body: SlackBody): boolean =>
  (body.blocks?.length ?? 0) <= LIMITS.blocks && body.text.length + textLength(body.blocks ?? []) <= LIMITS.message;
