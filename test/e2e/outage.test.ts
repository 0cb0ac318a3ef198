import { describe, expect } from "vitest";
import { again } from "../../src/core/db/withTx.ts";
import { fillDisk, makeRoom } from "../helpers/diskFull.ts";
import type { GatewayProcess } from "../helpers/gatewayProcess.ts";
import { createTcpProxy } from "../helpers/tcpProxy.ts";
import { waitUntil } from "../helpers/waitUntil.ts";
import {
  ASKED,
  answerLike,
  answerQuestion,
  answers,
  atRest,
  cardSays,
  decisionOf,
  notesTo,
  PATIENT_MS,
  type Proposed,
  proposeChange,
} from "./conversation.ts";
import { test, type World } from "./world.ts";

const readiness = async ({ adminUrl }: GatewayProcess): Promise<string> => {
  const answer = await fetch(`${adminUrl}/health/ready`);
  return `${answer.status} ${((await answer.json()) as { status: string }).status}`;
};

describe("the queue on PostgreSQL", { timeout: 240_000 }, () => {
  test("14 is dropped with everything in it: a story goes on without it, degraded, and is applied once", async ({
    world,
  }) => {
    const { sim, db, ledger } = world;
    const { ada } = sim.people;
    const gateway = await world.start();
    const proposed = await proposeChange(world);
    // BullMQ is at work in it, and PostgreSQL may give either of the two the deadlock.
    await again(() => db.pool.query("drop schema bullmq cascade"));
    await ada.click(proposed.card, { buttonText: "Approve" });
    await cardSays(world, proposed, "applied");
    await answerLike(world, proposed.root, /approved and applied/);
    await atRest(world);
    expect(ledger.writes(proposed.decisionId)).toHaveLength(1);
    await waitUntil(async () => (await readiness(gateway)) === "200 degraded", "it to be degraded", PATIENT_MS);
    expect(await gateway.stop()).toMatchObject({ code: 0 });

    await world.start();
    await cardSays(world, await approvedChange(world), "applied");
  });
});

describe("the database", { timeout: 240_000 }, () => {
  test("18 goes for a while: nobody is ready, what is told then is told again, and everything goes on by itself", async ({
    world,
  }) => {
    const { sim, db, ledger } = world;
    const { ada } = sim.people;
    const url = new URL(db.url);
    const proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    try {
      const env = { DATABASE_URL: url.href };
      const gateway = await world.start({ env });
      const proposed = await proposeChange(world);
      await atRest(world);
      await proxy.cut();
      await waitUntil(async () => (await readiness(gateway)) === "503 not_ready", "it not to be ready", PATIENT_MS);
      const late = await ada.mention(sim.general, ASKED);
      await proxy.mend();
      await waitUntil(async () => (await readiness(gateway)) === "200 ready", "it to be ready again", PATIENT_MS);
      await ada.click(proposed.card, { buttonText: "Approve" });
      await cardSays(world, proposed, "applied");
      await answerLike(world, proposed.root, /approved and applied/);
      const another = await answerQuestion(world, late, ada);

      // Every connection at once, with work under way on them.
      await ada.click(another.card, { buttonText: "Approve" });
      await db.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name like 'countersign%'`,
      );
      await cardSays(world, another, "applied");
      await answerLike(world, another.root, /approved and applied/);
      await atRest(world);
      for (const { root, decisionId } of [proposed, another]) {
        expect(answers(world, root)).toHaveLength(4);
        expect(ledger.writes(decisionId)).toHaveLength(1);
      }
      const told = (line: string) =>
        gateway.stderr.split("\n").filter((l) => l.includes(line) && l.includes('"dependency":"database"')).length;
      await waitUntil(() => told("a dependency answers again") >= 1, "it to have said so", PATIENT_MS);
      expect(told("a dependency does not answer")).toBe(told("a dependency answers again"));
    } finally {
      await proxy.close();
    }
  });

  test("30 has no room: a click decides nothing and is answered so, and decides once there is room", async ({
    world,
  }) => {
    const { sim, db, ledger } = world;
    const { ada } = sim.people;
    const gateway = await world.start();
    const proposed = await proposeChange(world);
    await atRest(world);
    await fillDisk(db.pool, "decision_record");
    const click = await ada.click(proposed.card, { buttonText: "Approve" });
    expect(click.attempts.map(({ status }) => status)).toEqual([503]);
    expect(await notesTo(world, ada, 1)).toEqual([expect.stringMatching(/could not make sure .* click again\.$/)]);
    expect(await decisionOf(world, gateway, proposed)).toMatchObject({ status: "pending", attempts: [] });
    const byApi = world.api(gateway, `/decisions/${proposed.decisionId}/approve`, { by: "ops" });
    await expect(byApi).rejects.toThrow(/was answered 503/);
    await makeRoom(db.pool);
    await ada.click(proposed.card, { buttonText: "Approve" });
    await cardSays(world, proposed, "applied");
    await atRest(world);
    expect(ledger.writes(proposed.decisionId)).toHaveLength(1);
  });
});

async function approvedChange(world: World): Promise<Proposed> {
  const proposed = await proposeChange(world);
  await world.sim.people.ada.click(proposed.card, { buttonText: "Approve" });
  return proposed;
}
