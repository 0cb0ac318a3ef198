import { describe, expect } from "vitest";
import type { GatewayProcess } from "../helpers/gatewayProcess.ts";
import { waitUntil } from "../helpers/waitUntil.ts";
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
} from "./conversation.ts";
import { test, type World } from "./world.ts";

/** How many conversations are under way at any time, one behind another. */
const CLIENTS = 2;

describe("a deploy", { timeout: 240_000 }, () => {
  test("S2 G3 G5 A5 of one process after another, under load, loses nothing and repeats nothing", async ({ world }) => {
    const { sim, ledger } = world;
    const { ada } = sim.people;
    const [firstGateway, firstWorker] = await Promise.all([
      world.start({ role: "gateway" }),
      world.start({ role: "worker" }),
    ]);
    let deploying = true;
    const done: Proposed[] = [];

    /** Post, answer, approve by two clicks, again and again until the deploy is over. */
    async function talk(): Promise<void> {
      while (deploying) {
        const proposed = await answerQuestion(world, await ada.mention(sim.general, ASKED), ada);
        await approve(world, proposed);
        await cardSays(world, proposed, "applied");
        done.push(proposed);
      }
    }
    const clients = Array.from({ length: CLIENTS }, talk);
    const goOn = (more: number) => {
      const until = done.length + more;
      return waitUntil(() => done.length >= until, `${more} more writes`, PATIENT_MS);
    };

    await goOn(1);
    // The new one is there before the old one goes, as any deploy does it; each is stopped in the middle of something.
    await world.start({ role: "worker" });
    expect(await firstWorker.stop()).toMatchObject({ code: 0, signal: null });
    await goOn(2);
    const gateway = await world.start({ role: "gateway" });
    expect(await firstGateway.stop()).toMatchObject({ code: 0, signal: null });
    await goOn(2);
    deploying = false;
    await Promise.all(clients);
    await atRest(world);

    for (const proposed of done) {
      await answerLike(world, proposed.root, /approved and applied/);
      expect(answers(world, proposed.root)).toHaveLength(4);
      expect(ledger.writes(proposed.decisionId)).toHaveLength(1);
      expect(await decisionOf(world, gateway, proposed)).toMatchObject({
        status: "applied",
        attempts: [{ attempt: 1, outcome: "applied" }],
      });
    }
    expect(ledger.writes()).toHaveLength(done.length);
    const { rows } = await world.db.pool.query("select count(*)::int as n from deliveries where attempt > 1");
    expect(rows).toEqual([{ n: 0 }]);
  });

  test("A5 ends a process in phases: it is not ready at once, finishes its write, and refuses what is new", async ({
    world,
  }) => {
    const { sim, ledger } = world;
    const { ada } = sim.people;
    const gateway = await world.start();
    const proposed = await answerQuestion(world, await ada.mention(sim.general, ASKED), ada);
    const writing = ledger.hold("POST", /^\/subscriptions$/);
    await ada.click(proposed.card, { buttonText: "Approve" });
    await writing.arrived;
    const stopped = gateway.stop();
    await waitUntil(async () => (await health(gateway)) === "503 draining", "it to drain", PATIENT_MS);
    await waitUntil(() => refused(gateway.url), "its door to be closed", PATIENT_MS);
    expect(await health(gateway)).toBe("503 draining");
    writing.letGo();
    expect(await stopped).toMatchObject({ code: 0, signal: null });
    await world.start();
    await cardSays(world, proposed, "applied");
    await atRest(world);
    expect(ledger.writes(proposed.decisionId)).toHaveLength(1);
  });

  test("A5 is cut short by a second signal, and the write it cut is unconfirmed", async ({ world }) => {
    const { sim, ledger } = world;
    const { ada } = sim.people;
    const gateway = await world.start();
    const proposed = await answerQuestion(world, await ada.mention(sim.general, ASKED), ada);
    const writing = ledger.hold("POST", /^\/subscriptions$/);
    await ada.click(proposed.card, { buttonText: "Approve" });
    await writing.arrived;
    const stopped = gateway.stop();
    await waitUntil(async () => (await health(gateway)) === "503 draining", "it to drain", PATIENT_MS);
    await gateway.stop();
    expect(await stopped).toMatchObject({ code: 1, signal: null });
    writing.letGo();
    await world.start();
    await cardSays(world, proposed, "unconfirmed");
    await atRest(world);
    expect(ledger.writes(proposed.decisionId)).toHaveLength(1);
  });
});

/** By two clicks, of which one may meet a gateway that is just closing its door: a person would click again. */
async function approve(world: World, { card }: Proposed): Promise<void> {
  const { sim } = world;
  const settled = () => sim.buttons(card).length === 0;
  for (let tries = 0; !settled() && tries < 5; tries++) {
    const [button] = sim.buttons(card);
    if (!button) return;
    const clicks = await Promise.all([1, 2].map(() => sim.people.ada.rawClick(card, button)));
    if (clicks.some(({ attempts }) => attempts.some(({ status }) => status === 200))) return;
  }
}

const health = async ({ adminUrl }: GatewayProcess): Promise<string> => {
  const answer = await fetch(`${adminUrl}/health/ready`);
  return `${answer.status} ${((await answer.json()) as { status: string }).status}`;
};

const refused = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => false,
    () => true,
  );
