import { describe, expect, test } from "vitest";
import { digest } from "../../src/core/digest.ts";
import type { Conversation, OutboundMessage, Person } from "../../src/core/domain/message.ts";
import type { EffectCall } from "./effectLedger.ts";
import type { History, Posted, Said } from "./history.ts";
import { check, INVARIANTS, type Invariant } from "./invariants.ts";

/** A checker that cannot fail proves nothing: one good history, and for every invariant the ways it can be broken. */

const ANA: Person = { provider: "slack", workspaceId: "T1", userId: "U_ANA" };
const THREAD: Conversation = {
  provider: "slack",
  connectionId: "slack:T1",
  workspaceId: "T1",
  conversationId: "C1:1",
};
const ARGS = '{"order":7}';

type Mutable<T> = T extends readonly (infer E)[]
  ? Mutable<E>[]
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T;
type Broken = Mutable<History>;
type Type = History["stored"]["events"][number]["type"];

/** A post, a proposal, two clicks on Approve, the effect, and the outcome told. */
function good(): Broken {
  let seq = 0;
  const event = (type: Type, turn: string | null, data: object = {}) => ({
    session_id: "ses_1",
    seq: ++seq,
    turn_id: turn,
    type,
    data: data as Broken["stored"]["events"][number]["data"],
  });
  const card = {
    decisionId: "dec_1",
    tool: "attach",
    preview: { title: "Attach", facts: [] },
    input: ARGS,
    inputDigest: digest(ARGS),
    cardDigest: "c".repeat(64),
    status: "applied",
  } as const;
  const posted = (deliveryId: string, message: OutboundMessage): Posted => ({
    ref: `at-${deliveryId}`,
    deliveryId,
    message,
  });
  const delivery = (id: string, edits: string | null = null) => ({
    id,
    status: "sent" as const,
    edits,
    ref: `at-${edits ?? id}`,
    error_code: null,
  });
  const approve = (acknowledged: boolean): Said => ({
    kind: "decide",
    decisionId: "dec_1",
    verb: "approve",
    by: ANA,
    acknowledged,
  });
  const effect: EffectCall = {
    n: 1,
    key: "dec_1",
    attempt: "3",
    path: "/orders",
    args: ARGS,
    at: 0,
    outcome: "committed",
    fault: null,
  };
  const history: History = {
    stored: {
      sessions: [{ id: "ses_1", status: "idle", last_seq: 15, conversation: THREAD }],
      events: [
        event("session.created", null),
        event("message.received", "trn_1"),
        event("turn.started", "trn_1"),
        event("message.completed", "trn_1", { calls: [{ callId: "call_1" }] }),
        event("tool.completed", "trn_1", { callId: "call_1" }),
        event("approval.proposed", "trn_1", { decisionId: "dec_1" }),
        event("message.completed", "trn_1", {}),
        event("turn.completed", "trn_1"),
        event("approval.approved", "trn_1", { decisionId: "dec_1" }),
        event("approval.applying", "trn_1", { decisionId: "dec_1" }),
        event("approval.applied", "trn_1", { decisionId: "dec_1" }),
        event("message.received", "trn_2"),
        event("turn.started", "trn_2"),
        event("message.completed", "trn_2", {}),
        event("turn.completed", "trn_2"),
      ],
      turns: [
        {
          id: "trn_1",
          session_id: "ses_1",
          status: "completed",
          source: "channel",
          input: { source: "channel", text: "attach a note" },
        },
        {
          id: "trn_2",
          session_id: "ses_1",
          status: "completed",
          source: "system",
          input: { source: "system", text: "applied", payload: { decisionId: "dec_1", outcome: "applied" } },
        },
      ],
      questions: [],
      decisions: [
        {
          id: "dec_1",
          session_id: "ses_1",
          status: "applied",
          person: ANA,
          rule: { deciders: "requester", requesterMayDecide: true, expiresAfterMs: 1, applyTimeoutMs: 1 },
          input_digest: digest(ARGS),
          card_digest: card.cardDigest,
          delivery_id: "card",
          decided_at: "2026-01-01T00:00:01Z",
          decided_by: ANA,
          again_by: null,
          attempt: 1,
        },
      ],
      attempts: [
        {
          decision_id: "dec_1",
          attempt: 1,
          fence: 3,
          authorised_by: ANA,
          started_at: "2026-01-01T00:00:02Z",
          outcome: "applied",
        },
      ],
      deliveries: [delivery("card"), delivery("words"), delivery("edit", "card")],
    },
    effects: [effect],
    chat: [posted("card", { kind: "card", card }), posted("words", { kind: "text", text: "Recorded." })],
    said: [{ kind: "post", text: "attach a note", acknowledged: true }, approve(true), approve(false)],
  };
  return structuredClone(history) as Broken;
}

/** The first of a list that has one. */
function first<T>(list: readonly T[]): T {
  const [one] = list;
  if (one === undefined) throw new Error("the list is empty");
  return one;
}

const decision = (h: Broken) => first(h.stored.decisions);
const effect = (h: Broken) => first(h.effects);
const drop = (h: Broken, type: Type) => {
  h.stored.events = h.stored.events
    .filter((event) => event.type !== type)
    .map((event, i) => ({ ...event, seq: i + 1 }));
  first(h.stored.sessions).last_seq = h.stored.events.length;
};
const append = (h: Broken, type: Type, turn: string, data: Broken["stored"]["events"][number]["data"] = {}) => {
  const seq = h.stored.events.length + 1;
  h.stored.events.push({ session_id: "ses_1", seq, turn_id: turn, type, data });
  first(h.stored.sessions).last_seq = seq;
};

const WAYS: readonly (readonly [Invariant, string, (history: Broken) => void])[] = [
  ["I1", "approved and rejected", (h) => append(h, "approval.rejected", "trn_1", { decisionId: "dec_1" })],
  ["I1", "approved twice", (h) => append(h, "approval.approved", "trn_1", { decisionId: "dec_1" })],
  ["I1", "applied by a row that the log never approved", (h) => drop(h, "approval.approved")],
  ["I1", "ended twice", (h) => append(h, "approval.failed", "trn_1", { decisionId: "dec_1" })],
  ["I2", "one attempt called twice", (h) => h.effects.push({ ...effect(h), n: 2, outcome: "replayed" })],
  [
    "I2",
    "a call before its start was committed",
    (h) => {
      effect(h).attempt = "99";
    },
  ],
  ["I2", "a call that no decision asked for", (h) => h.effects.push({ ...effect(h), n: 2, key: "dec_9" })],
  [
    "I3",
    "a second attempt that nobody asked for",
    (h) => h.stored.attempts.push({ ...first(h.stored.attempts), attempt: 2, fence: 4 }),
  ],
  [
    "I3",
    "an attempt that nobody authorised",
    (h) => {
      first(h.stored.attempts).authorised_by = null;
    },
  ],
  [
    "I4",
    "approved by somebody who may not",
    (h) => {
      decision(h).decided_by = { ...ANA, userId: "U_BEN" };
    },
  ],
  [
    "I4",
    "approved by somebody who only posted",
    (h) => {
      h.said = h.said.filter((word) => word.kind === "post");
    },
  ],
  [
    "I4",
    "started before it was decided",
    (h) => {
      first(h.stored.attempts).started_at = "2026-01-01T00:00:00Z";
    },
  ],
  [
    "I5",
    "other arguments arrived",
    (h) => {
      effect(h).args = '{"order": 7}';
    },
  ],
  [
    "I5",
    "the card showed others",
    (h) => {
      const { message } = first(h.chat);
      if (message.kind === "card") message.card.input = '{"order":8}';
    },
  ],
  [
    "I6",
    "applied, and nothing was done",
    (h) => {
      h.effects = [];
    },
  ],
  [
    "I6",
    "refused by the target, and called applied",
    (h) => {
      effect(h).outcome = "refused";
    },
  ],
  [
    "I6",
    "rejected, and done",
    (h) => {
      decision(h).status = "rejected";
    },
  ],
  [
    "I7",
    "failed, and done",
    (h) => {
      decision(h).status = "failed";
    },
  ],
  [
    "I8",
    "an approval that never started",
    (h) => {
      decision(h).status = "approved";
    },
  ],
  [
    "I8",
    "a run again that never started",
    (h) => {
      decision(h).again_by = ANA;
    },
  ],
  [
    "I8",
    "a message that still waits",
    (h) => {
      first(h.stored.deliveries).status = "unknown";
    },
  ],
  [
    "I8",
    "a turn that still waits",
    (h) => {
      first(h.stored.turns).status = "queued";
    },
  ],
  [
    "I9",
    "a gap in the log",
    (h) => {
      h.stored.events.splice(4, 1);
    },
  ],
  [
    "I9",
    "a log shorter than it says",
    (h) => {
      h.stored.events.pop();
    },
  ],
  ["I10", "a call without a result", (h) => drop(h, "tool.completed")],
  ["I10", "a call with two", (h) => append(h, "tool.failed", "trn_1", { callId: "call_1" })],
  ["G3", "a post that is two turns", (h) => h.stored.turns.push({ ...first(h.stored.turns), id: "trn_3" })],
  [
    "G3",
    "a post that was acknowledged and lost",
    (h) => {
      h.stored.turns.shift();
    },
  ],
  ["G5", "a delivery that is two messages", (h) => h.chat.push({ ...first(h.chat), ref: "elsewhere" })],
  [
    "G5",
    "a delivery that is said to be sent and is not there",
    (h) => {
      h.chat.pop();
    },
  ],
  [
    "A9",
    "a card that still asks",
    (h) => {
      const { message } = first(h.chat);
      if (message.kind === "card") message.card.status = "pending";
    },
  ],
  [
    "A9",
    "an outcome nobody was told",
    (h) => {
      h.stored.turns.pop();
    },
  ],
  [
    "A9",
    "an outcome told twice",
    (h) => h.stored.turns.push({ ...(h.stored.turns[1] ?? first(h.stored.turns)), id: "trn_3" }),
  ],
  ["S6", "a turn that ended twice", (h) => append(h, "turn.failed", "trn_1")],
  ["S6", "a turn whose end is not in the log", (h) => drop(h, "turn.completed")],
];

describe("the checker", () => {
  test("finds nothing wrong with a good history", () => {
    expect(check(good())).toEqual([]);
  });

  test.each(WAYS)("%s: %s", (invariant, _how, breakIt) => {
    const history = good();
    breakIt(history);
    expect(check(history).map((violation) => violation.invariant)).toContain(invariant);
  });

  test("every invariant is broken by something here", () => {
    expect([...new Set(WAYS.map(([invariant]) => invariant))].sort()).toEqual([...INVARIANTS].sort());
  });
});
