import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { endSession } from "../../../src/core/flow/endSession.ts";
import { interrupt } from "../../../src/core/flow/interrupt.ts";
import { runTurns } from "../../../src/core/flow/runTurn.ts";
import { findSession } from "../../../src/core/store/sessions.ts";
import { createTestCore, newThread, post, type TestCore, waitUntil } from "../../helpers/core.ts";

describe("a turn whose worker shuts down", () => {
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(() => t.reset());
  afterAll(() => t.close());

  it.each([
    ["S3 whose session has ended", endSession, "ended"],
    ["S4 that was interrupted", interrupt, "idle"],
  ] as const)("%s is cancelled and not handed back: nobody would take it up", async (_, stop, status) => {
    const { sessionId } = (await t.receive(post(newThread(), "go"))) as { sessionId: string };
    t.wakes.lose();
    const leaving = t.anotherWorker();
    let answer = () => {};
    t.runtime.tools.set("lookup_order", {
      run: () => new Promise((resolve) => (answer = () => resolve("done"))),
    });
    t.model.script({ calls: [{ tool: "lookup_order", input: {} }] });
    const running = runTurns(leaving, sessionId);
    await waitUntil(() => t.runtime.invokes.length === 1, "the call");
    // It learns of its own end first, and of the person's wish not at all.
    const closed = leaving.leases.close(60_000);
    await stop(t.core, sessionId);
    answer();
    await Promise.all([running, closed]);
    await t.drain();

    const { rows } = await t.core.pool.query<{ status: string }>("select status from turns");
    expect(rows).toEqual([{ status: "cancelled" }]);
    expect(await findSession(t.core.pool, sessionId)).toMatchObject({ status });
    expect((await t.eventsOf(sessionId)).filter((e) => e.type === "turn.cancelled")).toHaveLength(1);
    expect(t.model.requests).toHaveLength(1);
  });
});
