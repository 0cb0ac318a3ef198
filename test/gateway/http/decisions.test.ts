import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { finishAttempt, startAttempt } from "../../../src/core/store/attempts.ts";
import { type Body, createSetting, proposeSomething, type Setting } from "./setting.ts";

let setting: Setting;

beforeAll(async () => {
  setting = await createSetting();
});
afterAll(() => setting.close());

const ada = { provider: "api", workspaceId: "api", userId: "ada@example.org", name: "ada@example.org" };
const by = ada.name;

/** An approved decision whose attempt never reported back. */
async function unconfirmed() {
  const proposed = await proposeSomething(setting);
  await setting.post(`/decisions/${proposed.id}/approve`, { by });
  const attempt = await startAttempt(setting.core.pool, proposed.id, 60_000);
  if (!attempt) throw new Error("nothing to start");
  const end = { outcome: "unconfirmed", errorCode: "apply_unconfirmed", result: null } as const;
  await finishAttempt(setting.core.pool, proposed.id, attempt.fence, end);
  return proposed;
}

describe("GET /decisions", () => {
  it("shows a proposal with its exact arguments", async () => {
    const input = { order: "A-1", b: 1, a: [null, "\u0000\ud800"] };
    const { id, sessionId } = await proposeSomething(setting, input);
    const { status, body } = await setting.get(`/decisions/${id}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      id,
      status: "pending",
      tool: "attach",
      sessionId,
      callId: `call_${id}`,
      input,
      inputDigest: "i".repeat(64),
      preview: { title: "Attach the invoice", facts: [{ label: "Order", value: "A-1" }] },
      decidedBy: null,
      decidedAt: null,
      reason: null,
      record: null,
      expiresAt: null,
      result: null,
      createdAt: expect.any(String),
      attempts: [],
      card: { status: "waiting", code: null },
    });
    expect(JSON.stringify(body.input)).toBe(JSON.stringify(input));
  });

  it("lists newest first, by status and by session", async () => {
    const made = [await proposeSomething(setting), await proposeSomething(setting), await proposeSomething(setting)];
    const newest = made.map((d) => d.id).reverse();
    await setting.post(`/decisions/${newest[1]}/reject`, { by });
    const idsOf = ({ decisions }: Body) => decisions.map((d) => d.id);
    const page = await setting.get("/decisions?limit=1");
    expect(idsOf(page.body)).toEqual([newest[0]]);
    const next = await setting.get(`/decisions?limit=2&cursor=${page.body.nextCursor}`);
    expect(idsOf(next.body)).toEqual(newest.slice(1));
    const pending = await setting.get("/decisions?status=pending");
    expect(idsOf(pending.body).slice(0, 2)).toEqual([newest[0], newest[2]]);
    const ofSession = await setting.get(`/decisions?session=${made[0]?.sessionId}`);
    expect(ofSession.body).toMatchObject({ decisions: [{ id: made[0]?.id }], nextCursor: null });
  });
});

describe("POST /decisions/:id/approve", () => {
  it("A7 records the named person and rings for the apply", async () => {
    const { id } = await proposeSomething(setting);
    const before = setting.rung.length;
    const { status, body } = await setting.post(`/decisions/${id}/approve`, { by });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: "approved", decidedBy: ada, decidedAt: expect.any(String), attempts: [] });
    expect(setting.rung.slice(before)).toEqual([{ kind: "apply", id }]);
  });

  it("A4 lets one of many win, and tells the others who", async () => {
    const { id } = await proposeSomething(setting);
    const approve = (name: string) => setting.post(`/decisions/${id}/approve`, { by: name });
    const reject = (name: string) => setting.post(`/decisions/${id}/reject`, { by: name });
    const answers = await Promise.all([approve("ada"), reject("bob"), approve("cleo"), reject("dan")]);
    expect(answers.map((a) => a.status).sort()).toEqual([200, 409, 409, 409]);
    const winner = answers.find((a) => a.status === 200)?.body;
    for (const { body } of answers.filter((a) => a.status === 409)) {
      expect(body.error).toEqual({
        code: "decision_already_made",
        message: `Already decided by ${winner?.decidedBy?.name}: it is ${winner?.status}.`,
      });
    }
  });

  it("A4 is too late once the time is over", async () => {
    const { id, sessionId } = await proposeSomething(setting);
    await setting.core.pool.query(
      "update decisions set expires_at = countersign_now() - interval '1 second' where id = $1",
      [id],
    );
    const { status, body } = await setting.post(`/decisions/${id}/approve`, { by });
    expect([status, body.error.code]).toEqual([409, "decision_expired"]);
    expect((await setting.get(`/decisions/${id}`)).body.status).toBe("expired");
    // Its session is told at once, not when the sweeper comes by.
    expect(setting.rung.at(-1)).toEqual({ kind: "turn", id: sessionId });
  });
});

it("POST /decisions/:id/reject keeps the reason and tells the session", async () => {
  const { id, sessionId } = await proposeSomething(setting);
  const { status, body } = await setting.post(`/decisions/${id}/reject`, { by, reason: "wrong order" });
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: "rejected", decidedBy: ada, reason: "wrong order" });
  expect(setting.rung.at(-1)).toEqual({ kind: "turn", id: sessionId });
});

describe("POST /decisions/:id/run-again", () => {
  it("A5 authorises one more attempt of an unconfirmed write, once", async () => {
    const { id } = await unconfirmed();
    const first = await setting.post(`/decisions/${id}/run-again`, { by });
    const second = await setting.post(`/decisions/${id}/run-again`, { by: "bob" });
    expect([first.status, second.status]).toEqual([200, 409]);
    expect(first.body).toMatchObject({
      status: "unconfirmed",
      error: { code: "apply_unconfirmed", message: expect.any(String) },
      attempts: [{ attempt: 1, authorisedBy: ada, outcome: "unconfirmed", endedAt: expect.any(String) }],
    });
    expect(setting.rung.at(-1)).toEqual({ kind: "apply", id });
  });

  it("decides nothing that is pending", async () => {
    const { id } = await proposeSomething(setting);
    const { status, body } = await setting.post(`/decisions/${id}/run-again`, { by });
    expect([status, body.error.code]).toEqual([409, "decision_already_made"]);
    expect((await setting.get(`/decisions/${id}`)).body.status).toBe("pending");
  });
});
