import type { Json } from "./json.ts";
import type { ApprovalRule } from "./manifest.ts";
import type { Person, Preview } from "./message.ts";

/**
 * One proposed write and what became of it (A4).
 *
 *     pending ──approve──▶ approved ──start──▶ applying ──reportApplied──────▶ applied
 *        │                    │                   ├──────reportFailed────────▶ failed
 *        ├──reject──▶ rejected│                   └──reportUnconfirmed, lose──▶ unconfirmed
 *        └──expire──▶ expired └──refuse──▶ failed                              │  │  │
 *                                          applying ◀──────────────runAgain────┘  │  │
 *                                          applied ◀───────reportApplied, late────┘  │
 *                                          applied ◀───────verified──────────────────┘
 *
 * Once a decision was unconfirmed it is never failed: no later attempt can prove that the earlier one wrote nothing.
 */
export const DECISION_STATUSES = [
  "pending",
  "approved",
  "rejected",
  "expired",
  "applying",
  "applied",
  "failed",
  "unconfirmed",
] as const;

export type DecisionStatus = (typeof DECISION_STATUSES)[number];

export const DECISION_INPUTS = [
  /** A person said yes. */
  "approve",
  /** A person said no. */
  "reject",
  /** The time to decide ran out on the database's clock. */
  "expire",
  /** A worker commits that it is about to call `apply`. */
  "start",
  /** What would run no longer matches what was approved. */
  "refuse",
  /** The attempt's end: the tool returned. */
  "reportApplied",
  /** The attempt's end: nothing can have been written. */
  "reportFailed",
  /** The attempt's end: it may have been written. */
  "reportUnconfirmed",
  /** The worker that held the attempt stopped renewing its lease. */
  "lose",
  /** A named person authorises one more attempt. */
  "runAgain",
  /** The tool's `verify` proved the effect. */
  "verified",
] as const;

export type DecisionInput = (typeof DECISION_INPUTS)[number];

const TRANSITIONS: Record<DecisionStatus, Partial<Record<DecisionInput, DecisionStatus>>> = {
  pending: { approve: "approved", reject: "rejected", expire: "expired" },
  approved: { start: "applying", refuse: "failed" },
  rejected: {},
  expired: {},
  applying: {
    reportApplied: "applied",
    reportFailed: "failed",
    reportUnconfirmed: "unconfirmed",
    lose: "unconfirmed",
  },
  applied: {},
  failed: {},
  unconfirmed: { runAgain: "applying", reportApplied: "applied", verified: "applied" },
};

/** The state after `input`, or null where the state forbids it. */
export const stepDecision = (status: DecisionStatus, input: DecisionInput): DecisionStatus | null =>
  TRANSITIONS[status][input] ?? null;

/** Nothing moves it any more, not even a person. */
export const isFinal = (status: DecisionStatus): boolean => Object.keys(TRANSITIONS[status]).length === 0;

/**
 * What one attempt sent into the world, as the gateway and the runtime's own sockets saw it. `opaque` counts what
 * cannot be judged: raw sockets, processes started.
 */
export interface Traffic {
  readonly writes: readonly { readonly status: number | null }[];
  readonly opaque: number;
}

/** How an attempt ended: it returned, it threw (`notApplied`: the tool vouches that nothing was written), or it never answered. */
export type ApplyReport =
  | { readonly kind: "returned" }
  | { readonly kind: "threw"; readonly notApplied: boolean; readonly traffic: Traffic }
  | { readonly kind: "lost" };

export type ApplyOutcome = "reportApplied" | "reportFailed" | "reportUnconfirmed";

/**
 * What a report proves (A5): failed only when the attempt cannot have written, that is when the tool says so, when it
 * sent nothing but reads, or when every write was answered 4xx; and only if no earlier attempt is in doubt.
 */
export function judgeApply(report: ApplyReport, earlierInDoubt: boolean): ApplyOutcome {
  switch (report.kind) {
    case "returned":
      return "reportApplied";
    case "lost":
      return "reportUnconfirmed";
    case "threw": {
      if (earlierInDoubt) return "reportUnconfirmed";
      if (report.notApplied) return "reportFailed";
      const refused = report.traffic.writes.every((w) => w.status !== null && w.status >= 400 && w.status < 500);
      return report.traffic.opaque === 0 && refused ? "reportFailed" : "reportUnconfirmed";
    }
  }
}

const MINUTE_MS = 60_000;
/** A target is away for minutes, or shows a write late; after a day nothing that is asked again is news. */
const LOOK_AGAIN_MS = [1, 5, 30, 180, 1_440].map((minutes) => minutes * MINUTE_MS);

/** How long after its look number `looks` (from 1) `verify` looks at an unconfirmed write again; null: no more. */
export const lookAgainMs = (looks: number): number | null => LOOK_AGAIN_MS[looks - 1] ?? null;

/** What a `Response` is read into (T5), with a status outside 200-299: an apply that returned it did not succeed. */
export function isRefusedResponse(value: Json): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { ok, status, body } = value as { readonly [key: string]: Json };
  return ok === false && typeof status === "number" && body !== undefined && Object.keys(value).length === 3;
}

/** An entry of the decision record: its place in the chain, and its SHA-256. */
export interface RecordPlace {
  readonly seq: number;
  readonly hash: string;
}

/** One proposed write as it is stored. Digests are 64 hex digits (SHA-256). */
export interface Decision {
  readonly id: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string;
  readonly messageId: string;
  readonly agentId: string;
  readonly deploymentId: string;
  readonly tool: string;
  readonly toolDigest: string;
  /** The exact JSON text of the arguments. */
  readonly input: string;
  readonly inputDigest: string;
  readonly preview: Preview;
  readonly cardDigest: string;
  /** Whose message the agent answered. */
  readonly person: Person | null;
  readonly rule: ApprovalRule;
  readonly deliveryId: string | null;
  readonly status: DecisionStatus;
  readonly expiresAt: string | null;
  readonly decidedAt: string | null;
  readonly decidedBy: Person | null;
  readonly reason: string | null;
  readonly attempt: number;
  readonly errorCode: string | null;
  readonly result: Json;
  /** What the tool's `verify` said of an unconfirmed write, for whoever thinks of running it again. */
  readonly verifyNote: string | null;
  /** How often it has looked since the last attempt. */
  readonly verifyLooks: number;
  /** Its newest entry in the decision record; null until its card was delivered. */
  readonly record: RecordPlace | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}
