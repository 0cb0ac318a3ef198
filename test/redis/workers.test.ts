import { expect } from "vitest";
import { atRest, cardSays, PATIENT_MS, proposeChange } from "../e2e/conversation.ts";
import { test, type World } from "../e2e/world.ts";
import { waitUntil } from "../helpers/waitUntil.ts";

const REDIS = { REDIS_URL: process.env.REDIS_URL };

/** One gateway and two workers over one PostgreSQL and one Redis. */
async function startApart(world: World) {
  await world.start({ role: "gateway", env: REDIS });
  return Promise.all([world.start({ role: "worker", env: REDIS }), world.start({ role: "worker", env: REDIS })]);
}

test("I2 two workers over Redis: four changes, each click doubled, are four writes", async ({ world }) => {
  await startApart(world);
  const { ada, bo } = world.sim.people;
  const proposed = await Promise.all([ada, bo, ada, bo].map((person) => proposeChange(world, person)));
  for (const [i, change] of proposed.entries()) {
    const click = await (i % 2 === 0 ? ada : bo).click(change.card, { buttonText: "Approve" });
    await world.sim.redeliver(click, { retryNum: 1 });
  }
  for (const change of proposed) await cardSays(world, change, "applied");
  await atRest(world);
  expect(world.billing.writes()).toBe(4);
});

test("6 7 A5 the worker that applies is killed after the write: unconfirmed, run again by a person, one write", async ({
  world,
}) => {
  const workers = await startApart(world);
  const { ada } = world.sim.people;
  const change = await proposeChange(world);
  world.billing.faults.push("hang-after");
  await ada.click(change.card, { buttonText: "Approve" });
  await waitUntil(() => world.billing.writes() === 1, "the write", PATIENT_MS);
  // Which of the two has it is Redis's choice; with both gone, whoever comes next finds the claim without its worker.
  await Promise.all(workers.map((worker) => worker.kill()));
  await world.start({ role: "worker", env: REDIS });
  await cardSays(world, change, "unconfirmed");
  await ada.click(change.card, { buttonText: "Run again" });
  await cardSays(world, change, "applied");
  await atRest(world);
  expect(world.billing.writes()).toBe(1);
});
