import { describe, expect } from "vitest";
import type { SessionEvent } from "../../src/core/domain/event.ts";
import { answerLike, answers, atRest } from "./conversation.ts";
import { test } from "./world.ts";

const SECRET_REASON = "the reason is for the log alone";

/** It builds, as a build runs none of it. */
const BROKEN = {
  load: `throw new Error("${SECRET_REASON}");\nexport default function Support() { return "Never."; }\n`,
  render: `export default function Support(): string { throw new Error("${SECRET_REASON}"); }\n`,
} as const;

describe("an agent whose code throws", { timeout: 120_000 }, () => {
  test.for(["load", "render"] as const)(
    "S7 at %s: the turn fails with its code, and the thread is told",
    async (when, { world }) => {
      const { sim, project } = world;
      await project.write("agents/support/agent.ts", BROKEN[when]);
      const gateway = await world.start();
      const root = await sim.people.ada.mention(sim.general, "Where is order 1042?");
      const said = await answerLike(world, root, /./);
      expect(said).toMatch(new RegExp(`author has to fix it and deploy again\\. \\(agent_${when}_failed\\)$`));
      await atRest(world);
      expect(answers(world, root)).toHaveLength(1);

      const { sessions } = await world.api<{ sessions: { id: string; status: string }[] }>(gateway, "/sessions");
      expect(sessions).toMatchObject([{ status: "idle" }]);
      const { events } = await world.api<{ events: SessionEvent[] }>(gateway, `/sessions/${sessions[0]?.id}/events`);
      expect(events.find(({ type }) => type === "turn.failed")?.data).toMatchObject({ code: `agent_${when}_failed` });
      expect(JSON.stringify([events, sim.messages(sim.general)])).not.toContain(SECRET_REASON);
    },
  );
});
