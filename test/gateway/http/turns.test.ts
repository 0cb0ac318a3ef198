import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readAllEvents } from "../../../src/core/store/events.ts";
import { claimNextTurn } from "../../../src/core/store/turns.ts";
import { askSomething, createSetting, newSession, newTurn, type Setting } from "./setting.ts";

let setting: Setting;

beforeAll(async () => {
  setting = await createSetting();
});
afterAll(() => setting.close());

const claim = (sessionId: string) => claimNextTurn(setting.core.pool, sessionId, 60_000);
const log = async (sessionId: string) => readAllEvents(setting.core.pool, sessionId);

describe("POST /sessions/:id/turns", () => {
  it("queues a turn and rings for it once it is committed", async () => {
    const id = await newSession(setting);
    const before = setting.rung.length;
    const { status, body } = await setting.post(`/sessions/${id}/turns`, { input: "hi", payload: { n: [1, null] } });
    expect(status).toBe(202);
    expect(body.turn).toMatchObject({ id: expect.stringMatching(/^trn_/), status: "queued", mode: "queue" });
    expect(setting.rung.slice(before)).toEqual([{ kind: "turn", id }]);
    const received = (await log(id)).find((e) => e.type === "message.received");
    expect(received?.data).toEqual({ source: "user", text: "hi", payload: { n: [1, null] } });
  });

  it("G6 takes NUL and lone surrogates in words and payload as they are", async () => {
    const id = await newSession(setting);
    const strange = "a\u0000b\ud800c";
    const answer = await setting.post(`/sessions/${id}/turns`, { input: strange, payload: { [strange]: strange } });
    expect(answer.status).toBe(202);
    const { body } = await setting.get(`/sessions/${id}/events`);
    expect(body.events[1]?.data).toEqual({ source: "user", text: strange, payload: { [strange]: strange } });
  });

  it("answers a repeated key 200 with the same turn, and rings for nothing", async () => {
    const id = await newSession(setting);
    const made = await setting.post(`/sessions/${id}/turns`, { input: "hi" }, { "idempotency-key": "k" });
    const before = setting.rung.length;
    const again = await setting.post(`/sessions/${id}/turns`, { input: "hi", idempotencyKey: "k" });
    expect([made.status, again.status]).toEqual([202, 200]);
    expect(again.body).toEqual(made.body);
    expect(setting.rung.length).toBe(before);
    const other = await setting.post(`/sessions/${id}/turns`, { input: "ho", idempotencyKey: "k" });
    expect([other.status, other.body.error.code]).toEqual([409, "idempotency_conflict"]);
  });

  it("S2 asks the running turn to stop in mode `interrupt`, and says so at once", async () => {
    const id = await newSession(setting);
    await newTurn(setting, id);
    await claim(id);
    const before = setting.nudges();
    const answer = await setting.post(`/sessions/${id}/turns`, { input: "stop, do this", mode: "interrupt" });
    expect([answer.status, answer.body.turn.mode]).toEqual([202, "interrupt"]);
    expect(setting.nudges()).toBe(before + 1);
  });

  it("Q5 closes the open question", async () => {
    const id = await newSession(setting);
    await askSomething(setting, id, await newTurn(setting, id));
    await setting.post(`/sessions/${id}/turns`, { input: "something else" });
    expect((await setting.get(`/sessions/${id}`)).body.question).toBeNull();
  });

  it("S3 refuses a session that has ended", async () => {
    const id = await newSession(setting);
    await setting.post(`/sessions/${id}/end`);
    const { status, body } = await setting.post(`/sessions/${id}/turns`, { input: "hi" });
    expect([status, body.error.code]).toEqual([409, "session_ended"]);
  });
});

describe("POST /sessions/:id/answer", () => {
  it("Q3 queues the answer as the next input", async () => {
    const id = await newSession(setting);
    const questionId = await askSomething(setting, id, await newTurn(setting, id));
    const answer = { questionId, text: "Red", value: "the-red-one" };
    const { status, body } = await setting.post(`/sessions/${id}/answer`, answer);
    expect([status, body.turn.status]).toEqual([202, "queued"]);
    expect(setting.rung.at(-1)).toEqual({ kind: "turn", id });
    const received = (await log(id)).findLast((e) => e.type === "message.received");
    expect(received?.data).toMatchObject({ text: "Red", answer });
  });

  it("takes one answer of many that come at once", async () => {
    const id = await newSession(setting);
    const questionId = await askSomething(setting, id, await newTurn(setting, id));
    const say = (text: string) => setting.post(`/sessions/${id}/answer`, { questionId, text });
    const answers = await Promise.all(["a", "b", "c", "d"].map(say));
    expect(answers.map((a) => a.status).sort()).toEqual([202, 409, 409, 409]);
    expect(answers.find((a) => a.status === 409)?.body.error.code).toBe("no_open_question");
  });

  it("Q6 refuses a value that is no option, and the question stays open", async () => {
    const id = await newSession(setting);
    const questionId = await askSomething(setting, id, await newTurn(setting, id));
    const { status, body } = await setting.post(`/sessions/${id}/answer`, { questionId, text: "Red", value: "Red" });
    expect([status, body.error.code]).toEqual([400, "answer_not_an_option"]);
    expect((await setting.get(`/sessions/${id}`)).body.question?.id).toBe(questionId);
  });
});

describe("POST /sessions/:id/interrupt", () => {
  it("S4 puts a running session into `stopping` and nudges", async () => {
    const id = await newSession(setting);
    const turn = await newTurn(setting, id);
    await claim(id);
    const before = setting.nudges();
    const { status, body } = await setting.post(`/sessions/${id}/interrupt`);
    expect([status, body.status, body.activity.activeTurnId]).toEqual([200, "stopping", turn]);
    expect(setting.nudges()).toBe(before + 1);
  });

  it("S4 leaves an idle session unchanged", async () => {
    const id = await newSession(setting);
    const { body: before } = await setting.get(`/sessions/${id}`);
    const nudges = setting.nudges();
    const answer = await setting.post(`/sessions/${id}/interrupt`, "", { "content-type": "application/json" });
    expect([answer.status, answer.body, setting.nudges()]).toEqual([200, before, nudges]);
  });

  it("refuses a session that has ended", async () => {
    const id = await newSession(setting);
    await setting.post(`/sessions/${id}/end`);
    const { status, body } = await setting.post(`/sessions/${id}/interrupt`);
    expect([status, body.error.code]).toEqual([409, "session_ended"]);
  });
});

describe("POST /sessions/:id/end", () => {
  it("S3 cancels what waits, closes the question, and may be said twice", async () => {
    const id = await newSession(setting);
    const turn = await newTurn(setting, id);
    await askSomething(setting, id, turn);
    const first = await setting.post(`/sessions/${id}/end`);
    const second = await setting.post(`/sessions/${id}/end`);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(first.body).toMatchObject({ status: "ended", question: null, turns: [{ id: turn, status: "cancelled" }] });
    expect(second.body).toEqual(first.body);
  });
});
