import { afterAll, beforeAll, expect, it } from "vitest";
import { createDependency } from "../../../src/gateway/dependency.ts";
import { createMetrics } from "../../../src/gateway/http/metrics.ts";
import { createReadiness } from "../../../src/gateway/http/readiness.ts";
import { recordingLog } from "../../helpers/log.ts";
import { createSetting, newSession, newTurn, proposeSomething, type Setting } from "./setting.ts";

let setting: Setting;
let away: "database" | "queue" | null = null;

beforeAll(async () => {
  setting = await createSetting();
});
afterAll(() => setting.close());

const JOBS = { waiting: 1, active: 2, delayed: 3 };

async function scrape(sweepAgeMs: (() => number) | null = null): Promise<string[]> {
  const dependencies = (["database", "queue"] as const).map((name) => {
    const check = async () => {
      if (away === name) throw new Error("away");
    };
    return createDependency({ name, required: name === "database", check }, recordingLog());
  });
  const metrics = createMetrics({
    pool: setting.db.pool,
    queue: { counts: async () => ({ turn: JOBS, apply: JOBS, verify: JOBS, deliver: JOBS }) },
    readiness: createReadiness(dependencies),
    sweepAgeMs,
    log: recordingLog(),
  });
  expect(metrics.contentType).toMatch(/^text\/plain/);
  return (await metrics.scrape()).split("\n");
}

it("15 tells how long the oldest approved write has waited, and how much is under way", async () => {
  const { id } = await proposeSomething(setting);
  await proposeSomething(setting);
  await setting.post(`/decisions/${id}/approve`, { by: "ada" });
  await newTurn(setting, await newSession(setting));
  await setting.core.pool.query("update clock set shift = '90 seconds'");
  const lines = await scrape(() => 1_500);
  const value = (name: string) => Number(lines.find((line) => line.startsWith(`countersign_${name} `))?.split(" ")[1]);
  expect(value("decision_start_lag_seconds")).toBeGreaterThanOrEqual(90);
  expect(value("turn_start_lag_seconds")).toBeGreaterThanOrEqual(90);
  expect(lines).toEqual(
    expect.arrayContaining([
      "countersign_ready 1",
      'countersign_dependency_up{dependency="database"} 1',
      "countersign_sweep_age_seconds 1.5",
      'countersign_decisions{status="approved"} 1',
      'countersign_decisions{status="pending"} 1',
      'countersign_decisions{status="unconfirmed"} 0',
      "countersign_cards_undelivered 1",
      'countersign_deliveries{status="dead"} 0',
      'countersign_turns{status="queued"} 3',
      'countersign_queue_jobs_active{kind="apply"} 2',
      'countersign_queue_jobs_delayed{kind="deliver"} 3',
      "# TYPE countersign_decision_start_lag_seconds gauge",
    ]),
  );
  expect(lines.some((line) => line.startsWith("process_cpu_seconds_total "))).toBe(true);
  expect(lines.filter((line) => line.startsWith("# TYPE")).length).toBe(
    new Set(lines.filter((line) => line.startsWith("# TYPE"))).size,
  );
});

it("answers while something is away, and leaves out what cannot be read then", async () => {
  const names = async () => new Set((await scrape()).map((line) => /^countersign_\w+/.exec(line)?.[0]));
  away = "queue";
  const withoutQueue = await names();
  expect([withoutQueue.has("countersign_turns"), withoutQueue.has("countersign_queue_jobs_waiting")]).toEqual([
    true,
    false,
  ]);
  away = "database";
  const lines = await scrape();
  expect(lines).toContain("countersign_ready 0");
  expect(lines).toContain('countersign_dependency_up{dependency="database"} 0');
  expect(lines.some((line) => line.startsWith("countersign_decisions"))).toBe(false);
  away = null;
});
