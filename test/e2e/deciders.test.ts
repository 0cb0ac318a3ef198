import { describe, expect } from "vitest";
import { createSimulatorClient } from "../../src/adapters/slack/simulator/index.ts";
import type { SessionEvent } from "../../src/core/domain/event.ts";
import type { GatewayProcess } from "../helpers/gatewayProcess.ts";
import { cardSays, decisionOf, notesTo, PATIENT_MS, proposeChange } from "./conversation.ts";
import { type Environment, test, type World } from "./world.ts";

const BUILT_IN: Environment = { SLACK_BOT_TOKEN: undefined, SLACK_SIGNING_SECRET: undefined, SLACK_API_URL: undefined };

/** Whoever asks for the change does not decide it; these do. */
const fourEyes = ({ project }: World, deciders: object): Promise<void> =>
  project.change(
    "project.ts",
    'deciders: "requester"',
    `deciders: ${JSON.stringify({ slack: deciders })}, requesterMayDecide: false`,
  );

describe("who may decide", { timeout: 180_000 }, () => {
  test("A7 22 a member of the group approves; the requester, who is one too, and strangers are told whom to ask", async ({
    world,
  }) => {
    const { sim, ledger } = world;
    const { ada, bo, cy } = sim.people;
    const { id } = sim.roster.addUsergroup("finance", [ada.id, bo.id]);
    await fourEyes(world, { usergroups: [id] });
    const gateway = await world.start();
    expect(gateway.stdout).not.toContain("warning");
    const proposed = await proposeChange(world);

    await cy.click(proposed.card, { buttonText: "Approve" });
    expect(await notesTo(world, cy, 1)).toEqual(["You may not decide this. Only a member of @finance may."]);
    await ada.click(proposed.card, { buttonText: "Approve" });
    expect(await notesTo(world, ada, 1)).toEqual([
      "You asked for this, so you may not decide it. Only a member of @finance may.",
    ]);
    const guest = sim.addPerson({ name: "Guest", team: "T0OTHER001" });
    await guest.click(proposed.card, { buttonText: "Approve" });
    expect(await notesTo(world, guest, 1)).toEqual([expect.stringContaining("You may not decide this.")]);
    expect(await decisionOf(world, gateway, proposed)).toMatchObject({ status: "pending", attempts: [] });

    sim.faults.next("users.info", { kind: "okFalse", error: "fatal_error" });
    await bo.click(proposed.card, { buttonText: "Approve" });
    expect(await notesTo(world, bo, 1)).toEqual([expect.stringContaining("could not be checked just now")]);
    await bo.click(proposed.card, { buttonText: "Approve" });
    await cardSays(world, proposed, "applied");

    const { sessionId } = await decisionOf(world, gateway, proposed);
    const { events } = await world.api<{ events: SessionEvent[] }>(gateway, `/sessions/${sessionId}/events`);
    expect(events.find(({ type }) => type === "approval.approved")?.data).toMatchObject({
      by: { userId: bo.id },
      right: { via: "usergroup", group: id },
    });
    expect(ledger.writes(proposed.decisionId)).toHaveLength(1);
  });

  test("A7 a decider who does not exist refuses the start, and what is active stays; one that cannot be checked is a warning", async ({
    world,
  }) => {
    const { sim, db } = world;
    const { id } = sim.roster.addUsergroup("finance", [sim.people.bo.id]);
    await fourEyes(world, { users: ["U0NOBODY1"], usergroups: [id] });
    const where = ["--project", world.project.dir, "--data", world.dataDir, "--port", "0", "--admin-port", "0"];
    const refused = await world.run(["start", ...where]).ended;
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      "approvals.deciders.slack.users names U0NOBODY1, who is nobody in workspace T0SIMULATE; write the id of a member.",
    );
    expect((await db.pool.query("select from deployments")).rowCount).toBe(0);

    await world.project.change("project.ts", '"users":["U0NOBODY1"],', "");
    for (const method of ["usergroups.list", "usergroups.users.list"])
      sim.faults.next(method, { kind: "okFalse", error: "missing_scope" });
    const gateway = await world.start();
    expect(gateway.stdout).toMatch(
      /warning +approvals\.deciders\.slack\.usergroups: S\w+ could not be checked: the Slack app lacks the scope usergroups:read; add it/,
    );
  });

  test("A7 a group of the built-in simulator, made while it ran, may decide from the next start on", async ({
    world,
  }) => {
    const first = await world.start({ env: BUILT_IN });
    const { id } = await builtIn(first).addUsergroup({ handle: "finance", people: ["Bo"] });
    await first.stop();
    await fourEyes(world, { usergroups: [id] });

    const second = await world.start({ env: BUILT_IN });
    const slack = builtIn(second);
    const { ts, channel } = await slack.mention({
      person: "Ada",
      channel: "general",
      text: "Move customer cus_42 to the team plan",
    });
    const click = async (person: string, button: string): Promise<void> => {
      const message = await slack.waitFor(
        ({ threads }) =>
          threads
            .find((thread) => thread.ts === ts)
            ?.messages.find(({ buttons }) => buttons.some(({ text }) => text === button)),
        { timeoutMs: PATIENT_MS, what: `a button ${button}` },
      );
      await slack.click({ person, channel, ts: message.ts, button });
    };
    await click("Ada", "Monthly");
    await click("Ada", "Approve");
    const { ephemerals } = await slack.waitFor((state) => (state.ephemerals.length > 0 ? state : null));
    expect(ephemerals).toMatchObject([{ text: expect.stringContaining("Only a member of @finance may.") }]);
    await click("Bo", "Approve");
    await slack.waitFor(
      ({ threads }) =>
        threads.find((thread) => thread.ts === ts)?.messages.some(({ text }) => text.endsWith("(applied)")),
      { timeoutMs: PATIENT_MS, what: "the card to say applied" },
    );
  });
});

/** The built-in simulator of a gateway, by the address it prints. */
function builtIn(gateway: GatewayProcess) {
  const [, url = ""] = /nothing here is real Slack: (http:\S+)/.exec(gateway.stdout) ?? [];
  return createSimulatorClient(url);
}
