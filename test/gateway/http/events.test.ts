import { request } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { SessionEvent } from "../../../src/core/domain/event.ts";
import { appendEvents } from "../../../src/core/store/events.ts";
import { waitUntil } from "../../helpers/waitUntil.ts";
import { API_KEY, createSetting, newSession, type Setting } from "./setting.ts";

let setting: Setting;
let origin: string;

beforeAll(async () => {
  setting = await createSetting({ follow: { pollMs: 10, heartbeatMs: 50, followers: 3 } });
  origin = await setting.app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => setting.close());

/** Appends `count` events that say their number, from `first`. */
const append = (sessionId: string, first: number, count: number) =>
  appendEvents(setting.core.pool, {
    sessionId,
    events: Array.from({ length: count }, (_, i) => ({ type: "tool.progress", data: { n: first + i } })),
  });

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe("GET /sessions/:id/events", () => {
  it("S5 pages ascending from `after`, 500 at most, without gaps", async () => {
    const id = await newSession(setting);
    await append(id, 2, 700);
    const first = await setting.get(`/sessions/${id}/events`);
    const second = await setting.get(`/sessions/${id}/events?after=${first.body.events.at(-1)?.seq}`);
    const third = await setting.get(`/sessions/${id}/events?after=701`);
    expect(first.body.events.map((e) => e.seq)).toEqual(range(1, 500));
    expect(second.body.events.map((e) => e.seq)).toEqual(range(501, 701));
    expect(third.body).toEqual({ events: [] });
    expect(second.body.events[0]).toEqual({
      seq: 501,
      id: `evt_${id.slice(4)}_501`,
      timestamp: expect.stringMatching(/Z$/),
      sessionId: id,
      type: "tool.progress",
      data: { n: 501 },
    });
  });
});

describe("GET /sessions/:id/events, followed", () => {
  const open: Follower[] = [];
  afterEach(async () => {
    for (const follower of open.splice(0)) await follower.leave();
  });

  interface Follower {
    readonly status: number;
    readonly type: string | undefined;
    text(): string;
    events(): SessionEvent[];
    ended(): boolean;
    leave(): Promise<void>;
  }

  async function follow(path: string, headers: Record<string, string> = {}): Promise<Follower> {
    const follower = await new Promise<Follower>((resolve, reject) => {
      const sent = request(
        `${origin}/api${path}`,
        { headers: { "x-api-key": API_KEY, accept: "text/event-stream", ...headers } },
        (response) => {
          let text = "";
          let ended = false;
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => {
            text += chunk;
          });
          response.on("close", () => {
            ended = true;
          });
          response.on("error", () => {});
          resolve({
            status: response.statusCode ?? 0,
            type: response.headers["content-type"],
            text: () => text,
            events: () =>
              [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? "") as SessionEvent),
            ended: () => ended,
            leave: async () => {
              sent.destroy();
              await waitUntil(() => ended, "the client to be gone");
            },
          });
        },
      );
      sent.on("error", reject);
      sent.end();
    });
    open.push(follower);
    return follower;
  }

  const seqs = (follower: Follower) => follower.events().map((e) => e.seq);

  it("tells what was, then what comes, each once and in order", async () => {
    const id = await newSession(setting);
    await append(id, 2, 249);
    const follower = await follow(`/sessions/${id}/events`);
    expect([follower.status, follower.type]).toEqual([200, "text/event-stream"]);
    await waitUntil(() => follower.events().length >= 250, "what was");
    await append(id, 251, 2);
    await waitUntil(() => follower.events().length >= 252, "what came");
    expect(seqs(follower)).toEqual(range(1, 252));
    const page = await setting.get(`/sessions/${id}/events`);
    expect(follower.events()).toEqual(page.body.events);
  });

  it("resumes after Last-Event-ID, which goes before `after`", async () => {
    const id = await newSession(setting);
    await append(id, 2, 9);
    const back = await follow(`/sessions/${id}/events?after=2`, { "last-event-id": "7" });
    const fresh = await follow(`/sessions/${id}/events?after=8`);
    await waitUntil(() => seqs(back).length >= 3 && seqs(fresh).length >= 2, "the rest");
    expect([seqs(back), seqs(fresh)]).toEqual([range(8, 10), range(9, 10)]);
    expect(back.text()).toContain("\n\nid: 8\ndata: {");
  });

  it("keeps a silent connection alive with comments", async () => {
    const follower = await follow(`/sessions/${await newSession(setting)}/events`);
    await waitUntil(() => follower.text().endsWith(": nothing new\n\n: nothing new\n\n"), "two heartbeats");
    expect(seqs(follower)).toEqual([1]);
  });

  it("answers 404 for a session that is not there", async () => {
    const follower = await follow("/sessions/ses_none/events");
    await waitUntil(() => follower.text() !== "", "the answer");
    expect([follower.status, JSON.parse(follower.text()).error.code]).toEqual([404, "not_found"]);
  });

  it("refuses more followers than it can serve, until one leaves", async () => {
    const path = `/sessions/${await newSession(setting)}/events`;
    const [first] = [await follow(path), await follow(path), await follow(path)];
    const refused = await follow(path);
    await waitUntil(() => refused.text() !== "", "the answer");
    expect([refused.status, JSON.parse(refused.text()).error.code]).toEqual([503, "unavailable"]);
    await first?.leave();
    await waitUntil(async () => (await follow(path)).status === 200, "a free place");
  });

  it("ends when the server closes, which waits for nobody", async () => {
    const own = await createSetting({ follow: { pollMs: 60_000 } });
    const url = await own.app.listen({ host: "127.0.0.1", port: 0 });
    const headers = { "x-api-key": API_KEY, accept: "text/event-stream" };
    const response = await fetch(`${url}/api/sessions/${await newSession(own)}/events`, { headers });
    const told = response.text();
    await own.close();
    expect(await told).toMatch(/^retry: 60000\n\n(id: 1\n.*\n\n)?$/);
  });
});
