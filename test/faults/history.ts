import type { Db } from "../../src/core/db/pool.ts";
import type { DecisionStatus } from "../../src/core/domain/decision.ts";
import type { DeliveryStatus } from "../../src/core/domain/delivery.ts";
import type { EventData, EventType } from "../../src/core/domain/event.ts";
import type { AgentInput } from "../../src/core/domain/input.ts";
import type { ApprovalRule } from "../../src/core/domain/manifest.ts";
import type { Conversation, DecisionVerb, OutboundMessage, Person } from "../../src/core/domain/message.ts";
import type { QuestionStatus } from "../../src/core/domain/question.ts";
import type { SessionStatus } from "../../src/core/domain/session.ts";
import type { TurnStatus } from "../../src/core/domain/turn.ts";
import type { EffectCall } from "./effectLedger.ts";

/** Everything a checker looks at: what the database says, what the world outside saw, what people did and see. */
export interface History {
  readonly stored: Stored;
  /** The effect ledger's log. */
  readonly effects: readonly EffectCall[];
  /** What the chat holds, in the order it was posted. */
  readonly chat: readonly Posted[];
  readonly said: readonly Said[];
}

/** One message on the platform as it stands now. */
export interface Posted {
  readonly ref: string;
  readonly deliveryId: string;
  readonly message: OutboundMessage;
}

/** One thing a person did. Not `acknowledged`: nobody told them that it was taken in, so it may have been or not. */
export type Said =
  | { readonly kind: "post"; readonly text: string; readonly acknowledged: boolean }
  | {
      readonly kind: "decide";
      readonly decisionId: string;
      readonly verb: DecisionVerb;
      readonly by: Person;
      readonly acknowledged: boolean;
    };

/** The rows, as far as the invariants speak of them. Times are ISO 8601; seqs, fences and attempts count from 1. */
export interface Stored {
  readonly sessions: readonly {
    id: string;
    status: SessionStatus;
    last_seq: number;
    conversation: Conversation | null;
  }[];
  /** In the order of their seq, session by session. */
  readonly events: readonly {
    session_id: string;
    seq: number;
    turn_id: string | null;
    type: EventType;
    data: EventData;
  }[];
  readonly turns: readonly {
    id: string;
    session_id: string;
    status: TurnStatus;
    source: AgentInput["source"];
    input: AgentInput;
  }[];
  readonly questions: readonly {
    id: string;
    session_id: string;
    status: QuestionStatus;
    delivery_id: string | null;
  }[];
  readonly decisions: readonly {
    id: string;
    session_id: string;
    status: DecisionStatus;
    person: Person | null;
    rule: ApprovalRule;
    input_digest: string;
    card_digest: string;
    delivery_id: string | null;
    decided_at: string | null;
    decided_by: Person | null;
    again_by: Person | null;
    attempt: number;
  }[];
  readonly attempts: readonly {
    decision_id: string;
    attempt: number;
    fence: number;
    authorised_by: Person | null;
    started_at: string;
    outcome: "applied" | "failed" | "unconfirmed" | null;
  }[];
  readonly deliveries: readonly {
    id: string;
    status: DeliveryStatus;
    edits: string | null;
    ref: string | null;
    error_code: string | null;
  }[];
}

const rows = (select: string) => `(select coalesce(json_agg(x), '[]') from (${select}) x)`;

/** One round trip, one snapshot. */
const STORED = `select json_build_object(
  'sessions', ${rows("select id, status, last_seq, conversation from sessions order by id")},
  'events', ${rows("select session_id, seq, turn_id, type, data from events order by session_id, seq")},
  'turns', ${rows("select id, session_id, status, source, input from turns order by session_id, position")},
  'questions', ${rows("select id, session_id, status, delivery_id from questions order by id")},
  'decisions', ${rows(`select id, session_id, status, person, rule, input_digest, card_digest, delivery_id, decided_at,
    decided_by, again_by, attempt from decisions order by id`)},
  'attempts', ${rows(`select decision_id, attempt, fence, authorised_by, started_at, outcome from decision_attempts
    order by decision_id, attempt`)},
  'deliveries', ${rows("select id, status, edits, ref, error_code from deliveries order by position")}
) as stored`;

/** Reads what the invariants speak of; for databases of a test's size. */
export async function readStored(db: Db): Promise<Stored> {
  const { rows: found } = await db.query<{ stored: Stored }>(STORED);
  if (!found[0]) throw new Error("the database answered nothing");
  return found[0].stored;
}
