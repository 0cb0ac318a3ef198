import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ApprovalSettings } from "../../../src/core/domain/manifest.ts";
import type { Conversation, DecisionVerb, InboundClick, Person } from "../../../src/core/domain/message.ts";
import { decideByApi } from "../../../src/core/flow/decide.ts";
import { receiveInbound } from "../../../src/core/flow/receiveInbound.ts";
import { findDecision } from "../../../src/core/store/decisions.ts";
import { createFakeDirectory } from "../../helpers/core/directory.ts";
import { ANA, BEN, clickCard, createTestCore, newThread, post, type TestCore } from "../../helpers/core.ts";

const CY: Person = { provider: "slack", workspaceId: "T1", userId: "U_CY", name: "Cy" };
const BEN_OF_T2: Person = { ...BEN, workspaceId: "T2" };
const FINANCE = { slack: { users: [], usergroups: ["S_FIN"] } };
const ANYWAY = "Whether you may decide this could not be checked just now, and nothing changed; try again in a moment.";

describe("who may decide, asked of the platform at the click", () => {
  const directory = createFakeDirectory();
  let t: TestCore;
  beforeAll(async () => {
    t = await createTestCore();
  });
  beforeEach(async () => {
    await t.reset();
    directory.reset();
    for (const [id, name] of [
      [ANA.userId, "Ana"],
      [BEN.userId, "Ben"],
      [CY.userId, "Cy"],
    ] as const)
      directory.users.set(id, { name });
    directory.groups.set("S_FIN", { name: "@finance", members: [BEN.userId] });
  });
  afterAll(() => t.close());

  /** A card for Ana's change, under these rules. */
  async function proposed(approvals: Partial<ApprovalSettings>) {
    await t.deploy({ id: "dpl_2", approvals });
    const thread = newThread();
    t.model.script({ calls: [{ tool: "attach", input: { n: 1 } }] }, { text: "It waits." });
    const { sessionId } = (await t.receive(post(thread, "attach it"))) as { sessionId: string };
    await t.drain();
    const card = t.lastCard();
    const click = (by: Person, verb: DecisionVerb = "approve", at: Conversation = thread) =>
      receive(clickCard(at, card, verb, by));
    return { thread, sessionId, card, click };
  }
  async function receive(click: InboundClick) {
    const received = await receiveInbound({ ...t.core, directories: { slack: directory } }, click);
    await t.wakes.ring(received.wakes);
    await t.drain();
    return received;
  }
  const statusOf = async ({ card }: { card: { decisionId: string } }) =>
    (await findDecision(t.core.pool, card.decisionId))?.status;
  const notes = () =>
    t.chat.posts.flatMap(({ message }) => (message.kind === "notice" ? [[message.to.userId, message.text]] : []));
  const rightOf = async (sessionId: string, type: string) =>
    (await t.eventsOf(sessionId)).find((event) => event.type === type)?.data["right"];

  it("A7 a member of a named group decides, and the record says by which group", async () => {
    const card = await proposed({ deciders: FINANCE });
    await card.click(BEN);
    expect(await statusOf(card)).toBe("applied");
    expect(await rightOf(card.sessionId, "approval.approved")).toEqual({ via: "usergroup", group: "S_FIN" });
    expect(directory.asked.sort()).toEqual(["members S_FIN", `user ${BEN.userId}`]);
  });

  it.each([
    ["the requester", {}, ANA, { via: "requester" }],
    ["somebody named", { deciders: { slack: { users: [BEN.userId], usergroups: ["S_FIN"] } } }, BEN, { via: "user" }],
  ] as const)("A7 %s decides without a word to the platform, and the record says by which right", async (...row) => {
    const [, approvals, who, right] = row;
    const card = await proposed(approvals);
    await card.click(who, "reject");
    expect(await statusOf(card)).toBe("rejected");
    expect(await rightOf(card.sessionId, "approval.rejected")).toEqual(right);
    expect(directory.asked).toEqual([]);
  });

  it("A7 over the API the record says that the key's holder vouched", async () => {
    const { card, sessionId } = await proposed({ deciders: FINANCE });
    const by: Person = { provider: "api", workspaceId: "api", userId: "ops" };
    await t.wakes.ring((await decideByApi(t.core, { decisionId: card.decisionId, verb: "approve", by })).wakes);
    expect(await rightOf(sessionId, "approval.approved")).toEqual({ via: "api" });
    expect(directory.asked).toEqual([]);
  });

  it("A7 a stranger is told whom to ask, and nothing changes", async () => {
    const deciders = { slack: { users: ["T2/U_DAN", CY.userId], usergroups: ["S_FIN", "S_GONE"] } };
    const card = await proposed({ deciders });
    await card.click(ANA);
    expect(await statusOf(card)).toBe("pending");
    expect(notes()).toEqual([
      [ANA.userId, "You may not decide this. Only U_DAN, Cy, a member of @finance, or a member of S_GONE may."],
    ]);
  });

  it("A7 of many deciders a stranger is told the first five", async () => {
    const users = Array.from({ length: 8 }, (_, n) => `U_${n}`);
    const card = await proposed({ deciders: { slack: { users, usergroups: [] } } });
    await card.click(ANA);
    expect(notes()).toEqual([[ANA.userId, "You may not decide this. Only U_0, U_1, U_2, U_3, U_4, or 3 more may."]]);
    expect(directory.asked).toHaveLength(5);
  });

  it("A7 four eyes: the requester decides neither by name nor as a member, and is told why", async () => {
    directory.groups.set("S_FIN", { name: "@finance", members: [ANA.userId, BEN.userId] });
    const deciders = { slack: { users: [ANA.userId], usergroups: ["S_FIN"] } };
    const card = await proposed({ deciders, requesterMayDecide: false });
    for (const verb of ["approve", "reject", "run-again"] as const) await card.click(ANA, verb);
    expect(await statusOf(card)).toBe("pending");
    const told = [ANA.userId, "You asked for this, so you may not decide it. Only a member of @finance may."];
    expect(notes()).toEqual([told, told, told]);
    expect(directory.asked).not.toContain("members S_FIN");
    await card.click(BEN);
    expect(await statusOf(card)).toBe("applied");
  });

  it.each<[string, () => void, Person]>([
    ["of no named group", () => {}, CY],
    ["of another workspace, whose id is a member's", () => {}, BEN_OF_T2],
    ["whom the platform calls another workspace's", () => setUser({ workspaceId: "T2" }), BEN],
    ["who was deactivated", () => setUser({ active: false }), BEN],
    ["whom the platform does not know", () => void directory.users.delete(BEN.userId), BEN],
    ["of a group that is gone", () => void directory.groups.delete("S_FIN"), BEN],
  ])("A7 22 somebody %s decides nothing", async (_, change, who) => {
    const card = await proposed({ deciders: FINANCE });
    change();
    await card.click(who);
    expect(await statusOf(card)).toBe("pending");
    expect(notes()).toEqual([[who.userId, expect.stringMatching(/^You may not decide this\. Only a member of /)]]);
  });
  const setUser = (over: object) => void directory.users.set(BEN.userId, { name: "Ben", ...over });

  it.each([
    ["the group's members", "members"],
    ["the person, though the group has them", "user"],
  ])(
    "A7 fails closed where the platform cannot say %s; the person may try again, and decides once it can",
    async (_, what) => {
      const card = await proposed({ deciders: FINANCE });
      directory.silent.add(what);
      await card.click(BEN);
      expect(await statusOf(card)).toBe("pending");
      expect(notes()).toEqual([[BEN.userId, ANYWAY]]);
      directory.silent.clear();
      await card.click(BEN);
      expect(await statusOf(card)).toBe("applied");
    },
  );

  it("A7 one group that cannot be asked takes nothing from a member of another, and makes nobody else a stranger", async () => {
    directory.groups.set("S_OPS", { name: "@ops", members: [] });
    directory.silent.add("members S_OPS");
    const card = await proposed({ deciders: { slack: { users: [], usergroups: ["S_OPS", "S_FIN"] } } });
    await card.click(CY);
    expect(notes()).toEqual([[CY.userId, ANYWAY]]);
    await card.click(BEN);
    expect(await statusOf(card)).toBe("applied");
  });

  it("A7 where names cannot be looked up, ids stand for them", async () => {
    const card = await proposed({ deciders: FINANCE });
    directory.silent.add("group");
    await card.click(CY);
    expect(notes()).toEqual([[CY.userId, "You may not decide this. Only a member of S_FIN may."]]);
  });

  it("23 the right counts at the click: who loses it before the start has decided", async () => {
    const { card, thread, sessionId } = await proposed({ deciders: FINANCE });
    const core = { ...t.core, directories: { slack: directory } };
    const { wakes } = await receiveInbound(core, clickCard(thread, card, "approve", BEN));
    expect(await statusOf({ card })).toBe("approved");
    directory.groups.set("S_FIN", { name: "@finance", members: [] });
    await t.wakes.ring(wakes);
    await t.drain();
    expect(await statusOf({ card })).toBe("applied");
    expect(await rightOf(sessionId, "approval.approved")).toEqual({ via: "usergroup", group: "S_FIN" });
    await receive(clickCard(thread, card, "approve", BEN));
    expect(notes()).toEqual([[BEN.userId, expect.stringContaining("You may not decide this")]]);
  });

  it("A6 31 a button of another workspace's card is unknown here, whoever presses it", async () => {
    const card = await proposed({ deciders: { slack: { users: [BEN.userId, "T2/U_BEN"], usergroups: ["S_FIN"] } } });
    const elsewhere: Conversation = { ...newThread(), workspaceId: "T2", connectionId: "slack:T2" };
    for (const by of [ANA, BEN, BEN_OF_T2]) await card.click(by, "approve", elsewhere);
    expect(await statusOf(card)).toBe("pending");
    expect(notes().map(([, text]) => text)).toEqual(
      Array(3).fill(expect.stringContaining("nothing under this address")),
    );
    expect(t.runtime.invokes.filter(({ entry }) => entry === "apply")).toEqual([]);
  });

  it("A7 no transaction is open while the platform is asked", async () => {
    const card = await proposed({ deciders: FINANCE });
    const { members } = directory;
    let open: number | null = null;
    directory.members = async (id) => {
      const { rows } = await t.core.pool.query<{ open: number }>(
        `select count(*)::int as open from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
           and backend_type = 'client backend'`,
      );
      open = rows[0]?.open ?? null;
      return members(id);
    };
    await card.click(BEN);
    directory.members = members;
    expect(open).toBe(0);
    expect(await statusOf(card)).toBe("applied");
  });
});
