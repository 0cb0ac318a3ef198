import type { Button, KnownBlock } from "@slack/types";

import type { DecisionStatus } from "../../core/domain/decision.ts";
import type { Card, DecisionVerb, Fact, Preview } from "../../core/domain/message.ts";
import { button, fitsMessage, mrkdwnSection, plain, plainSection, type SlackBody } from "./blocks.ts";
import { chunks, cut } from "./cut.ts";
import { LIMITS } from "./limits.ts";
import { personMrkdwn } from "./person.ts";
import { escapeText, visibleLine, visibleLines } from "./text.ts";

/** The word for each state, as A9 names them; `approved` is the moment before a worker starts. */
const STATUS_WORDS: Record<DecisionStatus, string> = {
  pending: "waiting for a decision",
  approved: "being applied",
  applying: "being applied",
  applied: "applied",
  failed: "failed",
  rejected: "rejected",
  expired: "expired",
  unconfirmed: "unconfirmed",
};

/**
 * A proposed write. Whole, it can be approved here; a preview too long for one message is shown cut, and `Approve`
 * gives way to `Review full` (A8). Everything a tool or a model wrote is `plain_text`.
 */
export function renderCard(card: Card): SlackBody {
  // A preview may hold a million characters: what cannot fit even as it came is not made visible first.
  const whole = rawLength(card.preview) <= LIMITS.message && compose(card, previewBlocks(card.preview), true);
  return whole && fitsMessage(whole) ? whole : compose(card, cutPreviewBlocks(card.preview), false);
}

const rawLength = ({ title, summary = "", facts }: Preview): number =>
  facts.reduce((sum, { label, value }) => sum + label.length + value.length, title.length + summary.length);

function compose(card: Card, preview: KnownBlock[], isWhole: boolean): SlackBody {
  const blocks: KnownBlock[] = [...preview];
  if (!isWhole) blocks.push(plainSection(CUT_SENTENCE[card.status === "pending" ? "pending" : "decided"]));
  blocks.push({ type: "context", elements: identity(card).map(plain) });
  if (card.status !== "pending") blocks.push(mrkdwnSection(decisionLine(card)));
  if (card.note) blocks.push(plainSection(cut(visibleLines(card.note), 1_000)));
  if (card.status === "unconfirmed" && !card.note) {
    blocks.push(plainSection("It may have been written. Check the target before you run it again."));
  }
  const elements = buttons(card, isWhole);
  if (elements.length > 0) blocks.push({ type: "actions", elements });
  const title = escapeText(cut(visibleLine(card.preview.title), 300));
  return { text: `${title} (${STATUS_WORDS[card.status]})`, blocks };
}

const CUT_SENTENCE = {
  pending: "This is not the whole change: it is too long for one message. Open it with Review full to decide.",
  decided: "This is not the whole change: it is too long for one message.",
} as const;

/**
 * What the card is about, as the database knows it. While people decide, enough of the digest to compare by eye; once
 * they did, the whole of it and the entry in the decision record: a witness outside of the database.
 */
function identity(card: Card): string[] {
  const digest = card.record ? card.inputDigest : card.inputDigest.slice(0, 16);
  const tool = `Tool ${cut(visibleLine(card.tool), 200)} · arguments sha256 ${digest}`;
  return card.record ? [tool, `Record ${card.record.seq} · sha256 ${card.record.hash}`] : [tool];
}

function buttons(card: Card, isWhole: boolean): Button[] {
  const verb = (name: DecisionVerb, label: string, style?: "primary" | "danger") =>
    button(
      name,
      label,
      { for: "decision", decisionId: card.decisionId, card: card.cardDigest.slice(0, 16), verb: name },
      style,
    );
  if (card.status === "unconfirmed") return [verb("run-again", "Run again")];
  if (card.status !== "pending") return [];
  const first = isWhole ? verb("approve", "Approve", "primary") : verb("review", "Review full");
  return [first, verb("reject", "Reject", "danger")];
}

/** One line: the state, who, when (A9). */
function decisionLine(card: Card): string {
  const by = card.decidedBy ? ` by ${personMrkdwn(card.decidedBy)}` : "";
  const act: Partial<Record<DecisionStatus, string>> = { rejected: "rejected", expired: "nobody decided in time" };
  const who = `${act[card.status] ?? "approved"}${card.status === "expired" ? "" : by}`;
  return [`*${STATUS_WORDS[card.status]}*`, who, ...dateMrkdwn(card.decidedAt)].join(" · ");
}

/** Slack shows it in each reader's own time zone; the fallback is UTC. */
function dateMrkdwn(iso: string | undefined): string[] {
  const at = iso === undefined ? Number.NaN : Date.parse(iso);
  if (Number.isNaN(at)) return [];
  const fallback = `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return [`<!date^${Math.floor(at / 1000)}^{date_short_pretty} {time}|${fallback}>`];
}

// -------------------------------------------------------------------------------------------------------- preview

function previewBlocks(preview: Preview): KnownBlock[] {
  return [
    titleBlock(visibleLine(preview.title)),
    ...(preview.summary ? untrustedSections(visibleLines(preview.summary)) : []),
    ...preview.facts.flatMap(factBlocks),
  ];
}

function cutPreviewBlocks(preview: Preview): KnownBlock[] {
  // Cut before and after: making characters visible only lengthens, so the first cut saves work and loses nothing.
  const short = (show: (text: string) => string, text: string, max: number): string =>
    cut(show(text.slice(0, max + 1)), max, "… (cut)");
  return [
    titleBlock(short(visibleLine, preview.title, 400)),
    ...(preview.summary ? [plainSection(short(visibleLines, preview.summary, 600))] : []),
    ...preview.facts.map((fact) => pair(short(visibleLine, fact.label, 100), short(visibleLines, fact.value, 200))),
  ];
}

const titleBlock = (title: string): KnownBlock =>
  title.length <= LIMITS.headerText ? { type: "header", text: plain(title) } : plainSection(title);

function factBlocks(fact: Fact): KnownBlock[] {
  const label = visibleLine(fact.label);
  const value = visibleLines(fact.value);
  return value.length <= LIMITS.fieldText ? [pair(label, value)] : [plainSection(label), ...untrustedSections(value)];
}

const pair = (label: string, value: string): KnownBlock => ({ type: "section", fields: [plain(label), plain(value)] });

/** What needs several sections gets a bar before each, so that no piece can pose as a fact of its own. */
function untrustedSections(text: string): KnownBlock[] {
  if (text.length <= LIMITS.sectionText) return [plainSection(text)];
  const bar = "│ ";
  return chunks(text, LIMITS.sectionText - bar.length).map((piece) =>
    plainSection(piece.startsWith(bar) ? piece : bar + piece),
  );
}
