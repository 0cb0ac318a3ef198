import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import type { SessionEvent } from "../../src/core/domain/event.ts";
import { livingIn } from "../helpers/livingIn.ts";
import { waitUntil } from "../helpers/waitUntil.ts";
import { answerLike, atRest, cardSays, decisionOf, PATIENT_MS, proposeChange } from "./conversation.ts";
import { test } from "./world.ts";

describe("a restart between card and click", { timeout: 240_000 }, () => {
  test("8 A9 after SIGTERM: exit code 0, and the click is one write", async ({ world }) => {
    const first = await world.start();
    const proposed = await proposeChange(world);
    expect(await first.stop()).toMatchObject({ code: 0, signal: null });
    expect(livingIn(world.folder)).toEqual([]);

    const second = await world.start();
    await world.sim.people.ada.click(proposed.card, { buttonText: "Approve" });
    await cardSays(world, proposed, "applied");
    await answerLike(world, proposed.root, /approved and applied/);
    await atRest(world);
    expect(world.ledger.writes()).toMatchObject([{ idempotencyKey: proposed.decisionId }]);
    expect(await decisionOf(world, second, proposed)).toMatchObject({ attempts: [{ attempt: 1, outcome: "applied" }] });
  });

  test("1 after kill -9 of gateway and embedded PostgreSQL: nothing committed is lost, and the click is one write", async ({
    world,
  }) => {
    const embedded = { env: { DATABASE_URL: undefined } };
    const first = await world.start(embedded);
    const proposed = await proposeChange(world);
    const session = `/sessions/${(await decisionOf(world, first, proposed)).sessionId}/events`;
    const { events: before } = await world.api<{ events: SessionEvent[] }>(first, session);

    const pidFile = await readFile(join(world.dataDir, "postgres/data/postmaster.pid"), "utf8");
    const killed = first.kill();
    process.kill(Number(pidFile.split("\n")[0]), "SIGKILL");
    await killed;
    await waitUntil(() => livingIn(world.folder).length === 0, "every process to be gone", PATIENT_MS);

    const second = await world.start(embedded);
    const { events: after } = await world.api<{ events: SessionEvent[] }>(second, session);
    expect(after.slice(0, before.length)).toEqual(before);
    await world.sim.people.ada.click(proposed.card, { buttonText: "Approve" });
    await cardSays(world, proposed, "applied");
    await answerLike(world, proposed.root, /approved and applied/);
    expect(world.ledger.writes()).toMatchObject([{ idempotencyKey: proposed.decisionId }]);
    expect(await second.stop()).toMatchObject({ code: 0 });
    expect(livingIn(world.folder)).toEqual([]);
  });
});
