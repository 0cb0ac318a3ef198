import type { OnInbound } from "../adapters/adapter.ts";
import type { Core } from "../core/flow/core.ts";
import { receiveInbound } from "../core/flow/receiveInbound.ts";
import type { Wake } from "../core/ports.ts";

/** Stores what a platform told us, then rings. The platform's answer waits for the commit and for nothing behind it (G2). */
export const createReceive =
  (core: Core, ring: (wakes: readonly Wake[]) => Promise<void>): OnInbound =>
  async (events) => {
    for (const event of events) {
      const received = await receiveInbound(core, event);
      if (received.status !== "received")
        core.log.debug({ status: received.status, reason: received.reason }, "nothing to do");
      void ring(received.wakes);
    }
  };
