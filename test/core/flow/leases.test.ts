import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLeases, type Leases, stopReason } from "../../../src/core/flow/leases.ts";
import { requeueLostTurn } from "../../../src/core/store/turns.ts";
import { createTestDatabase, type TestDatabase, waitUntil } from "../../helpers/database.ts";
import { recordingLog, silentLog } from "../../helpers/log.ts";
import { FENCE, insertTurnRow } from "../store/rows.ts";

describe("leases", () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.drop());

  const make = (beatMs = 2 ** 31 - 1, log = silentLog): Leases =>
    createLeases({ pool: db.pool, log }, { leaseMs: 60_000, beatMs });
  /** Work that ends when it is told to, and says why it was stopped. */
  const stopped = (signal: AbortSignal) =>
    new Promise<ReturnType<typeof stopReason>>((resolve) => {
      signal.addEventListener("abort", () => resolve(stopReason(signal)));
    });

  it("are renewed by the timer for as long as the work runs", async () => {
    const id = await insertTurnRow(db.pool, "running");
    const leases = make(10);
    let done = () => {};
    const held = leases.hold("turn", { id, fence: FENCE }, () => new Promise<void>((resolve) => (done = resolve)));
    const left = async () =>
      (
        await db.pool.query<{ ahead: boolean }>(
          "select lease_until > countersign_now() as ahead from turns where id = $1",
          [id],
        )
      ).rows[0]?.ahead;
    await waitUntil(async () => (await left()) === true, "a renewal");
    done();
    await held;
    await leases.close(0);
  });

  it("stop work that somebody else took, and not the one next to it", async () => {
    const [lost, kept] = [await insertTurnRow(db.pool, "running"), await insertTurnRow(db.pool, "running")];
    await requeueLostTurn(db.pool, lost);
    await db.pool.query("update turns set fence = $2 where id = $1", [kept, FENCE + 1]);
    const leases = make();
    const first = leases.hold("turn", { id: lost, fence: FENCE }, stopped);
    let signal: AbortSignal | null = null;
    let done = () => {};
    const second = leases.hold("turn", { id: kept, fence: FENCE + 1 }, (s) => {
      signal = s;
      return new Promise<void>((resolve) => (done = resolve));
    });
    await leases.beat();
    expect(await first).toBe("lost");
    expect(signal).toMatchObject({ aborted: false });
    done();
    await second;
    await leases.close(0);
  });

  it("S4 stop work that was asked to stop", async () => {
    const id = await insertTurnRow(db.pool, "running");
    await db.pool.query("update turns set cancel_requested = true where id = $1", [id]);
    const leases = make();
    const held = leases.hold("turn", { id, fence: FENCE }, stopped);
    await leases.beat();
    expect(await held).toBe("cancelled");
    await leases.close(0);
  });

  it("wait at the end for what runs: turns are stopped once the grace is over, an apply never", async () => {
    const leases = make();
    const turn = leases.hold("turn", { id: "trn", fence: 1 }, stopped);
    let settled = false;
    let answer = () => {};
    const attempt = leases.hold("attempt", { id: "dec", fence: 2 }, async (signal) => {
      await new Promise<void>((resolve) => (answer = resolve));
      settled = true;
      return signal.aborted;
    });
    expect(leases.closing()).toBe(false);
    const closed = leases.close(1);
    expect(leases.closing()).toBe(true);
    expect(await turn).toBe("closing");
    expect(settled).toBe(false);
    answer();
    expect(await attempt).toBe(false);
    await closed;
  });

  it("go on being renewed at the end until the handlers that run have ended, which may still come to hold", async () => {
    const id = await insertTurnRow(db.pool, "running");
    const leases = make(10);
    let ended = () => {};
    const handlers = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const closed = leases.close(60_000, handlers);
    let done = () => {};
    const held = leases.hold("turn", { id, fence: FENCE }, () => new Promise<void>((resolve) => (done = resolve)));
    const ahead = "select lease_until > countersign_now() as ahead from turns where id = $1";
    await waitUntil(
      async () => (await db.pool.query<{ ahead: boolean }>(ahead, [id])).rows[0]?.ahead === true,
      "a renewal",
    );
    ended();
    done();
    await Promise.all([held, closed]);
  });

  it("survive a beat without a database, and give back what the work throws", async () => {
    const log = recordingLog();
    const gone = await createTestDatabase();
    const leases = createLeases({ pool: gone.pool, log }, { leaseMs: 60_000, beatMs: 2 ** 31 - 1 });
    let fail = (_: Error) => {};
    const held = leases.hold("turn", { id: "trn", fence: 1 }, () => new Promise((_, reject) => (fail = reject)));
    await gone.drop();
    await leases.beat();
    expect(log.lines).toMatchObject([{ level: "warn", message: "leases could not be renewed" }]);
    const reason = new Error("the work");
    fail(reason);
    await expect(held).rejects.toBe(reason);
    await leases.close(0);
  });
});
