import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSimulatorClient, type SimulatorClient } from "../../../../src/adapters/slack/simulator/index.ts";
import { button, createSetting, refused, type Setting, section } from "./setting.ts";

let setting: Setting;
let client: SimulatorClient;

beforeEach(async () => {
  setting = await createSetting();
  client = createSimulatorClient(setting.sim.url);
});
afterEach(() => setting.close());

describe("another process drives it", () => {
  test("from a mention to a click and back", async () => {
    const { app, web, sim } = setting;
    const { ts, channel, deliveries } = await client.mention({ person: "ada", channel: "#general", text: "hello" });
    expect(deliveries).toMatchObject([
      { type: "app_mention", attempts: [200] },
      { type: "message", attempts: [200] },
    ]);
    const answered = client.waitFor(({ threads }) => threads.find((thread) => thread.ts === ts)?.messages[1]);
    const blocks = [section("Sure?"), { type: "actions", elements: [button("Yes", { action_id: "yes", value: "1" })] }];
    const metadata = { event_type: "countersign", event_payload: { delivery: "d-1" } };
    await web.chat.postMessage({ channel, thread_ts: ts, text: "Sure?", blocks, metadata });
    const answer = await answered;
    expect(answer).toMatchObject({
      bot: true,
      name: sim.team.botName,
      buttons: [{ text: "Yes", value: "1" }],
      metadata,
      edited: false,
    });
    await client.click({ person: "Bo", channel, ts: answer.ts, button: "Yes" });
    expect(app.received.at(-1)?.payload).toMatchObject({
      type: "block_actions",
      user: { id: sim.people.bo.id },
      actions: [{ action_id: "yes", value: "1" }],
    });
    await client.reply({ person: "ada", channel, ts: answer.ts, text: "thanks" });
    expect((await client.thread(channel, ts))?.messages.map(({ text }) => text)).toEqual([
      `<@${sim.team.botUserId}> hello`,
      "Sure?",
      "thanks",
    ]);
  });

  test("a direct message, and the last delivery once more", async () => {
    await client.dm({ person: "cy", text: "hello" });
    await client.redeliver({ retryNum: 3 });
    const [first, second] = setting.app.received;
    expect(second?.payload.event_id).toBe(first?.payload.event_id);
    expect(second?.headers["x-slack-retry-num"]).toBe("3");
  });

  test("an administrator makes a user group, changes and disables it, and closes an account", async () => {
    const { web, sim } = setting;
    const { ada, bo } = sim.people;
    const { id } = await client.addUsergroup({ handle: "finance", people: ["Ada", bo.id] });
    expect((await web.usergroups.users.list({ usergroup: id })).users).toEqual([ada.id, bo.id]);
    await client.changeUsergroup({ id, people: ["bo"] });
    expect((await client.state()).usergroups).toEqual([{ id, handle: "finance", users: [bo.id], disabled: false }]);
    await client.changeUsergroup({ id, disabled: true });
    expect(await refused(web.usergroups.users.list({ usergroup: id }))).toMatchObject({ error: "no_such_subteam" });
    await client.deactivate("Bo");
    expect((await web.users.info({ user: bo.id })).user).toMatchObject({ deleted: true });
    await expect(client.changeUsergroup({ id: "S0NONE" })).rejects.toThrow("there is no user group S0NONE");
    await expect(client.addUsergroup({ handle: "@ no", people: [] })).rejects.toThrow("400");
  });

  test("a fault strikes the next call", async () => {
    await client.fail({
      method: "chat.postMessage",
      fault: { kind: "okFalse", error: "fatal_error" },
      channel: "general",
    });
    const { general } = setting.sim;
    expect((await refused(setting.web.chat.postMessage({ channel: general, text: "t" }))).error).toBe("fatal_error");
  });

  test.each<[string, (client: SimulatorClient) => Promise<unknown>, string]>([
    ["an unknown person", (c) => c.dm({ person: "zoe", text: "t" }), "nobody here is called zoe"],
    ["an unknown channel", (c) => c.say({ person: "ada", channel: "nowhere", text: "t" }), "no channel nowhere"],
    ["nothing to deliver again", (c) => c.redeliver(), "nothing to deliver again"],
    ["an unknown view", (c) => c.submit({ person: "ada", view: "V1" }), "no open view V1"],
    [
      "a missing button",
      async (c) => {
        const { channel, ts } = await c.say({ person: "ada", channel: "general", text: "t" });
        await c.click({ person: "ada", channel, ts, button: "Go" });
      },
      "has no button",
    ],
  ])("%s is refused in a sentence", async (_name, act, sentence) => {
    await expect(act(client)).rejects.toThrow(sentence);
  });

  test("waiting ends with the words of what was waited for", async () => {
    await expect(client.waitFor(() => false, { timeoutMs: 50, what: "a miracle" })).rejects.toThrow("a miracle");
    await expect(setting.sim.waitFor(() => false, { timeoutMs: 20, what: "a miracle" })).rejects.toThrow("a miracle");
  });
});

describe("the page", () => {
  test("stands on its own and says that it is not Slack", async () => {
    const page = await fetch(setting.sim.url);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'self'");
    const html = await page.text();
    expect(html).toContain("Slack simulator: nothing here is real Slack");
    const referenced = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path]) => path);
    expect(referenced).toEqual(["data:,", "/simulator/page.css", "/simulator/page.js"]);
    for (const path of referenced.slice(1)) expect((await fetch(`${setting.sim.url}${path}`)).status).toBe(200);
  });

  test("its script parses, and puts nothing on the page as markup", async () => {
    const script = await (await fetch(`${setting.sim.url}/simulator/page.js`)).text();
    expect(() => new Function(script)).not.toThrow();
    expect(script).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/);
  });

  test("a web site under another name, or without JSON, cannot speak for people", async () => {
    const status = (host: string) =>
      new Promise<number | undefined>((resolve, reject) =>
        request(setting.sim.url, { headers: { host } }, (response) => resolve(response.resume().statusCode))
          .on("error", reject)
          .end(),
      );
    expect(await status("evil.example:80")).toBe(403);
    expect(await status("localhost")).toBe(200);
    const form = await fetch(`${setting.sim.url}/simulator/dm`, {
      method: "POST",
      body: new URLSearchParams({ person: "ada", text: "hi" }),
    });
    const plain = await fetch(`${setting.sim.url}/simulator/dm`, {
      method: "POST",
      body: JSON.stringify({ person: "ada", text: "hi" }),
    });
    expect([form.status, plain.status]).toEqual([415, 400]);
    expect(setting.app.received).toEqual([]);
  });
});
