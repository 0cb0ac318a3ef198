import { describe, expect } from "vitest";
import type { MessageRef } from "../../src/adapters/slack/simulator/index.ts";
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
} from "./conversation.ts";
import { test } from "./world.ts";

const THREADS = 6;

describe("SIGTERM under load", { timeout: 240_000 }, () => {
  test("S2 G5 A5 loses nothing and repeats nothing: of posts, turns, messages and writes", async ({ world }) => {
    const { sim, ledger } = world;
    const { ada } = sim.people;
    const mention = () => ada.mention(sim.general, ASKED);

    const first = await world.start();
    const early = await Promise.all(Array.from({ length: THREADS - 1 }, mention));
    await sim.waitFor(() => early.some((root) => answers(world, root).length > 0), {
      timeoutMs: PATIENT_MS,
      what: "a question",
    });
    const stopped = first.stop();
    // Told while it stops, or to nobody: Slack tells it again.
    const late = await mention();
    expect(await stopped).toMatchObject({ code: 0 });

    const second = await world.start();
    const proposed = await Promise.all([...early, late].map((root: MessageRef) => answerQuestion(world, root, ada)));
    const writing = ledger.hold("POST", /^\/subscriptions$/);
    await Promise.all(proposed.flatMap(({ card }) => [1, 2].map(() => ada.click(card, { buttonText: "Approve" }))));
    await writing.arrived;
    const stoppedAgain = second.stop();
    const closed = () =>
      fetch(second.url).then(
        () => false,
        () => true,
      );
    await waitUntil(closed, "its door to be closed, while the write waits for its answer", PATIENT_MS);
    writing.letGo();
    expect(await stoppedAgain).toMatchObject({ code: 0 });

    const third = await world.start();
    for (const each of proposed) {
      await cardSays(world, each, "applied");
      await answerLike(world, each.root, /approved and applied/);
    }
    await atRest(world);
    for (const each of proposed) {
      expect(answers(world, each.root)).toHaveLength(4);
      expect(ledger.writes(each.decisionId)).toHaveLength(1);
      expect((await decisionOf(world, third, each)).attempts).toMatchObject([{ attempt: 1, outcome: "applied" }]);
    }
    expect(ledger.writes()).toHaveLength(THREADS);
  });
});
