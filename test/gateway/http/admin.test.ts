import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signRecord } from "../../../src/core/flow/signRecord.ts";
import { createHeadKey } from "../../../src/core/record/headKey.ts";
import { finishAttempt, startAttempt } from "../../../src/core/store/attempts.ts";
import { insertDeliveries } from "../../../src/core/store/deliveries.ts";
import { claimNextTurn } from "../../../src/core/store/turns.ts";
import { createDependency, type DependencyCheck } from "../../../src/gateway/dependency.ts";
import { createAdminApp } from "../../../src/gateway/http/admin.ts";
import { createReadiness } from "../../../src/gateway/http/readiness.ts";
import { ids } from "../../../src/gateway/ids.ts";
import { recordingLog } from "../../helpers/log.ts";
import { waitUntil } from "../../helpers/waitUntil.ts";
import { createSetting, newSession, newTurn, proposeSomething, type Setting } from "./setting.ts";

let setting: Setting;

beforeAll(async () => {
  setting = await createSetting();
});
afterAll(() => setting.close());

const COUNTS = { waiting: 1, active: 2, delayed: 3 };
const counts = async () => ({ turn: COUNTS, apply: COUNTS, verify: COUNTS, deliver: COUNTS });

const adminOf = (readiness: ReturnType<typeof createReadiness>, log = recordingLog()) =>
  createAdminApp({ core: setting.core, queue: { counts }, readiness, sweepAgeMs: null, log });
const admin = (checks: readonly DependencyCheck[] = [], log = recordingLog()) =>
  adminOf(createReadiness(checks.map((check) => createDependency(check, log))), log);

const check = (name: DependencyCheck["name"], answer: DependencyCheck["check"], required = true): DependencyCheck => ({
  name,
  required,
  check: answer,
});
const fine = async () => {};
const broken = async () => {
  throw new Error("connect ECONNREFUSED postgres://u:secret@db");
};

describe("GET /health/live", () => {
  it("answers without looking at anything", async () => {
    const answer = await admin([check("database", broken)]).inject("/health/live");
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: "live" }]);
  });
});

describe("GET /health/ready", () => {
  it("tells each dependency with its state and age", async () => {
    const answer = await admin([
      check("database", () => setting.core.pool.query("select 1")),
      check("queue", fine, false),
    ]).inject("/health/ready");
    expect(answer.statusCode).toBe(200);
    const reading = { ageMs: expect.any(Number), forMs: expect.any(Number) };
    expect(answer.json()).toEqual({
      status: "ready",
      dependencies: {
        database: { state: "up", required: true, ...reading },
        queue: { state: "up", required: false, ...reading },
      },
    });
  });

  it("14 is degraded, and takes traffic, while something is away that what comes does not wait for", async () => {
    const answer = await admin([check("database", fine), check("queue", broken, false)]).inject("/health/ready");
    expect([answer.statusCode, answer.json().status]).toEqual([200, "degraded"]);
    expect(answer.json().dependencies.queue).toMatchObject({ state: "down", required: false });
  });

  it("is 503 from the moment the process drains", async () => {
    const readiness = createReadiness([createDependency(check("database", fine), recordingLog())]);
    const app = adminOf(readiness);
    expect((await app.inject("/health/ready")).statusCode).toBe(200);
    readiness.drain();
    const answer = await app.inject("/health/ready");
    expect([answer.statusCode, answer.json().status]).toEqual([503, "draining"]);
    expect((await app.inject("/health/live")).statusCode).toBe(200);
  });

  it("S7 is 503 while a required one is down; why is told to the log, once", async () => {
    const log = recordingLog();
    const app = admin([check("database", broken), check("queue", fine)], log);
    for (let i = 0; i < 3; i++) {
      const answer = await app.inject("/health/ready");
      expect([answer.statusCode, answer.json().status]).toEqual([503, "not_ready"]);
      expect(answer.body).not.toContain("secret");
    }
    expect(log.lines.map(({ level, fields }) => [level, "dependency" in fields && fields.dependency])).toEqual([
      ["warn", "database"],
    ]);
  });

  it("looks once for many who ask at once", async () => {
    let looks = 0;
    const app = admin([check("queue", async () => void looks++)]);
    await Promise.all(Array.from({ length: 20 }, () => app.inject("/health/ready")));
    expect(looks).toBe(1);
  });

  it("bounds a check that hangs, does not ask it again on top, and sees it come back", async () => {
    let looks = 0;
    let answer = () => {};
    const hanging = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const app = admin([
      check("sweeper", () => {
        looks++;
        return hanging;
      }),
    ]);
    const ready = async () => (await app.inject("/health/ready")).statusCode;
    expect(await ready()).toBe(503);
    await waitUntil(async () => (await app.inject("/health/ready")).json().dependencies.sweeper.forMs >= 1_000);
    expect(await ready()).toBe(503);
    expect(looks).toBe(1);
    answer();
    await waitUntil(async () => (await ready()) === 200, "it to be up again");
  });
});

describe("GET /admin/queues", () => {
  it("counts the jobs of every kind", async () => {
    expect((await admin().inject("/admin/queues")).json()).toEqual({ queues: await counts() });
  });
});

describe("GET /admin/stuck", () => {
  const shift = (to: string) => setting.core.pool.query("update clock set shift = $1::interval", [to]);

  it("A11 shows what waits for nobody, and nothing that is on its way", async () => {
    const { pool } = setting.core;
    const undelivered = await proposeSomething(setting);
    const approved = await proposeSomething(setting);
    await setting.post(`/decisions/${approved.id}/approve`, { by: "ada" });
    const unconfirmed = await proposeSomething(setting);
    await setting.post(`/decisions/${unconfirmed.id}/approve`, { by: "ada" });
    const attempt = await startAttempt(pool, unconfirmed.id, 60_000);
    const end = { outcome: "unconfirmed", errorCode: "apply_unconfirmed", result: null } as const;
    await finishAttempt(pool, unconfirmed.id, attempt?.fence ?? 0, end);
    const rejected = await proposeSomething(setting);
    await setting.post(`/decisions/${rejected.id}/reject`, { by: "ada" });

    const running = await newSession(setting);
    const turn = await newTurn(setting, running);
    await claimNextTurn(pool, running, 20_000);

    const [dead, unknown, queued] = [ids.random(), ids.random(), ids.random()];
    await insertDeliveries(
      pool,
      [dead, unknown, queued].map((id) => ({
        id,
        lane: id,
        sessionId: running,
        decisionId: null,
        conversation: { provider: "slack", connectionId: "slack:T1", workspaceId: "T1", conversationId: "C1:1" },
        message: { kind: "text", text: "hi" },
        edits: null,
      })),
    );
    await pool.query("update deliveries set status = 'dead', error_code = 'channel_not_found' where id = $1", [dead]);
    await pool.query("update deliveries set status = 'unknown' where id = $1", [unknown]);

    const read = async () => (await admin().inject("/admin/stuck")).json();
    const now = await read();
    expect(now.decisions).toEqual([
      {
        id: unconfirmed.id,
        sessionId: unconfirmed.sessionId,
        tool: "attach",
        why: "unconfirmed",
        since: expect.stringMatching(/Z$/),
        code: "apply_unconfirmed",
      },
    ]);
    expect(now.turns).toEqual([]);
    expect(now.deliveries).toEqual(
      [
        { id: dead, status: "dead", code: "channel_not_found" },
        { id: unknown, status: "unknown", code: null },
      ]
        .map((d) => ({ ...d, sessionId: running, decisionId: null, attempt: 0, since: expect.any(String) }))
        .sort((a, b) => a.id.localeCompare(b.id)),
    );

    await shift("1 minute");
    const later = await read();
    expect(later.decisions.map((d: { id: string; why: string }) => [d.id, d.why])).toEqual([
      [undelivered.id, "undelivered"],
      [approved.id, "approved"],
      [unconfirmed.id, "unconfirmed"],
    ]);
    expect(later.turns).toEqual([{ id: turn, sessionId: running, attempt: 1, leaseUntil: expect.any(String) }]);
    await shift("0");
  });
});

it("answers what is not there as JSON", async () => {
  const answer = await admin().inject("/nothing");
  expect([answer.statusCode, answer.json().error.code]).toEqual([404, "not_found"]);
});

describe("GET /admin", () => {
  it("I9 shows where the decision record ends, and how far it is signed", async () => {
    await proposeSomething(setting);
    const before = (await admin().inject("/admin")).json();
    expect(before.record).toMatchObject({ seq: expect.any(Number), hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(before.record.signed).toBeNull();
    const headKey = createHeadKey(Buffer.alloc(32, 3).toString("base64"));
    await signRecord({ pool: setting.core.pool, headKey });
    const { seq, hash, signed } = (await admin().inject("/admin")).json().record;
    expect(signed).toMatchObject({ seq, hash, key: headKey.publicKey });
  });
});
