import { describe, expect } from "vitest";
import type { MessageRef } from "../../src/adapters/slack/simulator/index.ts";
import type { GatewayProcess } from "../helpers/gatewayProcess.ts";
import { livingIn } from "../helpers/livingIn.ts";
import { waitUntil } from "../helpers/waitUntil.ts";
import {
  ASKED,
  answerLike,
  answers,
  atRest,
  cardSays,
  decisionOf,
  PATIENT_MS,
  type Proposed,
  proposeChange,
} from "./conversation.ts";
import { shared, type World } from "./world.ts";

/** What was under way when the gateway was killed, and the gateway that was started after it. */
interface Scene {
  readonly gateway: GatewayProcess;
  /** Its card was shown, and nobody had clicked. */
  readonly pending: Proposed;
  /** The target had written; its answer was not there yet. */
  readonly written: Proposed;
  /** Its write was on the way to a target that never got it. */
  readonly onItsWay: Proposed;
  /** Its tool was running. */
  readonly atWork: MessageRef;
  /** Slack had taken the question; the gateway had not heard of it. */
  readonly posted: MessageRef;
}

const crashed = shared.extend<{ scene: Scene }>({
  scene: [async ({ world }, use) => use(await crash(world)), { scope: "file" }],
});

/** One kill -9 for all that can be under way, since a lease takes its time to run out. */
async function crash(world: World): Promise<Scene> {
  const { sim, billing, ledger } = world;
  const { ada } = sim.people;
  const first = await world.start();
  const [pending, written, onItsWay] = await Promise.all([
    proposeChange(world),
    proposeChange(world),
    proposeChange(world),
  ]);

  billing.faults.push("hang-after");
  await ada.click(written.card, { buttonText: "Approve" });
  await waitUntil(() => billing.writes() === 1, "the write", PATIENT_MS);
  const write = ledger.hold("POST", /^\/subscriptions$/);
  await ada.click(onItsWay.card, { buttonText: "Approve" });
  await write.arrived;

  const look = ledger.hold("GET", /^\/orders\//);
  const atWork = await ada.mention(sim.general, "Where is order 1042?");
  await look.arrived;

  const elsewhere = sim.addChannel("elsewhere");
  sim.faults.next("chat.postMessage", { kind: "hold", until: new Promise(() => {}) }, { channel: elsewhere.id });
  const posted = await ada.mention(elsewhere.id, ASKED);
  await sim.waitFor(() => answers(world, posted).length > 0, { timeoutMs: PATIENT_MS, what: "the question" });

  await first.kill();
  await waitUntil(
    () => livingIn(world.folder).length === 0,
    "the agents' processes to end with their gateway",
    PATIENT_MS,
  );
  for (const held of [write, look]) held.letGo();
  return { gateway: await world.start(), pending, written, onItsWay, atWork, posted };
}

describe("kill -9", { timeout: 240_000 }, () => {
  crashed("1 between card and click: the click is taken, and is one write", async ({ world, scene }) => {
    const { gateway, pending } = scene;
    await world.sim.people.ada.click(pending.card, { buttonText: "Approve" });
    await cardSays(world, pending, "applied");
    expect(world.ledger.writes(pending.decisionId)).toHaveLength(1);
    expect(await decisionOf(world, gateway, pending)).toMatchObject({ status: "applied", attempts: [{ attempt: 1 }] });
  });

  crashed(
    "T3 S2 during a turn: the unfinished call is made again, and the thread has one answer",
    async ({ world, scene }) => {
      await answerLike(world, scene.atWork, /what lookup_order says/);
      await atRest(world);
      expect(answers(world, scene.atWork)).toHaveLength(1);
      expect(world.ledger.calls.filter(({ path }) => path.startsWith("/orders/"))).toHaveLength(2);
    },
  );

  crashed.for([
    ["6 7", "after the write", "written"],
    ["5", "before the write got there", "onItsWay"],
  ] as const)(
    "%s A5 during an apply, %s: unconfirmed, and applied under the same key when a person runs it again",
    async ([, , which], { world, scene }) => {
      const { billing, ledger, sim } = world;
      const proposed = scene[which];
      await cardSays(world, proposed, "unconfirmed");
      await answerLike(world, proposed.root, /never reported back/);
      const attempts = [{ attempt: 1, outcome: "unconfirmed" }];
      expect(await decisionOf(world, scene.gateway, proposed)).toMatchObject({ status: "unconfirmed", attempts });
      expect(ledger.writes(proposed.decisionId)).toHaveLength(1);
      const before = billing.writes();

      expect(sim.buttons(proposed.card).map(({ text }) => text)).toEqual(["Run again"]);
      const [runAgain] = sim.buttons(proposed.card);
      if (runAgain) await Promise.all([1, 2].map(() => sim.people.ada.rawClick(proposed.card, runAgain)));
      await cardSays(world, proposed, "applied");
      await atRest(world);
      expect(ledger.writes(proposed.decisionId)).toHaveLength(2);
      expect(billing.writes()).toBe(before + (which === "written" ? 0 : 1));
    },
  );

  crashed("G5 between a post and Slack's answer to it: the post stands there once", async ({ world, scene }) => {
    const { sim, db } = world;
    const unsent = "select count(*)::int as left from deliveries where status <> 'sent'";
    await waitUntil(
      async () => (await db.pool.query(unsent)).rows[0]?.left === 0,
      "every message to be sent",
      PATIENT_MS,
    );
    expect(answers(world, scene.posted)).toHaveLength(1);
    await sim.people.ada.click(
      { ...scene.posted, ts: sim.thread(scene.posted.channel, scene.posted.ts)[1]?.ts ?? "" },
      { buttonText: "Yearly" },
    );
    await answerLike(world, scene.posted, /waits for approval on its card/);
  });
});
