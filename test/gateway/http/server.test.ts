import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createServer, type HttpServer } from "../../../src/gateway/http/server.ts";
import { silentLog } from "../../helpers/log.ts";
import { waitUntil } from "../../helpers/waitUntil.ts";

/** Fastify keeps a connection for 72 s. */
const AT_ONCE_MS = 5_000;

let app: HttpServer;
let agent: Agent;
let url: string;
let asked: number;
let answer: () => void;

beforeEach(async () => {
  asked = 0;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  app = createServer(silentLog);
  app.get("/slow", async () => {
    asked++;
    await answered;
    return { ok: true };
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
});
afterEach(async () => {
  agent.destroy();
  await app.close();
});

async function ask(path: string): Promise<IncomingMessage> {
  const [response] = (await once(get(`${url}${path}`, { agent }), "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return response;
}

it("G2 answers what is in flight when it closes, says that it is the last answer, and ends then", async () => {
  const slow = ask("/slow");
  await waitUntil(() => asked === 1, "the request to be here");
  const from = performance.now();
  const closed = app.close();
  await waitUntil(() => !app.server.listening, "the door to be closed");
  answer();
  expect(await slow).toMatchObject({ statusCode: 200, headers: { connection: "close" } });
  await closed;
  expect(performance.now() - from).toBeLessThan(AT_ONCE_MS);
});

it("ends although a client keeps its connection", async () => {
  await ask("/nothing");
  const from = performance.now();
  await app.close();
  expect(performance.now() - from).toBeLessThan(AT_ONCE_MS);
});
