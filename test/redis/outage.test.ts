import { describe, expect } from "vitest";
import {
  ASKED,
  answerLike,
  answerQuestion,
  answers,
  atRest,
  cardSays,
  decisionOf,
  PATIENT_MS,
  type Proposed,
  proposeChange,
} from "../e2e/conversation.ts";
import { test, type World } from "../e2e/world.ts";
import type { GatewayProcess } from "../helpers/gatewayProcess.ts";
import { waitUntil } from "../helpers/waitUntil.ts";
import { createRedisServer, type RedisServer } from "./redisServer.ts";

const withRedis = test.extend<{ redis: RedisServer }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs.
  redis: async ({}, use) => {
    const redis = await createRedisServer();
    await redis.start();
    await use(redis);
    await redis.close();
  },
});

const readiness = async ({ adminUrl }: GatewayProcess) => {
  const answer = await fetch(`${adminUrl}/health/ready`);
  return { code: answer.status, ...((await answer.json()) as { status: string }) };
};
const says = (gateway: GatewayProcess, status: string) =>
  waitUntil(async () => (await readiness(gateway)).status === status, `it to be ${status}`, PATIENT_MS);
/** How often a process said that the queue went, and that it is back. */
const told = ({ stderr }: GatewayProcess) =>
  ["a dependency does not answer", "a dependency answers again"].map(
    (line) => stderr.split("\n").filter((l) => l.includes(line) && l.includes('"dependency":"queue"')).length,
  );

async function appliedOnce(world: World, gateway: GatewayProcess, proposed: Proposed): Promise<void> {
  await cardSays(world, proposed, "applied");
  await answerLike(world, proposed.root, /approved and applied/);
  expect(world.ledger.writes(proposed.decisionId)).toHaveLength(1);
  expect(await decisionOf(world, gateway, proposed)).toMatchObject({ attempts: [{ attempt: 1, outcome: "applied" }] });
}

async function startBoth(world: World, redis: RedisServer) {
  const env = { REDIS_URL: redis.url };
  const [gateway, worker] = await Promise.all(
    (["gateway", "worker"] as const).map((role) => world.start({ env, role })),
  );
  if (!gateway || !worker) throw new Error("both were started");
  return { gateway, worker };
}

describe("Redis goes", { timeout: 240_000 }, () => {
  withRedis(
    "14 15 and comes back empty: a story goes on without it, is applied once, and nothing is noisy",
    async ({ world, redis }) => {
      const { ada } = world.sim.people;
      const { gateway, worker } = await startBoth(world, redis);
      const proposed = await proposeChange(world);
      await redis.kill();
      await ada.click(proposed.card, { buttonText: "Approve" });
      await appliedOnce(world, gateway, proposed);
      // A whole conversation that began while it was away: posts, turns, a question, a card, an approval.
      const another = await answerQuestion(world, await ada.mention(world.sim.general, ASKED), ada);
      await ada.click(another.card, { buttonText: "Approve" });
      await appliedOnce(world, gateway, another);
      for (const process of [gateway, worker]) {
        await says(process, "degraded");
        expect(await readiness(process)).toMatchObject({ code: 200, dependencies: { queue: { state: "down" } } });
      }

      await redis.start();
      for (const process of [gateway, worker]) await says(process, "ready");
      await waitUntil(() => told(worker)[1] === 1, "the worker to have said so", PATIENT_MS);
      const after = await proposeChange(world);
      await ada.click(after.card, { buttonText: "Approve" });
      await appliedOnce(world, gateway, after);
      await atRest(world);
      for (const { root } of [proposed, another, after]) expect(answers(world, root)).toHaveLength(4);
      for (const process of [gateway, worker]) {
        expect(told(process)).toEqual([1, 1]);
        expect(process.stderr).not.toContain('"level":50');
      }
    },
  );

  withRedis("14 FLUSHALL with approved writes in the queue: each is applied once", async ({ world, redis }) => {
    const { ada } = world.sim.people;
    const { gateway, worker } = await startBoth(world, redis);
    const proposals = await Promise.all([1, 2, 3].map(() => proposeChange(world)));
    await atRest(world);
    await worker.kill();
    for (const { card } of proposals) await ada.click(card, { buttonText: "Approve" });
    const approved = "select count(*)::int as n from decisions where status = 'approved'";
    await waitUntil(async () => (await world.db.pool.query(approved)).rows[0]?.n === 3, "three approvals", PATIENT_MS);
    await redis.flush();
    await world.start({ env: { REDIS_URL: redis.url }, role: "worker" });
    for (const proposed of proposals) await appliedOnce(world, gateway, proposed);
    await atRest(world);
    expect(world.billing.writes()).toBe(3);
  });

  withRedis("14 17 restored from an old snapshot: jobs of work long done find it done", async ({ world, redis }) => {
    const { ada } = world.sim.people;
    const { gateway, worker } = await startBoth(world, redis);
    const proposed = await proposeChange(world);
    await atRest(world);
    // Jobs that nobody takes stand in the snapshot.
    await worker.kill();
    await ada.click(proposed.card, { buttonText: "Approve" });
    /** More than any number while nobody can say. */
    const waiting = async (): Promise<number> => {
      const answer = await fetch(`${gateway.adminUrl}/admin/queues`);
      if (!answer.ok) return Number.POSITIVE_INFINITY;
      const { queues } = (await answer.json()) as { queues: Record<string, { waiting: number }> };
      return Object.values(queues).reduce((sum, kind) => sum + kind.waiting, 0);
    };
    await waitUntil(async () => (await waiting()) >= 2, "an apply and a card's redrawing in the queue", PATIENT_MS);
    await redis.save();
    await world.start({ env: { REDIS_URL: redis.url }, role: "worker" });
    await appliedOnce(world, gateway, proposed);
    await atRest(world);
    const said = answers(world, proposed.root);

    await redis.restore();
    await waitUntil(async () => (await waiting()) === 0, "the old jobs to be taken", PATIENT_MS);
    const after = await proposeChange(world);
    await ada.click(after.card, { buttonText: "Approve" });
    await appliedOnce(world, gateway, after);
    await atRest(world);
    expect(world.ledger.writes(proposed.decisionId)).toHaveLength(1);
    expect(answers(world, proposed.root)).toEqual(said);
  });
});
