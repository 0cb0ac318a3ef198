import type { Conversation, OutboundMessage } from "./message.ts";

/**
 *     queued ──claim──▶ sending ──accepted──▶ sent
 *       ▲                  ├────refused─────▶ queued (later) | dead
 *       │                  └──lost, lease───▶ unknown ──looked, there──▶ sent
 *       └────────────looked, not there───────────┘└──looked too often──▶ dead
 *       └────────────offered again, the card of a pending decision───────┘ (as unknown, where that is what it died of)
 *
 * What may have been posted is looked up on the platform before anything is posted again (G5).
 */
export const DELIVERY_STATUSES = ["queued", "sending", "sent", "unknown", "dead"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export const DELIVERY_INPUTS = [
  "claim",
  "accepted",
  "refused",
  "dropped",
  "lost",
  "found",
  "absent",
  "offerAgain",
  "lookAgain",
] as const;
export type DeliveryInput = (typeof DELIVERY_INPUTS)[number];

const TRANSITIONS: Record<DeliveryStatus, Partial<Record<DeliveryInput, DeliveryStatus>>> = {
  queued: { claim: "sending" },
  sending: { accepted: "sent", refused: "queued", dropped: "dead", lost: "unknown" },
  sent: {},
  unknown: { found: "sent", absent: "queued", dropped: "dead" },
  dead: { offerAgain: "queued", lookAgain: "unknown" },
};

/** The state after `input`, or null where the state forbids it. */
export const stepDelivery = (status: DeliveryStatus, input: DeliveryInput): DeliveryStatus | null =>
  TRANSITIONS[status][input] ?? null;

/** Why a delivery is dead that may be on the screen all the same: whoever takes it up again looks first (G5). */
export const OUTCOME_UNKNOWN = "outcome_unknown";

/** Looked up in vain this often: dead, and shown to operators. With backoff that is over an hour. */
export const MAX_LOOK_UPS = 20;

const MINUTE_MS = 60_000;

/**
 * Refused for now for this long: dead. A day is what an operator gets to mend a scope or a token, and the order of its
 * session waits with it; a private note answers a click, and means nothing a quarter of an hour later.
 */
export const patienceMs = (message: OutboundMessage): number =>
  message.kind === "notice" ? 15 * MINUTE_MS : 24 * 60 * MINUTE_MS;

/** What a platform asks for may be a mistake; asking it once more than it likes costs one refused call. */
const MAX_RETRY_AFTER_MS = 15 * MINUTE_MS;

/** As long as the platform asks for; `otherwise` where it asks for no time, or for one that is none. */
export const retryAfterMs = (asked: number | undefined, otherwise: number): number =>
  asked !== undefined && asked > 0 ? Math.min(asked, MAX_RETRY_AFTER_MS) : otherwise;

/** A card that reached nobody is offered again this long after it was given up, for as long as it asks (A11). */
export const OFFER_AGAIN_MS = 60 * MINUTE_MS;

/** Who goes first of those that wait for one limit to end, 0 before 1: answers and questions, then cards. */
export const priorityOf = (message: OutboundMessage): number => (message.kind === "card" ? 1 : 0);

export interface NewDelivery {
  readonly id: string;
  /** Deliveries of one lane go out in order: the session's id, or the delivery's own for a private note. */
  readonly lane: string;
  readonly sessionId: string | null;
  readonly decisionId: string | null;
  readonly conversation: Conversation;
  readonly message: OutboundMessage;
  /** The delivery whose message this one replaces. */
  readonly edits: string | null;
}

export interface ClaimedDelivery extends NewDelivery {
  /** What it was before the claim: `unknown` must be looked up before it is sent. */
  readonly was: "queued" | "unknown";
  readonly attempt: number;
  /** Milliseconds since it was queued. */
  readonly ageMs: number;
  readonly fence: number;
  /** Where the edited message is. Null: it was not sent as the claim began, which may have waited for that very moment. */
  readonly editRef: string | null;
}
