import { App, type Receiver } from "@slack/bolt";
import type { Log } from "../../core/ports.ts";
import { createSlackLogger } from "./logger.ts";

/** Hands one decoded body through Bolt; resolves when `receive` has, and rejects with what `receive` threw. */
export type Dispatch = (body: Record<string, unknown>, retry: Retry) => Promise<void>;

export interface Retry {
  readonly num: number | undefined;
  readonly reason: string | undefined;
}

/**
 * Bolt with one global middleware that does one thing, and an `ack` that does nothing: Bolt acks events before any
 * listener runs (measured: a listener that throws is answered 200), so the HTTP answer is the receiver's own, made of
 * the promise returned here. Verification, ignoring ourselves and tokens are not Bolt's business either.
 *
 * Bodies that Bolt does not know, or chokes on (an event whose `item` is null), go to `receive` all the same: it is
 * total, and decides better what they are.
 */
export function createBoltDispatch(receive: (body: unknown) => Promise<void>, log: Log): Dispatch {
  const mount: Receiver = { init: () => {}, start: async () => {}, stop: async () => {} };
  const app = new App({
    receiver: mount,
    authorize: async () => ({}),
    ignoreSelf: false,
    convoStore: false,
    logger: createSlackLogger(log),
  });
  app.use(async ({ context }) => {
    const run: unknown = context["run"];
    if (typeof run === "function") await run();
  });

  return async (body, retry) => {
    let received: Promise<void> | undefined;
    const run = (): Promise<void> => {
      received ??= receive(body);
      return received;
    };
    try {
      await app.processEvent({
        body,
        ack: async () => {},
        customProperties: { run },
        ...(retry.num !== undefined && { retryNum: retry.num }),
        ...(retry.reason !== undefined && { retryReason: retry.reason }),
      });
    } catch (error) {
      if (!received) log.debug({ reason: String(error) }, "bolt could not read a payload");
    }
    await run();
  };
}
