import type { FastifyPluginAsync } from "fastify";
import type { InboundEvent } from "../core/domain/message.ts";
import type { ChatSender, Directory } from "../core/ports.ts";

/**
 * Stores what a platform told us. It resolves after the commit: only then is the platform answered; a rejection is
 * answered so that the platform sends the same thing again (G2).
 */
export type OnInbound = (events: readonly InboundEvent[]) => Promise<void>;

/** One platform as the gateway sees it: what comes in, what goes out, and the routes it listens on. */
export interface ChatAdapter {
  /** The installation, e.g. `slack:T1`: the `connectionId` of every conversation it parses. */
  readonly connectionId: string;
  /** Pure and total: the webhook's decoded body in, our words out; what starts nothing is `ignored`, with its reason. */
  readonly parse: (payload: unknown) => InboundEvent[];
  readonly sender: ChatSender;
  readonly directory: Directory;
  /** Registers the adapter's routes; encapsulated, so its raw-body parsing stays its own. */
  readonly plugin: FastifyPluginAsync;
}
