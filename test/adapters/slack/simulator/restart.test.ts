import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SlackSimulatorOptions } from "../../../../src/adapters/slack/simulator/index.ts";
import { recordingLog } from "../../../helpers/log.ts";
import { waitUntil } from "../../../helpers/waitUntil.ts";
import { button, createSetting, type Setting, section } from "./setting.ts";

let folder: string;
let stateFile: string;
const open: Setting[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-simulator-"));
  stateFile = join(folder, "slack-simulator.json");
});
afterEach(async () => {
  for (const setting of open.splice(0)) await setting.close();
  await rm(folder, { recursive: true });
});

async function start(options: SlackSimulatorOptions = {}): Promise<Setting> {
  const setting = await createSetting({ stateFile, ...options });
  open.push(setting);
  return setting;
}

const kept = async () => JSON.parse(await readFile(stateFile, "utf8"));

describe("a simulator with a state file", () => {
  test("goes on where it stopped: token, people, rooms, threads, blocks and metadata", async () => {
    const first = await start();
    const room = first.sim.addChannel("billing", "group");
    const dan = first.sim.addPerson({ name: "Dan", team: "T0OTHER001" });
    const { ada } = first.sim.people;
    const root = await ada.mention(room.id, "move cus_42");
    const metadata = { event_type: "countersign", event_payload: { delivery: "d1" } };
    const card = await first.web.chat.postMessage({
      channel: room.id,
      thread_ts: root.ts,
      text: "Approve?",
      blocks: [
        section("Approve?"),
        { type: "actions", block_id: "b", elements: [button("Yes", { action_id: "yes" })] },
      ],
      metadata,
    });
    const gone = await ada.reply(root, "never mind");
    await ada.remove(gone);
    await ada.edit(root, "<@U0SIMBOT01> move cus_43");
    await dan.dm("hello");
    const before = [room.id, dan.dmChannel].map((channel) => first.sim.messages(channel));
    await first.close();

    const second = await start();
    expect(second.sim.botToken).toBe(first.sim.botToken);
    expect(second.sim.signingSecret).toBe(first.sim.signingSecret);
    expect([room.id, dan.dmChannel].map((channel) => second.sim.messages(channel))).toEqual(before);
    const thread = await second.web.conversations.replies({
      channel: room.id,
      ts: root.ts,
      include_all_metadata: true,
    });
    expect(thread.messages).toMatchObject([
      { text: "<@U0SIMBOT01> move cus_43", reply_count: 1 },
      { text: "Approve?", metadata },
    ]);
    const click = await second.sim.person("Dan").click({ channel: room.id, ts: card.ts ?? "" }, { buttonText: "Yes" });
    expect(click.attempts).toMatchObject([{ status: 200 }]);
    expect(Number((await second.sim.people.ada.say(room.id, "later")).ts)).toBeGreaterThan(Number(card.ts));
  });

  test("keeps user groups and closed accounts, and one that is given replaces the kept one", async () => {
    const first = await start();
    const { ada, bo } = first.sim.people;
    const { id } = first.sim.roster.addUsergroup("finance", [ada.id]);
    first.sim.roster.deactivate(bo.id);
    await first.close();

    const second = await start();
    expect((await second.web.usergroups.users.list({ usergroup: id })).users).toEqual([ada.id]);
    expect((await second.web.users.info({ user: bo.id })).user).toMatchObject({ deleted: true });
    await second.close();
    const third = await start({ usergroups: [{ id, handle: "finance", users: [bo.id], disabled: false }] });
    expect((await third.web.usergroups.users.list({ usergroup: id })).users).toEqual([bo.id]);
  });

  test("reads what an older version kept, which knew no user groups", async () => {
    const first = await start();
    first.sim.roster.addUsergroup("finance", []);
    await first.close();
    const { usergroups, ...older } = await kept();
    expect(usergroups).toHaveLength(1);
    await writeFile(stateFile, JSON.stringify(older));
    const second = await start();
    expect(second.sim.botToken).toBe(first.sim.botToken);
    expect((await second.web.usergroups.list()).usergroups).toEqual([]);
  });

  test("has written what happened a moment ago, though nobody stopped it", async () => {
    const { sim } = await start();
    await sim.people.ada.say(sim.general, "before the power went");
    const isWritten = () =>
      kept().then(
        ({ messages }) => messages.length === 1,
        () => false,
      );
    await waitUntil(isWritten, "the file to have the message");
    expect((await stat(stateFile)).mode & 0o777).toBe(0o600);
  });

  test("takes a burst of posts together, and leaves no drafts behind", async () => {
    const { sim } = await start();
    const texts = Array.from({ length: 300 }, (_, i) => `post ${i}`);
    for (const text of texts) await sim.people.ada.say(sim.general, text);
    await sim.stop();
    expect((await kept()).messages).toHaveLength(300);
    expect(await readdir(folder)).toEqual(["slack-simulator.json"]);
  });

  test("gives no id again after its clock was set back", async () => {
    const first = await start();
    const { ts } = await first.sim.people.ada.say(first.sim.general, "now");
    await first.close();
    const second = await start({ now: () => Date.now() - 3_600_000 });
    expect((await second.sim.people.ada.say(second.sim.general, "an hour before")).ts > ts).toBe(true);
  });

  test.each([
    ["cut off", '{"version":1,"botTok'],
    ["empty", ""],
    ["of another shape", '{"version":1,"messages":[]}'],
    ["of a later version", '{"version":2}'],
  ])("sets a file aside that is %s, says so, and starts with nothing", async (_, content) => {
    await writeFile(stateFile, content);
    const log = recordingLog();
    const { sim } = await start({ log });
    expect(log.lines.filter(({ level }) => level === "warn")).toEqual([
      {
        level: "warn",
        fields: { path: stateFile, aside: `${stateFile}.damaged` },
        message: "slack simulator: its state file is damaged and was set aside; it starts with nothing",
      },
    ]);
    expect(await readFile(`${stateFile}.damaged`, "utf8")).toBe(content);
    await sim.people.ada.say(sim.general, "afresh");
    await sim.stop();
    expect((await kept()).messages).toMatchObject([{ text: "afresh" }]);
  });

  test("sets a file aside whose messages are in no room of it", async () => {
    const first = await start();
    await first.sim.people.ada.say(first.sim.general, "here");
    await first.close();
    await writeFile(stateFile, JSON.stringify({ ...(await kept()), channels: [] }));
    const { sim } = await start();
    expect(sim.messages(sim.general)).toEqual([]);
  });

  test("goes on, and says so, where it cannot write", async () => {
    const log = recordingLog();
    const { sim } = await start({ log });
    await rm(folder, { recursive: true });
    await writeFile(folder, "in the way of the folder");
    await sim.people.ada.say(sim.general, "still here");
    await sim.stop();
    expect(log.lines.some(({ message }) => message.includes("was not written"))).toBe(true);
    expect(sim.messages(sim.general)).toHaveLength(1);
  });
});

describe("the preferred port", () => {
  let other: Server;
  beforeEach(async () => {
    other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  });
  afterEach(() => void other.close());

  test("is taken where it is free, and another one where it is not", async () => {
    const { port } = other.address() as AddressInfo;
    const elsewhere = await start({ preferredPort: port });
    expect(new URL(elsewhere.sim.url).port).not.toBe(String(port));
    await new Promise((resolve) => other.close(resolve));
    const { sim } = await start({ preferredPort: port, stateFile: join(folder, "other.json") });
    expect(new URL(sim.url).port).toBe(String(port));
  });
});
