import { createHmac } from "node:crypto";
import { describe, expect } from "vitest";
import { answerLike, answers, atRest, cardSays, decisionOf, notesTo, proposeChange, shown } from "./conversation.ts";
import { shared, test, type World } from "./world.ts";

const WRITTEN = { customer: "cus_42", plan: "team-monthly" };

describe("the main job", { timeout: 120_000 }, () => {
  shared(
    "A1 A2 A6 A7 A9 Q4 goes from a mention to one write, with the arguments on the card",
    async ({ world, gateway }) => {
      const { sim, billing, ledger } = world;
      const { ada, cy } = sim.people;
      const before = billing.writes();

      const proposed = await proposeChange(world);
      const { root, card, decisionId } = proposed;
      expect(answers(world, root)[0]).toContain("How often should cus_42 be billed for the team plan?");
      for (const text of ["Move Acme to team-monthly", "Charged now"]) expect(shown(world, card)).toContain(text);

      await cy.click(card, { buttonText: "Approve" });
      expect(await notesTo(world, cy, 1)).toEqual([expect.stringContaining("You may not decide this")]);
      expect(await decisionOf(world, gateway, proposed)).toMatchObject({ status: "pending", attempts: [] });
      expect(ledger.writes(decisionId)).toEqual([]);

      const approve = sim.buttons(card)[0];
      await ada.click(card, { buttonText: "Approve" });
      await cardSays(world, proposed, "applied");
      await answerLike(world, root, /approved and applied/);

      const input = { customerId: WRITTEN.customer, planId: WRITTEN.plan };
      expect(await decisionOf(world, gateway, proposed)).toMatchObject({
        status: "applied",
        input,
        decidedBy: { userId: ada.id },
        attempts: [{ attempt: 1, outcome: "applied" }],
      });
      expect(ledger.writes(decisionId).map(({ body }) => JSON.parse(body))).toEqual([WRITTEN]);
      expect(billing.writes()).toBe(before + 1);

      expect(sim.buttons(card)).toEqual([]);
      expect(shown(world, card)).toContain(`<@${ada.id}>`);
      if (approve) await ada.rawClick(card, approve);
      expect(await notesTo(world, ada, 1)).toEqual([expect.stringMatching(/Already decided by .+: it is applied/)]);
      await atRest(world);
      expect(ledger.writes(decisionId)).toHaveLength(1);
    },
  );

  shared("10 G3 a click that is delivered three times is one write and no second answer", async ({ world }) => {
    const { sim, ledger } = world;
    const { ada } = sim.people;
    const before = sim.ephemerals.length;
    const proposed = await proposeChange(world);
    const click = await ada.click(proposed.card, { buttonText: "Approve" });
    await Promise.all([1, 2].map((retryNum) => sim.redeliver(click, { retryNum })));
    await cardSays(world, proposed, "applied");
    await atRest(world);
    expect(ledger.writes(proposed.decisionId)).toHaveLength(1);
    expect(sim.ephemerals.slice(before)).toEqual([]);
    expect(click.attempts.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  shared(
    "11 A6 A7 of clicks that come at once one decides, and every other is answered",
    async ({ world, gateway }) => {
      const { sim, ledger } = world;
      const { ada, bo } = sim.people;
      const [toAda, toBo] = [ada, bo].map((person) => sim.ephemerals.filter(({ user }) => user === person.id).length);
      const proposed = await proposeChange(world);
      await Promise.all([ada, bo, ada].map((person) => person.click(proposed.card, { buttonText: "Approve" })));
      await cardSays(world, proposed, "applied");
      expect((await notesTo(world, ada, (toAda ?? 0) + 1)).at(-1)).toMatch(/Already decided by /);
      expect((await notesTo(world, bo, (toBo ?? 0) + 1)).at(-1)).toMatch(/You may not decide this/);
      await atRest(world);
      expect(ledger.writes(proposed.decisionId)).toHaveLength(1);
      expect((await decisionOf(world, gateway, proposed)).attempts).toHaveLength(1);
    },
  );

  test("11 12 A4 of two deciders who say yes and no at once one wins and is named on the card", async ({ world }) => {
    const { sim, ledger, project } = world;
    const { ada, bo } = sim.people;
    const deciders = JSON.stringify({ slack: { users: [ada.id, bo.id] } });
    await project.change("project.ts", 'deciders: "requester"', `deciders: ${deciders}`);
    await world.start();
    const proposed = await proposeChange(world);
    await Promise.all([
      ada.click(proposed.card, { buttonText: "Approve" }),
      bo.click(proposed.card, { buttonText: "Reject" }),
    ]);
    const note = await sim.waitFor(() => sim.ephemerals.at(0), { timeoutMs: 60_000, what: "a note to who lost" });
    const [winner, status] = note.user === bo.id ? [ada, "applied"] : [bo, "rejected"];
    await cardSays(world, proposed, status);
    await atRest(world);
    expect(shown(world, proposed.card)).toContain(`<@${winner.id}>`);
    expect(ledger.writes()).toHaveLength(status === "applied" ? 1 : 0);
    expect(sim.ephemerals).toHaveLength(1);
  });
});

describe("a write that does not go well", { timeout: 120_000 }, () => {
  shared("A5 one that the target refuses has failed, and the thread is told so", async ({ world, gateway }) => {
    const { billing, ledger, sim } = world;
    billing.faults.push("refuse");
    const before = billing.writes();
    const proposed = await approved(world);
    await cardSays(world, proposed, "failed");
    await answerLike(world, proposed.root, /failed, and nothing was written/);
    expect(await decisionOf(world, gateway, proposed)).toMatchObject({
      status: "failed",
      error: { code: "apply_refused" },
    });
    expect(sim.buttons(proposed.card)).toEqual([]);
    expect(billing.writes()).toBe(before);
    await atRest(world);
    expect(ledger.writes(proposed.decisionId)).toHaveLength(1);
  });

  shared.for(["fail-before", "fail-after", "reset-after"] as const)(
    "25 A5 one that ends in %s is unconfirmed, is not repeated by itself, and is by a person under the same key",
    async (fault, { world, gateway }) => {
      const { billing, ledger, sim } = world;
      billing.faults.push(fault);
      const before = billing.writes();
      const proposed = await approved(world);
      await cardSays(world, proposed, "unconfirmed");
      await answerLike(world, proposed.root, /never reported back/);
      expect(billing.writes()).toBe(before + (fault === "fail-before" ? 0 : 1));
      expect(sim.buttons(proposed.card).map(({ text }) => text)).toEqual(["Run again"]);

      // Another write goes its whole way meanwhile: whoever repeated the first would have done so by then.
      await cardSays(world, await approved(world), "applied");
      expect(ledger.writes(proposed.decisionId)).toHaveLength(1);
      expect(await decisionOf(world, gateway, proposed)).toMatchObject({
        status: "unconfirmed",
        attempts: [{ attempt: 1 }],
      });

      await sim.people.ada.click(proposed.card, { buttonText: "Run again" });
      await cardSays(world, proposed, "applied");
      await atRest(world);
      expect(ledger.writes(proposed.decisionId)).toHaveLength(2);
      expect(billing.writes()).toBe(before + 2);
    },
  );
});

describe("requests that are not Slack's", { timeout: 120_000 }, () => {
  const body = JSON.stringify({
    type: "event_callback",
    event_id: "Ev1",
    team_id: "T1",
    event: { type: "app_mention" },
  });
  const now = () => Math.floor(Date.now() / 1000);
  const sign = (secret: string, text: string, timestamp: number): Record<string, string> => ({
    "x-slack-request-timestamp": String(timestamp),
    "x-slack-signature": `v0=${createHmac("sha256", secret).update(`v0:${timestamp}:${text}`).digest("hex")}`,
  });
  const forged: Record<string, (secret: string) => Record<string, string>> = {
    unsigned: () => ({}),
    "signed with another secret": () => sign("another", body, now()),
    old: (secret) => sign(secret, body, now() - 301),
    "from the future": (secret) => sign(secret, body, now() + 360),
    altered: (secret) => sign(secret, body.replace("Ev1", "Ev2"), now()),
  };

  shared.for(Object.keys(forged))("G1 %s: 401, and nothing is stored", async (kind, { world, gateway }) => {
    const before = await stored(world);
    const headers = { "content-type": "application/json", ...forged[kind]?.(world.sim.signingSecret) };
    const { status } = await fetch(`${gateway.url}/slack/events`, { method: "POST", headers, body });
    expect([status, await stored(world)]).toEqual([401, before]);
  });

  shared("G1 a body of 1 MiB is read, and one byte more is answered 413", async ({ world, gateway }) => {
    const before = await stored(world);
    const post = (bytes: number) => {
      const start = '{"type":"event_callback","filler":"';
      const long = `${start}${"x".repeat(bytes - start.length - 2)}"}`;
      const headers = { "content-type": "application/json", ...sign(world.sim.signingSecret, long, now()) };
      return fetch(`${gateway.url}/slack/events`, { method: "POST", headers, body: long });
    };
    expect((await post(2 ** 20)).status).toBe(200);
    expect((await post(2 ** 20 + 1)).status).toBe(413);
    expect(await stored(world)).toEqual(before);
  });

  shared("G1 an event of a kind nobody knows is answered 200 and ignored", async ({ world, gateway }) => {
    const before = await stored(world);
    const { sim } = world;
    const event = { type: "planet_aligned", user: sim.people.ada.id, channel: sim.general };
    const told = await sim.deliverRaw({ type: "event_callback", event_id: "Ev3", team_id: sim.team.id, event });
    expect(told.attempts.map(({ status }) => status)).toEqual([200]);
    expect(await stored(world)).toEqual(before);
    expect(gateway.stderr).not.toContain("planet_aligned");
  });
});

async function approved(world: World) {
  const proposed = await proposeChange(world);
  await world.sim.people.ada.click(proposed.card, { buttonText: "Approve" });
  return proposed;
}

async function stored({ db }: World): Promise<unknown> {
  const { rows } = await db.pool.query(
    "select (select count(*) from inbox) as inbox, (select count(*) from sessions) as sessions",
  );
  return rows[0];
}
