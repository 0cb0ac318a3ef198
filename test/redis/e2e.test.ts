import { describe, expect } from "vitest";
import { answerLike, answers, atRest, cardSays, decisionOf, PATIENT_MS, proposeChange } from "../e2e/conversation.ts";
import { test } from "../e2e/world.ts";
import { waitUntil } from "../helpers/waitUntil.ts";

const redis = { env: { REDIS_URL: process.env.REDIS_URL ?? "" } };
const SESSIONS = 10;

describe("a gateway and workers over Redis", { timeout: 240_000 }, () => {
  test("6 7 A5 kill -9 of the worker that applies: unconfirmed by the other, and run again by it under the same key", async ({
    world,
  }) => {
    const { billing, ledger, sim } = world;
    const { ada } = sim.people;
    const gateway = await world.start({ ...redis, role: "gateway" });
    // Alone at first, so that the apply is surely its own.
    const doomed = await world.start({ ...redis, role: "worker" });
    const proposed = await proposeChange(world);
    billing.faults.push("hang-after");
    await ada.click(proposed.card, { buttonText: "Approve" });
    await waitUntil(() => billing.writes() === 1, "the write", PATIENT_MS);
    await world.start({ ...redis, role: "worker" });
    await doomed.kill();

    await cardSays(world, proposed, "unconfirmed");
    await answerLike(world, proposed.root, /never reported back/);
    expect(ledger.writes()).toHaveLength(1);
    await ada.click(proposed.card, { buttonText: "Run again" });
    await cardSays(world, proposed, "applied");
    await atRest(world);
    expect(ledger.writes().map((write) => write.idempotencyKey)).toEqual([proposed.decisionId, proposed.decisionId]);
    expect(billing.writes()).toBe(1);
    const attempts = [
      { attempt: 1, outcome: "unconfirmed" },
      { attempt: 2, outcome: "applied" },
    ];
    expect(await decisionOf(world, gateway, proposed)).toMatchObject({ status: "applied", attempts });
  });

  test("S1 S2 A5 ten sessions at once on two workers, each approved by two clicks: ten writes", async ({ world }) => {
    const { billing, ledger, sim } = world;
    const { ada } = sim.people;
    const [gateway] = await Promise.all(
      (["gateway", "worker", "worker"] as const).map((role) => world.start({ ...redis, role })),
    );
    const proposals = await Promise.all(Array.from({ length: SESSIONS }, () => proposeChange(world)));
    await Promise.all(proposals.flatMap(({ card }) => [1, 2].map(() => ada.click(card, { buttonText: "Approve" }))));
    for (const proposed of proposals) {
      await cardSays(world, proposed, "applied");
      await answerLike(world, proposed.root, /approved and applied/);
    }
    await atRest(world);
    for (const { root, decisionId } of proposals) {
      expect(answers(world, root)).toHaveLength(4);
      expect(ledger.writes(decisionId)).toHaveLength(1);
    }
    expect(billing.writes()).toBe(SESSIONS);
    expect(sim.ephemerals.filter(({ text }) => /Already decided/.test(text))).toHaveLength(SESSIONS);
    expect(gateway?.stderr).not.toContain('"level":50');
  });
});
