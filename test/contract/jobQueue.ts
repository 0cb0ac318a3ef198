import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type JobQueue, type Log, WAKE_KINDS, type Wake } from "../../src/core/ports.ts";
import { recordingLog } from "../helpers/log.ts";
import { waitUntil } from "../helpers/waitUntil.ts";

/** What every job queue does. `make` opens another end of one and the same queue, empty at the first call of a test. */
export function jobQueueContract(name: string, prepare: () => Promise<(log: Log) => Promise<JobQueue>>): void {
  describe(`job queue on ${name}`, () => {
    let make: () => Promise<JobQueue>;
    let log: ReturnType<typeof recordingLog>;
    let open: JobQueue[];

    beforeEach(async () => {
      log = recordingLog();
      open = [];
      const makeOn = await prepare();
      make = async () => {
        const queue = await makeOn(log);
        open.push(queue);
        return queue;
      };
    });
    afterEach(async () => {
      await Promise.all(open.map((queue) => queue.close()));
    });

    const turns = (count: number): Wake[] =>
      Array.from({ length: count }, (_, index) => ({ kind: "turn", id: `ses_${index}` }));

    /** A handler that holds every wake until `letGo`. */
    function holding() {
      const held: string[] = [];
      let letGo: () => void = () => {};
      const gone = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const handler = async (id: string) => {
        held.push(id);
        await gone;
      };
      return { held, handler, letGo };
    }

    it("calls the handler of its kind, with the id alone", async () => {
      const queue = await make();
      const rung: string[] = [];
      for (const kind of WAKE_KINDS) await queue.consume(kind, 2, async (id) => void rung.push(`${kind} ${id}`));
      await queue.wake(WAKE_KINDS.map((kind) => ({ kind, id: `${kind}:row 1` })));
      await waitUntil(() => rung.length === WAKE_KINDS.length, "one ring a kind");
      expect(rung.sort()).toEqual(WAKE_KINDS.map((kind) => `${kind} ${kind}:row 1`).sort());
    });

    it("takes an empty list", async () => {
      await (await make()).wake([]);
    });

    it("keeps what is rung before anybody listens", async () => {
      const queue = await make();
      await queue.wake(turns(3));
      const rung: string[] = [];
      await queue.consume("turn", 1, async (id) => void rung.push(id));
      await waitUntil(() => rung.length === 3, "three rings");
      expect(rung).toEqual(["ses_0", "ses_1", "ses_2"]);
    });

    it("rings again for a row that is being handled", async () => {
      const queue = await make();
      const { held, handler, letGo } = holding();
      await queue.consume("turn", 1, handler);
      await queue.wake([{ kind: "turn", id: "ses_1" }]);
      await waitUntil(() => held.length === 1, "the first ring");
      await queue.wake([{ kind: "turn", id: "ses_1" }]);
      letGo();
      await waitUntil(() => held.length === 2, "the second ring");
    });

    it("rings a delayed wake no earlier than asked", async () => {
      const queue = await make();
      let rungAt = 0;
      await queue.consume("turn", 1, async () => {
        rungAt = performance.now();
      });
      const askedAt = performance.now();
      await queue.wake([{ kind: "turn", id: "ses_1", delayMs: 300 }]);
      expect((await queue.counts()).turn).toEqual({ waiting: 0, active: 0, delayed: 1 });
      await waitUntil(() => rungAt > 0, "the ring");
      expect(rungAt - askedAt).toBeGreaterThanOrEqual(299);
    });

    it.each([
      ["at once", undefined],
      ["after the same delay", 40],
    ])("rings by priority what was rung %s and waits, 0 first", async (_, delayMs) => {
      const queue = await make();
      const wakes = [1, 0, 1, 0].map((priority, n) => ({ kind: "deliver" as const, id: `${priority}_${n}`, priority }));
      await queue.wake(wakes.map((wake) => ({ ...wake, ...(delayMs && { delayMs }) })));
      const due = performance.now() + (delayMs ?? 0);
      await waitUntil(() => performance.now() > due, "the delays to be over");
      const rung: string[] = [];
      await queue.consume("deliver", 1, async (id) => void rung.push(id));
      await waitUntil(() => rung.length === 4, "all of them");
      expect(rung.map((id) => id[0])).toEqual(["0", "0", "1", "1"]);
    });

    it("holds at most so many at once, and counts them", async () => {
      const queue = await make();
      const { held, handler, letGo } = holding();
      await queue.consume("turn", 2, handler);
      await queue.wake(turns(5));
      await waitUntil(() => held.length === 2, "two held");
      expect((await queue.counts()).turn).toEqual({ waiting: 3, active: 2, delayed: 0 });
      expect((await queue.counts()).deliver).toEqual({ waiting: 0, active: 0, delayed: 0 });
      expect(held).toHaveLength(2);
      letGo();
      await waitUntil(() => held.length === 5, "all five");
    });

    it("gives each wake to one of two processes", async () => {
      const [one, two] = [await make(), await make()];
      const rung: string[] = [];
      await one.consume("turn", 3, async (id) => void rung.push(id));
      await two.consume("turn", 3, async (id) => void rung.push(id));
      await one.wake(turns(40));
      await waitUntil(() => rung.length >= 40, "forty rings");
      await waitUntil(async () => (await one.counts()).turn.active === 0, "nothing active");
      expect(new Set(rung).size).toBe(40);
      expect(rung).toHaveLength(40);
    });

    it("logs a handler that throws, does not repeat it, and goes on", async () => {
      const queue = await make();
      const rung: string[] = [];
      await queue.consume("turn", 1, async (id) => {
        rung.push(id);
        if (id === "ses_0") throw new Error("broken");
      });
      await queue.wake(turns(2));
      await waitUntil(() => rung.length === 2, "both rings");
      await waitUntil(async () => (await queue.counts()).turn.active === 0, "nothing active");
      expect(rung).toEqual(["ses_0", "ses_1"]);
      expect(log.lines.filter((line) => line.level === "error")).toEqual([
        {
          level: "error",
          fields: { err: new Error("broken"), kind: "turn", id: "ses_0" },
          message: expect.any(String),
        },
      ]);
      expect((await queue.counts()).turn).toEqual({ waiting: 0, active: 0, delayed: 0 });
    });

    it("closes after the handlers that run, and leaves what waits to others", async () => {
      const queue = await make();
      const { held, handler, letGo } = holding();
      await queue.consume("turn", 1, handler);
      await queue.wake(turns(2));
      await waitUntil(() => held.length === 1, "one held");
      let closed = false;
      const closing = Promise.all([queue.close(), queue.close()]).then(() => {
        closed = true;
      });
      const other = await make();
      await other.ping();
      expect(closed).toBe(false);
      letGo();
      await closing;
      expect(held).toEqual(["ses_0"]);
      const rung: string[] = [];
      await other.consume("turn", 1, async (id) => void rung.push(id));
      await waitUntil(() => rung.length === 1, "the ring that was left");
      expect(rung).toEqual(["ses_1"]);
    });

    it("answers a ping", async () => {
      await (await make()).ping();
    });
  });
}
