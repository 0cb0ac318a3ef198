import type { Conversation, OutboundMessage } from "./message.ts";

/**
 *     queued ──claim──▶ sending ──accepted──▶ sent
 *       ▲                  ├────refused─────▶ queued (later) | dead
 *       │                  └──lost, lease───▶ unknown ──looked, there──▶ sent
 *       └────────────looked, not there───────────┘└──looked too often──▶ dead
 *
 * What may have been posted is looked up on the platform before anything is posted again (G5).
 */
export const DELIVERY_STATUSES = ["queued", "sending", "sent", "unknown", "dead"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export const DELIVERY_INPUTS = ["claim", "accepted", "refused", "dropped", "lost", "found", "absent"] as const;
export type DeliveryInput = (typeof DELIVERY_INPUTS)[number];

const TRANSITIONS: Record<DeliveryStatus, Partial<Record<DeliveryInput, DeliveryStatus>>> = {
  queued: { claim: "sending" },
  sending: { accepted: "sent", refused: "queued", dropped: "dead", lost: "unknown" },
  sent: {},
  unknown: { found: "sent", absent: "queued", dropped: "dead" },
  dead: {},
};

/** The state after `input`, or null where the state forbids it. */
export const stepDelivery = (status: DeliveryStatus, input: DeliveryInput): DeliveryStatus | null =>
  TRANSITIONS[status][input] ?? null;

/** Refused, or looked up in vain, this often in a row: dead, and shown to operators. With backoff that is over an hour. */
export const MAX_DELIVERY_ATTEMPTS = 20;

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
  readonly fence: number;
  /** Where the edited message is; null while it was not sent or never will be. */
  readonly editRef: string | null;
}
