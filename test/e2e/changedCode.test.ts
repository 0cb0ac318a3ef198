import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { cardSays, decisionOf, proposeChange } from "./conversation.ts";
import { test } from "./world.ts";

test("A4 21 code that was changed in the database after the card was shown does not run", { timeout: 120_000 }, async ({
  world,
}) => {
  const { sim, ledger, db, dataDir } = world;
  const first = await world.start();
  const proposed = await proposeChange(world);
  await first.stop();
  await db.pool.query("update deployment_files set content = content || convert_to(E'\\n// changed', 'UTF8')");
  await rm(join(dataDir, "deployments"), { recursive: true });

  const gateway = await world.start();
  await sim.people.ada.click(proposed.card, { buttonText: "Approve" });
  await cardSays(world, proposed, "failed");
  expect(await decisionOf(world, gateway, proposed)).toMatchObject({ status: "failed" });
  expect(ledger.writes(proposed.decisionId)).toEqual([]);
});
