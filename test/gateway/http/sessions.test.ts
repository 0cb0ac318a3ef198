import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { appendEvents } from "../../../src/core/store/events.ts";
import { claimNextTurn, settleTurn } from "../../../src/core/store/turns.ts";
import { API_KEY, askSomething, createSetting, DEPLOYMENT, newSession, newTurn, type Setting } from "./setting.ts";

let setting: Setting;

beforeAll(async () => {
  setting = await createSetting();
});
afterAll(() => setting.close());

describe("POST /sessions", () => {
  it("creates a session on the active deployment and answers it whole", async () => {
    const { status, body } = await setting.post("/sessions", { agentId: "support", labels: { team: "ops" } });
    expect(status).toBe(201);
    expect(body.deployment).toEqual({ id: DEPLOYMENT.id });
    expect(body.session).toEqual({
      id: expect.stringMatching(/^ses_/),
      agentId: "support",
      agent: "support",
      status: "idle",
      source: "user",
      deploymentId: DEPLOYMENT.id,
      labels: { team: "ops" },
      result: null,
      revision: 1,
      question: null,
      activity: { activeTurnId: null, queued: 0, lastSettledTurn: null },
      turns: [],
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect(await setting.get(`/sessions/${body.session.id}`)).toMatchObject({ status: 200, body: body.session });
  });

  it("takes `agent` for `agentId`", async () => {
    const { status, body } = await setting.post("/sessions", { agent: "sales", source: "webhook" });
    expect([status, body.session.agentId, body.session.source]).toEqual([201, "sales", "webhook"]);
  });

  it("answers a repeated Idempotency-Key, header or body, 200 with the session it made", async () => {
    const made = await setting.post("/sessions", { agentId: "support" }, { "idempotency-key": "k1" });
    const again = await setting.post("/sessions", { agentId: "support", idempotencyKey: "k1" });
    expect([made.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(made.body);
  });

  it("refuses a key that stands for another request, and the key goes on standing for the first", async () => {
    const made = await setting.post("/sessions", { agentId: "support", idempotencyKey: "k2" });
    const other = await setting.post("/sessions", { agentId: "sales", idempotencyKey: "k2" });
    expect([other.status, other.body.error.code]).toEqual([409, "idempotency_conflict"]);
    const otherAgain = await setting.post("/sessions", { agentId: "sales", idempotencyKey: "k2" });
    expect(otherAgain.status).toBe(409);
    const again = await setting.post("/sessions", { agentId: "support", idempotencyKey: "k2" });
    expect([again.status, again.body.session.id]).toEqual([200, made.body.session.id]);
  });

  it("makes one session of one key sent ten times at once", async () => {
    const create = () => setting.post("/sessions", { agentId: "support", idempotencyKey: "k3" });
    const answers = await Promise.all(Array.from({ length: 10 }, create));
    expect(answers.map((a) => a.status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 200, 200, 201]);
    expect(new Set(answers.map((a) => a.body.session.id)).size).toBe(1);
  });

  it("leaves a key free whose request failed", async () => {
    const failed = await setting.post("/sessions", { agentId: "nobody", idempotencyKey: "k4" });
    expect([failed.status, failed.body.error.code]).toEqual([404, "agent_unknown"]);
    expect((await setting.post("/sessions", { agentId: "support", idempotencyKey: "k4" })).status).toBe(201);
  });
});

describe("GET /sessions", () => {
  it("pages newest first through every session once, also while new ones come", async () => {
    const labels = { run: "pages" };
    const made: string[] = [];
    for (let i = 0; i < 5; i++) {
      made.unshift((await setting.post("/sessions", { agentId: "support", labels })).body.session.id);
    }
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await setting.get(`/sessions?label.run=pages&limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.sessions.map((s) => s.id));
      expect(body.sessions.every((s) => "run" in s.labels)).toBe(true);
      cursor = body.nextCursor ?? "";
      await setting.post("/sessions", { agentId: "support", labels });
    } while (cursor);
    expect(seen).toEqual(made);
  });

  it("filters by agent, by status and by every label given", async () => {
    const one = await setting.post("/sessions", { agentId: "sales", labels: { "team.name": "ops", tier: "1" } });
    await setting.post("/sessions", { agentId: "sales", labels: { "team.name": "ops", tier: "2" } });
    await setting.post("/sessions", { agentId: "support", labels: { "team.name": "ops", tier: "1" } });
    const found = await setting.get("/sessions?agent=sales&status=idle&label.team.name=ops&label.tier=1");
    expect(found.body).toMatchObject({ sessions: [{ id: one.body.session.id }], nextCursor: null });
    expect((await setting.get("/sessions?agentId=sales&status=ended")).body.sessions).toEqual([]);
  });
});

describe("GET /sessions/:id", () => {
  it("tells what runs, what waits and what settled last", async () => {
    const id = await newSession(setting);
    const [first, second, third] = [await newTurn(setting, id), await newTurn(setting, id), await newTurn(setting, id)];
    const claimed = await claimNextTurn(setting.core.pool, id, 60_000);
    if (!claimed) throw new Error("nothing to claim");
    await settleTurn(setting.core.pool, claimed, { status: "failed", errorCode: "model_unavailable" });
    await claimNextTurn(setting.core.pool, id, 60_000);
    const { body } = await setting.get(`/sessions/${id}`);
    expect(body.activity).toEqual({
      activeTurnId: second,
      queued: 1,
      lastSettledTurn: { id: first, status: "failed" },
    });
    expect(body.turns.map((t) => t.id)).toEqual([third, second, first]);
    expect(body.turns[2]).toEqual({
      id: first,
      status: "failed",
      outcome: null,
      mode: "queue",
      createdAt: expect.any(String),
      settledAt: expect.any(String),
      error: { code: "model_unavailable", message: "The model could not be reached; try again in a moment." },
    });
  });

  it("shows the newest 20 turns", async () => {
    const id = await newSession(setting);
    const made: string[] = [];
    for (let i = 0; i < 21; i++) made.unshift(await newTurn(setting, id));
    const { body } = await setting.get(`/sessions/${id}`);
    expect(body.turns.map((t) => t.id)).toEqual(made.slice(0, 20));
  });

  it("Q1 shows the open question", async () => {
    const id = await newSession(setting);
    const question = await askSomething(setting, id, await newTurn(setting, id));
    expect((await setting.get(`/sessions/${id}`)).body.question).toEqual({
      id: question,
      text: "Which one?",
      options: [
        { label: "Red", value: "the-red-one" },
        { label: "Blue", value: "the-blue-one" },
      ],
    });
  });

  it("S5 counts every event in `revision`", async () => {
    const id = await newSession(setting);
    await appendEvents(setting.core.pool, { sessionId: id, events: [{ type: "session.failed", data: {} }] });
    expect((await setting.get(`/sessions/${id}`)).body.revision).toBe(2);
  });
});

it("serves the same routes under /api/managed-agents", async () => {
  const headers = { "x-api-key": API_KEY };
  const made = await setting.app.inject({
    method: "POST",
    url: "/api/managed-agents/sessions",
    headers,
    payload: { agentId: "support" },
  });
  expect(made.statusCode).toBe(201);
  expect((await setting.get(`/sessions/${made.json().session.id}`)).status).toBe(200);
});
