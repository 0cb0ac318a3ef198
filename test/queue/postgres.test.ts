import { Socket } from "node:net";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createJobQueue } from "../../src/queue/jobQueue.ts";
import { jobQueueContract } from "../contract/jobQueue.ts";
import { jobQueueOutageContract } from "../contract/jobQueueOutage.ts";
import { createEmptyDatabase, type TestDatabase } from "../helpers/database.ts";
import { silentLog } from "../helpers/log.ts";
import { waitUntil } from "../helpers/waitUntil.ts";

let db: TestDatabase;
let namespaces = 0;

beforeAll(async () => {
  db = await createEmptyDatabase();
});
afterAll(async () => {
  await db.drop();
});

jobQueueContract("PostgreSQL", async () => {
  const namespace = `queue_${++namespaces}`;
  return (log) => createJobQueue({ databaseUrl: db.url, log, namespace });
});

jobQueueOutageContract(
  "PostgreSQL",
  () => db.url,
  (url, log) => createJobQueue({ databaseUrl: url, log, namespace: "queue_outage" }),
);

it("dials its PostgreSQL and nothing else", async () => {
  const dial = vi.spyOn(Socket.prototype, "connect");
  const queue = await createJobQueue({ databaseUrl: db.url, log: silentLog, namespace: "queue_dial" });
  try {
    let rung = false;
    await queue.consume("turn", 1, async () => {
      rung = true;
    });
    await queue.wake([{ kind: "turn", id: "ses_1" }]);
    await waitUntil(() => rung, "the ring");
    const ports = new Set(
      dial.mock.calls.map((args) => JSON.stringify(args)).map((args) => /(\d{4,5})/.exec(args)?.[1]),
    );
    expect([...ports]).toEqual([new URL(db.url).port]);
  } finally {
    await queue.close();
    dial.mockRestore();
  }
});

it("makes its tables once, however many processes start together", async () => {
  const open = () => createJobQueue({ databaseUrl: db.url, log: silentLog, namespace: "queue_start" });
  const queues = await Promise.all(Array.from({ length: 4 }, open));
  await Promise.all(queues.map((queue) => queue.ping()));
  await Promise.all(queues.map((queue) => queue.close()));
});

it("leaves no connection behind", async () => {
  const queue = await createJobQueue({ databaseUrl: db.url, log: silentLog, namespace: "queue_close" });
  for (const kind of ["turn", "deliver"] as const) await queue.consume(kind, 1, async () => {});
  await queue.close();
  await waitUntil(async () => {
    const { rows } = await db.pool.query<{ count: number }>(
      "select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name <> 'test'",
    );
    return rows[0]?.count === 0;
  }, "no connection of the queue");
});
