import type { ErrorCode } from "./errors.ts";
import type { AgentInput } from "./input.ts";
import type { Person } from "./message.ts";

/**
 *     queued ──claim──▶ running ──complete──▶ completed (outcome: text | question)
 *       ▲ │                │ ├────fail──────▶ failed
 *       │ ├────cancel──────┼─┴───cancel─────▶ cancelled
 *       │ └────fail (given up)──────────────▶ failed
 *       └──lose (lease)────┘
 */
export const TURN_STATUSES = ["queued", "running", "completed", "failed", "cancelled"] as const;
export type TurnStatus = (typeof TURN_STATUSES)[number];

export const TURN_INPUTS = ["claim", "complete", "fail", "cancel", "lose"] as const;
export type TurnInput = (typeof TURN_INPUTS)[number];

const TRANSITIONS: Record<TurnStatus, Partial<Record<TurnInput, TurnStatus>>> = {
  queued: { claim: "running", cancel: "cancelled", fail: "failed" },
  running: { complete: "completed", fail: "failed", cancel: "cancelled", lose: "queued" },
  completed: {},
  failed: {},
  cancelled: {},
};

/** The state after `input`, or null where the state forbids it. */
export const stepTurn = (status: TurnStatus, input: TurnInput): TurnStatus | null => TRANSITIONS[status][input] ?? null;

export type TurnMode = "queue" | "steer" | "interrupt";

export interface Turn {
  readonly id: string;
  readonly sessionId: string;
  readonly position: number;
  readonly status: TurnStatus;
  readonly outcome: "text" | "question" | null;
  readonly mode: TurnMode;
  readonly input: AgentInput;
  /** Whose message the agent answers; decides by default (A7). Null: nobody. */
  readonly person: Person | null;
  readonly idempotencyKey: string | null;
  readonly errorCode: ErrorCode | null;
  readonly createdAt: string;
  readonly settledAt: string | null;
}

/** A running turn as its worker holds it. */
export interface ClaimedTurn extends Turn {
  readonly fence: number;
  /** 1 the first time; more after its worker was lost. A worker that hands it back does not count. */
  readonly attempt: number;
}

/** A turn whose worker was lost this often is given up: what it runs probably kills its worker. */
export const MAX_TURN_ATTEMPTS = 5;

/** More model steps than this in one turn is a loop. */
export const MAX_TURN_STEPS = 50;
