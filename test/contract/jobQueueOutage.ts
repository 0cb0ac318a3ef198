import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isCode } from "../../src/core/domain/errors.ts";
import { type JobQueue, type Log, WAKE_KINDS } from "../../src/core/ports.ts";
import { silentLog } from "../helpers/log.ts";
import { createTcpProxy, type TcpProxy } from "../helpers/tcpProxy.ts";
import { waitUntil } from "../helpers/waitUntil.ts";

/** The longest any caller may be kept by a queue that is away, with room for a busy machine. */
const PROMPT_MS = 4_000;

/** What every job queue does while its backend is away. `make` opens it at `url`, a proxy in front of `serverUrl`. */
export function jobQueueOutageContract(
  name: string,
  serverUrl: () => string,
  make: (url: string, log: Log) => Promise<JobQueue>,
): void {
  describe(`job queue on ${name}, backend away`, () => {
    let proxy: TcpProxy;
    let queue: JobQueue | undefined;
    let url: string;

    beforeEach(async () => {
      const address = new URL(serverUrl());
      proxy = await createTcpProxy({ host: address.hostname, port: Number(address.port) });
      address.port = String(proxy.port);
      url = address.href;
    });
    afterEach(async () => {
      await queue?.close();
      queue = undefined;
      await proxy.close();
    });

    async function refuses(call: () => Promise<unknown>): Promise<void> {
      const from = performance.now();
      const error = await call().catch((reason: unknown) => reason);
      expect(isCode(error, "queue_unreachable"), String(error)).toBe(true);
      expect(performance.now() - from).toBeLessThan(PROMPT_MS);
    }

    it.each(["cut", "frozen"] as const)("fails promptly once the connection is %s", async (how) => {
      queue = await make(url, silentLog);
      const away = queue;
      await away.ping();
      if (how === "cut") await proxy.cut();
      else proxy.freeze();
      await Promise.all([
        refuses(() => away.wake([{ kind: "turn", id: "ses_1" }])),
        refuses(() => away.ping()),
        refuses(() => away.counts()),
      ]);
    });

    it("rings again once the backend is back", async () => {
      queue = await make(url, silentLog);
      const back = queue;
      const rung: string[] = [];
      await back.consume("turn", 1, async (id) => void rung.push(id));
      await back.wake([{ kind: "turn", id: "ses_before" }]);
      await waitUntil(() => rung.includes("ses_before"), "the ring before");
      await proxy.cut();
      await refuses(() => back.wake([{ kind: "turn", id: "ses_lost" }]));
      await proxy.mend();
      await waitUntil(
        () =>
          back.ping().then(
            () => true,
            () => false,
          ),
        "an answer to a ping",
      );
      await back.wake([{ kind: "turn", id: "ses_after" }]);
      await waitUntil(() => rung.includes("ses_after"), "the ring after", 20_000);
    });

    it("finds its way back from a backend that fell silent on every connection, and closed none", async () => {
      queue = await make(url, silentLog);
      const back = queue;
      const rung: string[] = [];
      await back.consume("turn", 1, async (id) => void rung.push(id));
      proxy.freeze();
      await refuses(() => back.wake([{ kind: "turn", id: "ses_lost" }]));
      await proxy.mend();
      await waitUntil(
        () =>
          back.wake([{ kind: "turn", id: "ses_after" }]).then(
            () => true,
            () => false,
          ),
        "the wake to be taken",
        30_000,
      );
      await waitUntil(() => rung.includes("ses_after"), "the ring after", 60_000);
    }, 120_000);

    it("leaves every kind with its doorbell when the first connection is slow", async () => {
      proxy.hold();
      const opening = make(url, silentLog);
      await waitUntil(() => proxy.waiting() > 0, "a connection on its way");
      proxy.letGo();
      queue = await opening;
      const slow = queue;
      const rung: string[] = [];
      proxy.hold();
      const consuming = WAKE_KINDS.map((kind) => slow.consume(kind, 1, async (id) => void rung.push(`${kind} ${id}`)));
      await waitUntil(() => proxy.waiting() > 0, "the workers' connections on their way");
      proxy.letGo();
      await Promise.all(consuming);
      await slow.wake(WAKE_KINDS.map((kind) => ({ kind, id: "row" })));
      await waitUntil(() => rung.length === WAKE_KINDS.length, "one ring a kind");
      expect(rung.sort()).toEqual(WAKE_KINDS.map((kind) => `${kind} row`).sort());
    });

    it("closes all the same, after the handlers that run", async () => {
      queue = await make(url, silentLog);
      let started = false;
      let ended = false;
      let letGo: () => void = () => {};
      await queue.consume("turn", 1, async () => {
        started = true;
        await new Promise<void>((resolve) => {
          letGo = resolve;
        });
        ended = true;
      });
      await queue.wake([{ kind: "turn", id: "ses_1" }]);
      await expect.poll(() => started).toBe(true);
      await proxy.cut();
      const closing = queue.close();
      letGo();
      await closing;
      expect(ended).toBe(true);
    });

    it("is not made when the backend cannot be reached", async () => {
      await proxy.cut();
      await refuses(() => make(url, silentLog));
    });
  });
}
