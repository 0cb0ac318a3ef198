import type { ActionsBlock, KnownBlock, SectionBlock } from "@slack/types";
import type { AskedQuestion, Option, OutboundMessage, QuestionOutcome } from "../../core/domain/message.ts";
import { button, mrkdwnSection, plain, plainSection, proseSections, type SlackBody, textLength } from "./blocks.ts";
import { chunks, cut, cutEscaped } from "./cut.ts";
import { LIMITS } from "./limits.ts";
import { personMrkdwn } from "./person.ts";

/** Of the message's 13,000: the rest is for the top-level text (1,000), six full labels and the answer. */
const PROSE_BUDGET = 10_000;
const TEXT_BUDGET = 1_000;

type QuestionMessage = Extract<OutboundMessage, { kind: "question" }>;

/** The turn's words, the question, and one button per option; with an outcome, what was chosen in their place (Q4). */
export function renderQuestion({ text, question, outcome }: QuestionMessage): SlackBody {
  const asked = questionSections(question.text);
  const blocks: KnownBlock[] = [...leadSections(text, PROSE_BUDGET - textLength(asked)), ...asked];
  if (outcome) blocks.push(...outcomeBlocks(outcome));
  else if (question.options.length > 0) blocks.push(...optionBlocks(question));
  const spoken = [text, question.text].filter((part) => part.trim() !== "").join("\n\n");
  const closing = outcome ? `\n${outcomeText(outcome)}` : "";
  return { text: cutEscaped(spoken, TEXT_BUDGET) + closing, blocks };
}

/** Formatted where that fits. A question of nothing but `&` grows fivefold: it then goes out as plain text, whole. */
function questionSections(text: string): SectionBlock[] {
  const formatted = proseSections(text);
  if (textLength(formatted) <= PROSE_BUDGET) return formatted;
  return chunks(text, LIMITS.sectionText).map(plainSection);
}

/** Words that leave no room for the question are cut, and say so; the flow sends long ones ahead as messages of their own. */
function leadSections(text: string, budget: number): SectionBlock[] {
  const kept: SectionBlock[] = [];
  let spent = 0;
  for (const section of proseSections(text)) {
    spent += textLength(section);
    if (spent > budget) return [...kept, mrkdwnSection("_… cut: the rest did not fit this message_")];
    kept.push(section);
  }
  return kept;
}

function optionBlocks(question: AskedQuestion): KnownBlock[] {
  const numbered = needsNumbers(question.options);
  const actions: ActionsBlock = {
    type: "actions",
    elements: question.options.map((option, index) => {
      const label = numbered ? `${index + 1}. ${shown(option.label)}` : shown(option.label);
      const meaning = { for: "question", questionId: question.id, option: index } as const;
      return button(`option_${index}`, cut(label, LIMITS.buttonText), meaning);
    }),
  };
  const list = question.options.map((option, index) => `${index + 1}. ${shown(option.label)}`).join("\n");
  return numbered ? [...chunks(list, LIMITS.sectionText).map(plainSection), actions] : [actions];
}

/** Buttons that a reader could not tell apart, or not read to the end, get numbers and a list above them (Q6). */
function needsNumbers(options: readonly Option[]): boolean {
  const labels = options.map((option) => shown(option.label));
  return new Set(labels).size < labels.length || labels.some((label) => label.length > LIMITS.buttonText);
}

/** On one line, and never blank: Slack refuses a button without text. */
function shown(label: string): string {
  const line = label
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return /[^\s\p{Cf}]/u.test(line) ? line : "(blank)";
}

const outcomeBlocks = (outcome: QuestionOutcome): KnownBlock[] => {
  if (outcome.kind === "closed") return [{ type: "context", elements: [plain(outcomeText(outcome))] }];
  const who = outcome.by ? `${personMrkdwn(outcome.by)} answered:` : "Answered:";
  return [mrkdwnSection(`${who} *${outcomeText(outcome)}*`)];
};

const outcomeText = (outcome: QuestionOutcome): string =>
  outcome.kind === "closed"
    ? `closed (${cutEscaped(shown(outcome.reason), 200)})`
    : cutEscaped(shown(outcome.text), 500);
