import type { OutboundMessage } from "../../core/domain/message.ts";
import type { SlackBody } from "./blocks.ts";
import { cutEscaped } from "./cut.ts";
import { LIMITS } from "./limits.ts";
import { toMrkdwn } from "./mrkdwn.ts";
import { renderCard } from "./renderCard.ts";
import { renderQuestion } from "./renderQuestion.ts";
import { splitForSlack } from "./split.ts";
import { escapedLength, wellFormed } from "./text.ts";

/**
 * Our words as the body of one Slack message. Pure and total: whatever comes in, what goes out is within Slack's limits.
 * A long answer is split by `splitForSlack` before it becomes deliveries; one that was not is cut and says so.
 */
export function renderSlack(message: OutboundMessage): SlackBody {
  return wellFormed(renderKind(message));
}

function renderKind(message: OutboundMessage): SlackBody {
  switch (message.kind) {
    case "text":
      return { text: renderText(message.text) };
    case "question":
      return renderQuestion(message);
    case "card":
      return renderCard(message.card);
    case "notice":
      return { text: cutEscaped(message.text.trim() === "" ? "(no words)" : message.text, LIMITS.text) };
  }
}

const CUT_NOTE = "\n_… cut: the rest did not fit one message_";

function renderText(markdown: string): string {
  if (markdown.trim() === "") return "(no words)";
  if (escapedLength(markdown) <= LIMITS.text) return toMrkdwn(markdown);
  const [first = ""] = splitForSlack(markdown, LIMITS.text - CUT_NOTE.length);
  return toMrkdwn(first) + CUT_NOTE;
}
