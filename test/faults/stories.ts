import type { HistoryMessage } from "../../src/core/domain/history.ts";
import type { ApprovalRule, Deployment } from "../../src/core/domain/manifest.ts";
import { DEFAULT_APPROVALS } from "../../src/core/domain/manifest.ts";
import type { Card, DecisionVerb } from "../../src/core/domain/message.ts";
import type { ModelStep } from "../../src/core/ports.ts";
import type { LedgerFault } from "./effectLedger.ts";
import type { Posted } from "./history.ts";

/** What a person does next, looking at the chat. */
export type Act =
  | { readonly kind: "post"; readonly text: string }
  /** `times`: how often they click; the platform delivers the first click twice. */
  | { readonly kind: "decide"; readonly card: Card; readonly verb: DecisionVerb; readonly times: number }
  | { readonly kind: "option"; readonly questionId: string; readonly option: number; readonly times: number }
  /** Nobody does anything for so long. */
  | { readonly kind: "wait"; readonly ms: number };

/**
 * One conversation, from the first post to the last message. People and models here hold no state: what they do follows
 * from what they see, so that whatever a crash left is gone on with.
 */
export interface Story {
  readonly name: StoryName;
  readonly post: string;
  /** Null: there is nothing left to do. `done`: how often each kind of act was done already. */
  readonly next: (see: See) => Act | null;
  /** What the target does to the first write. */
  readonly fault?: LedgerFault;
  /** Nothing rung is heard, but for what the sweeper rings. */
  readonly deaf?: boolean;
  /** Nothing comes twice: one click, one delivery of it, one ring. */
  readonly plain?: boolean;
  /** What becomes of the decision where nothing crashes; null: there is none. */
  readonly ends: "applied" | "rejected" | "expired" | "failed" | null;
}

export interface See {
  readonly card: Card | null;
  readonly question: { readonly id: string; readonly open: boolean } | null;
  readonly done: (act: "decide" | "wait") => number;
}

const decide =
  (verb: DecisionVerb) =>
  ({ card }: See): Act | null =>
    card?.status === "pending" ? { kind: "decide", card, verb, times: 2 } : null;

const DAY_MS = 25 * 60 * 60 * 1000;
/** Who runs again more often than this has a target that never answers. */
const MOST_AGAIN = 3;

/** Approves, and has it run again for as long as nobody knows what became of it. */
function untilSettled(see: See): Act | null {
  const { card, done } = see;
  if (card?.status !== "unconfirmed") return decide("approve")(see);
  return done("decide") <= MOST_AGAIN ? { kind: "decide", card, verb: "run-again", times: 2 } : null;
}

export const STORIES = {
  approve: { post: "attach a note", next: decide("approve"), ends: "applied" },
  reject: { post: "attach a note", next: decide("reject"), ends: "rejected" },
  /** Nobody decides in time; then somebody finds the old card. */
  expire: {
    post: "attach a note",
    next: ({ card, done }) => {
      if (card?.status === "pending") return { kind: "wait", ms: DAY_MS };
      return card && done("decide") === 0 ? { kind: "decide", card, verb: "approve", times: 1 } : null;
    },
    ends: "expired",
  },
  /** The target commits and says nothing; a person has it run again under the same key. */
  again: { post: "attach a note, slowly", fault: "hang", next: untilSettled, ends: "applied" },
  /** The target commits and cuts the connection; the tool's own `verify` finds the effect. */
  verify: { post: "attach a note, verified", fault: "reset", next: decide("approve"), ends: "applied" },
  refuse: { post: "attach a note", fault: "refuse", next: untilSettled, ends: "failed" },
  question: {
    post: "ask me",
    next: ({ question }) => (question?.open ? { kind: "option", questionId: question.id, option: 1, times: 2 } : null),
    ends: null,
  },
  /** The queue loses everything: only the sweeper finds what waits. */
  deaf: { post: "attach a note", deaf: true, next: decide("approve"), ends: "applied" },
  /** For pairs of crashes, whose number grows with the square of the calls. */
  once: { post: "attach a note", plain: true, next: untilSettled, ends: "applied" },
} as const satisfies Record<string, Omit<Story, "name">>;

export type StoryName = keyof typeof STORIES;
export const STORY_NAMES = Object.keys(STORIES) as StoryName[];
export const isStory = (name: string): name is StoryName => Object.hasOwn(STORIES, name);
export const storyOf = (name: StoryName): Story => ({ name, ...STORIES[name] });

/** What a person sees, looking at the chat. */
export function look(chat: readonly Posted[]): Pick<See, "card" | "question"> {
  const card = chat.findLast((posted) => posted.message.kind === "card")?.message;
  const question = chat.findLast((posted) => posted.message.kind === "question")?.message;
  return {
    card: card?.kind === "card" ? card.card : null,
    question: question?.kind === "question" ? { id: question.question.id, open: !question.outcome } : null,
  };
}

/** The model: what it says follows from the last message alone. */
export function modelStep(history: readonly HistoryMessage[]): ModelStep {
  const last = history.at(-1);
  const call = (tool: string, input: ModelStep["calls"][number]["input"]) => ({
    providerCallId: "call_0",
    tool,
    input,
  });
  const said = (text: string, calls: ModelStep["calls"] = []): ModelStep => ({
    text,
    calls,
    usage: { inputTokens: 1, outputTokens: 1 },
    model: "test/scripted",
  });
  if (last?.role !== "user") return said("It waits for approval.");
  if (last.text.startsWith("The proposed change")) return said("Noted.");
  if (last.text.startsWith("ask")) {
    const options = ["red", "blue"].map((value) => ({ label: value, value }));
    return said("", [call("ask", { text: "Which one?", options })]);
  }
  const tool = Object.keys(TOOLS).find((name) => last.text === TOOLS[name as keyof typeof TOOLS].asked);
  return tool ? said("I propose:", [call(tool, { order: 7, note: last.text })]) : said("Done.");
}

/** The agent's tools; `asked`: the words at which the model calls one. */
export const TOOLS = {
  attach: { asked: "attach a note", verifies: false, applyTimeoutMs: 20_000 },
  // The target never answers the first time, and every run waits for that.
  attach_slow: { asked: "attach a note, slowly", verifies: false, applyTimeoutMs: 100 },
  attach_verified: { asked: "attach a note, verified", verifies: true, applyTimeoutMs: 20_000 },
} as const;

const rule = (applyTimeoutMs: number): ApprovalRule => ({ ...DEFAULT_APPROVALS, applyTimeoutMs });

export const DEPLOYMENT: Deployment = {
  id: "dpl_faults",
  files: [],
  manifest: {
    version: 1,
    project: "faults",
    approvals: {
      ...DEFAULT_APPROVALS,
      tools: Object.fromEntries(Object.entries(TOOLS).map(([name, tool]) => [name, rule(tool.applyTimeoutMs)])),
    },
    warnings: [],
    variables: [],
    agents: [
      {
        id: "support",
        module: "agents/support/agent.js",
        connections: [],
        secrets: [],
        builtins: ["ask"],
        tools: Object.keys(TOOLS).map((name) => ({
          name,
          kind: "approval",
          result: false,
          digest: "d".repeat(64),
          declaredAt: `agents/support/tools/${name}.ts:1`,
        })),
      },
    ],
  },
};
