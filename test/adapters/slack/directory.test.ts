import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSlackDirectory, FRESH_MS } from "../../../src/adapters/slack/directory.ts";
import {
  createSlackSimulator,
  type SlackSimulator,
  type SlackSimulatorOptions,
} from "../../../src/adapters/slack/simulator/index.ts";
import { silentLog } from "../../helpers/log.ts";

let sim: SlackSimulator;
let now: number;
beforeEach(async () => {
  now = 1_767_000_000_000;
  await restart();
});
afterEach(async () => {
  expect(sim.violations).toEqual([]);
  await sim.stop();
});

async function restart(options: SlackSimulatorOptions = {}): Promise<void> {
  await sim?.stop();
  sim = createSlackSimulator(options);
  await sim.start();
}
const directory = () => {
  const { botToken, apiUrl, team } = sim;
  return createSlackDirectory({ botToken, apiUrl, workspaceId: team.id, log: silentLog, clock: { now: () => now } });
};
const calls = () => sim.requests.map(({ method }) => method);
const unknown = (why: RegExp) => ({ found: "unknown", why: expect.stringMatching(why) });

describe("Slack's people and groups", () => {
  it("A7 a person has a name, a workspace, and an account that is open or closed", async () => {
    const { ada, bo } = sim.people;
    const guest = sim.addPerson({ name: "Guest", team: "T0OTHER001" });
    sim.roster.deactivate(bo.id);
    const slack = directory();
    const { id: workspaceId } = sim.team;
    expect(await slack.user(ada.id)).toEqual({ found: true, value: { name: "Ada", workspaceId, active: true } });
    expect(await slack.user(bo.id)).toEqual({ found: true, value: { name: "Bo", workspaceId, active: false } });
    expect(await slack.user(guest.id)).toMatchObject({ value: { workspaceId: "T0OTHER001" } });
    expect(await slack.user("U0NOBODY1")).toEqual({ found: false });
  });

  it("A7 A8 a name hides nothing and fits a sentence", async () => {
    const { id } = sim.addPerson({ name: `Eve\u202e${"x".repeat(200)}` });
    const user = await directory().user(id);
    if (user.found !== true) throw new Error("nobody was found");
    expect(user.value.name).toMatch(/^Eve⟨U\+202E⟩x+…$/);
    expect(user.value.name.length).toBeLessThan(100);
  });

  it("A7 a group has a handle, members, and is in use or disabled", async () => {
    const { ada, bo } = sim.people;
    const finance = sim.roster.addUsergroup("finance", [ada.id, bo.id]);
    const old = sim.roster.addUsergroup("old", [ada.id]);
    sim.roster.changeUsergroup(old.id, { disabled: true });
    const slack = directory();
    expect(await slack.group(finance.id)).toEqual({ found: true, value: { name: "@finance", active: true } });
    expect(await slack.members(finance.id)).toEqual({ found: true, value: [ada.id, bo.id] });
    expect(await slack.group(old.id)).toEqual({ found: true, value: { name: "@old", active: false } });
    expect(await slack.members(old.id)).toEqual({ found: false });
    expect(await slack.group("S0NONE001")).toEqual({ found: false });
    expect(await slack.members("S0NONE001")).toEqual({ found: false });
  });

  it("A7 whoever left a group is in it for 30 seconds more at most, and is asked for once until then", async () => {
    const { ada, bo } = sim.people;
    const { id } = sim.roster.addUsergroup("finance", [ada.id, bo.id]);
    const slack = directory();
    await Promise.all([slack.members(id), slack.members(id)]);
    sim.roster.changeUsergroup(id, { users: [ada.id] });
    now += FRESH_MS - 1;
    expect(await slack.members(id)).toMatchObject({ value: [ada.id, bo.id] });
    expect(calls()).toEqual(["usergroups.users.list"]);
    now += 2;
    expect(await slack.members(id)).toMatchObject({ value: [ada.id] });
    expect(FRESH_MS).toBeLessThanOrEqual(30_000);
  });

  it("A7 a scope that is missing is named, for each method its own", async () => {
    await restart({ scopes: ["chat:write"] });
    const slack = directory();
    expect(await slack.user(sim.people.ada.id)).toEqual(unknown(/lacks the scope users:read; add it to the app/));
    expect(await slack.group("S1")).toEqual(unknown(/lacks the scope usergroups:read/));
    expect(await slack.members("S1")).toEqual(unknown(/lacks the scope usergroups:read/));
  });

  it.each([
    ["refuses", { kind: "okFalse", error: "fatal_error" }, /Slack refused usergroups\.users\.list \(fatal_error\)/],
    ["is down", { kind: "status", status: 503 }, /Slack did not answer usergroups\.users\.list \(http_503\)/],
    ["breaks off", { kind: "resetBefore" }, /Slack did not answer/],
  ] as const)("A7 a Slack that %s cannot say, and is asked again the next time", async (_, fault, why) => {
    const { id } = sim.roster.addUsergroup("finance", [sim.people.ada.id]);
    sim.faults.next("usergroups.users.list", fault);
    const slack = directory();
    expect(await slack.members(id)).toEqual(unknown(why));
    expect(await slack.members(id)).toMatchObject({ found: true });
  });

  it("A7 a Slack that does not answer cannot say, before the click's three seconds are over", async () => {
    const { id } = sim.roster.addUsergroup("finance", []);
    let answer = () => {};
    sim.faults.next("usergroups.users.list", { kind: "hold", until: new Promise<void>((done) => (answer = done)) });
    const asked = performance.now();
    expect(await directory().members(id)).toEqual(unknown(/did not answer/));
    expect(performance.now() - asked).toBeLessThan(3_000);
    answer();
  });

  it("A7 G5 a limit is kept to for as long as Slack says, for its method alone", async () => {
    const { id } = sim.roster.addUsergroup("finance", []);
    sim.faults.next("usergroups.users.list", { kind: "429", retryAfter: 50 });
    const slack = directory();
    for (const passed of [0, 49_999]) {
      now += passed;
      expect(await slack.members(id)).toEqual(unknown(/limits usergroups\.users\.list/));
    }
    expect(await slack.group(id)).toMatchObject({ found: true });
    expect(sim.requestCount("usergroups.users.list")).toBe(1);
    now += 2;
    expect(await slack.members(id)).toMatchObject({ found: true });
  });
});
