import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { insertResult } from "../../../src/core/store/results.ts";
import { claimNextTurn } from "../../../src/core/store/turns.ts";
import { createSetting, newSession, newTurn, type Setting } from "./setting.ts";

let setting: Setting;
let sessionId: string;
let turnId: string;

beforeAll(async () => {
  setting = await createSetting();
  sessionId = await newSession(setting);
  turnId = await newTurn(setting, sessionId);
  const claimed = await claimNextTurn(setting.core.pool, sessionId, 60_000);
  const heldBy = { turnId, fence: claimed?.fence ?? 0 };
  for (const n of [1, 2]) {
    const data = JSON.stringify({ n });
    await insertResult(setting.core.pool, {
      id: `res_${n}`,
      sessionId,
      callId: `call_${n}`,
      heldBy,
      data,
      digest: data,
    });
  }
});
afterAll(() => setting.close());

describe("results", () => {
  const record = (n: number) => ({
    id: `res_${n}`,
    sessionId,
    turnId,
    callId: `call_${n}`,
    reportedAt: expect.stringMatching(/Z$/),
    data: { n },
  });

  it("T9 are listed newest first, by session and by turn, in pages", async () => {
    const { body } = await setting.get(`/sessions/${sessionId}/results?limit=1`);
    expect(body).toEqual({ results: [record(2)], nextCursor: expect.any(String) });
    const next = await setting.get(`/sessions/${sessionId}/results?cursor=${body.nextCursor}`);
    expect(next.body).toEqual({ results: [record(1)], nextCursor: null });
    const ofTurn = await setting.get(`/sessions/${sessionId}/turns/${turnId}/results`);
    expect(ofTurn.body).toEqual({ results: [record(2), record(1)], nextCursor: null });
  });

  it("T6 the newest stands on the session, each under its own address", async () => {
    const { id: _id, sessionId: _session, ...newest } = record(2);
    expect((await setting.get(`/sessions/${sessionId}`)).body).toMatchObject({ result: newest });
    expect((await setting.get(`/sessions/${sessionId}/results/res_1`)).body).toEqual(record(1));
  });

  it.each([
    "/sessions/ses_none/results",
    "/sessions/SESSION/turns/trn_none/results",
    "/sessions/SESSION/results/res_none",
    "/sessions/ses_none/results/res_1",
  ])("answers 404 for %s", async (path) => {
    const { status, body } = await setting.get(path.replace("SESSION", sessionId));
    expect([status, body.error.code]).toEqual([404, "not_found"]);
  });
});
