import type { FastifyInstance } from "fastify";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createPool } from "../../../src/core/db/pool.ts";
import { createApiApp } from "../../../src/gateway/http/app.ts";
import { createTcpProxy } from "../../helpers/tcpProxy.ts";
import { API_KEY, createSetting, type Setting } from "./setting.ts";

let setting: Setting;

const chatPlugin = async (app: FastifyInstance): Promise<void> => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.post("/chat/events", async ({ body }) => ({ bytes: (body as Buffer).length }));
  app.get("/chat/broken", async () => {
    throw new Error("the token xoxb-secret was refused");
  });
};

beforeAll(async () => {
  setting = await createSetting({ plugins: [chatPlugin] });
});
afterAll(() => setting.close());

describe("the API key", () => {
  const KEYS: Readonly<Record<string, Record<string, string>>> = {
    missing: {},
    empty: { "x-api-key": "" },
    wrong: { "x-api-key": `${API_KEY.slice(0, -1)}!` },
    "too long": { "x-api-key": `${API_KEY}s` },
    "sent as a bearer": { authorization: `Bearer ${API_KEY}` },
  };
  it.each(Object.entries(KEYS))("is refused when %s, before the body is read", async (_what, headers) => {
    for (const base of ["/api", "/api/managed-agents"]) {
      const answer = await setting.app.inject({
        method: "POST",
        url: `${base}/sessions`,
        headers: { ...headers, "content-type": "application/json" },
        payload: "{",
      });
      expect(answer.statusCode).toBe(401);
      expect(answer.json().error).toEqual({
        code: "unauthorized",
        message: "Send the API key in the x-api-key header.",
      });
    }
  });

  it("is no concern of what chat platforms call", async () => {
    const answer = await setting.app.inject({ method: "POST", url: "/chat/events", payload: "a=b" });
    expect(answer.json()).toEqual({ bytes: 3 });
  });
});

describe("failures", () => {
  it("S7 tells the request's id and nothing of the reason, which goes to the log", async () => {
    const answer = await setting.app.inject("/chat/broken");
    expect(answer.statusCode).toBe(500);
    expect(answer.body).toBe(
      '{"error":{"code":"internal","message":"Something failed inside the gateway; the log has the details under this request\'s id."}}',
    );
    const line = setting.log.lines.at(-1);
    expect(line).toMatchObject({
      level: "error",
      fields: { request: answer.headers["x-request-id"], code: "internal" },
    });
    expect(line?.fields).toHaveProperty("err.message", "the token xoxb-secret was refused");
  });

  it("does not log what the client did wrong", async () => {
    const before = setting.log.lines.length;
    await setting.post("/sessions", { agentId: 5 });
    await setting.get("/sessions/ses_none");
    expect(setting.log.lines.length).toBe(before);
  });

  describe("of the database", () => {
    const ends: (() => Promise<unknown>)[] = [];
    afterEach(async () => {
      for (const end of ends.splice(0).reverse()) await end();
    });

    it("are 503 `unavailable` while it is away, reads and writes alike, and pass with it", async () => {
      const url = new URL(setting.db.url);
      const proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port) });
      ends.push(() => proxy.close());
      url.hostname = "127.0.0.1";
      url.port = String(proxy.port);
      const pool = createPool({ url: url.href, max: 2, applicationName: "test", log: setting.log });
      ends.push(() => pool.end());
      const core = { ...setting.core, pool };
      const app = await createApiApp({ core, log: setting.log, apiKey: API_KEY, ring: async () => {} });
      ends.push(() => app.close());
      const headers = { "x-api-key": API_KEY };
      const read = () => app.inject({ url: "/api/sessions", headers });
      const write = () =>
        app.inject({ method: "POST", url: "/api/sessions", headers, payload: { agentId: "support" } });

      expect((await read()).statusCode).toBe(200);
      await proxy.cut();
      for (const answer of [await read(), await write()]) {
        expect(answer.statusCode).toBe(503);
        expect(answer.json().error.code).toBe("unavailable");
      }
      await proxy.mend();
      expect([(await read()).statusCode, (await write()).statusCode]).toEqual([200, 201]);
    });
  });
});

describe("GET /api/openapi.json", () => {
  it("describes every route, with its parameters, bodies and answers", async () => {
    const answer = await setting.app.inject("/api/openapi.json");
    expect(answer.statusCode).toBe(200);
    const { openapi, servers, paths } = answer.json();
    expect(openapi).toBe("3.1.0");
    expect(servers.map((s: { url: string }) => s.url)).toEqual(["/api", "/api/managed-agents"]);
    const operations = Object.entries<Record<string, { responses: object; parameters?: { name: string }[] }>>(
      paths,
    ).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses, parameters = [] }]) => ({
        route: `${method.toUpperCase()} ${path}`,
        parameters: parameters.map((p) => p.name).join(" "),
        answers: Object.keys(responses).join(" "),
      })),
    );
    expect(operations).toEqual([
      { route: "GET /openapi.json", parameters: "", answers: "200" },
      { route: "POST /sessions", parameters: "idempotency-key", answers: "200 201 400 401 404 409 413 503" },
      { route: "GET /sessions", parameters: "agent agentId status limit cursor", answers: "200 400 401 503" },
      { route: "GET /sessions/{id}", parameters: "id", answers: "200 401 404 503" },
      {
        route: "POST /sessions/{id}/turns",
        parameters: "id idempotency-key",
        answers: "200 202 400 401 404 409 413 503",
      },
      { route: "POST /sessions/{id}/answer", parameters: "id", answers: "202 400 401 404 409 413 503" },
      { route: "POST /sessions/{id}/interrupt", parameters: "id", answers: "200 401 404 409 503" },
      { route: "POST /sessions/{id}/end", parameters: "id", answers: "200 401 404 503" },
      {
        route: "GET /sessions/{id}/events",
        parameters: "after limit id accept last-event-id",
        answers: "200 400 401 404 503",
      },
      { route: "GET /sessions/{id}/results", parameters: "limit cursor id", answers: "200 400 401 404 503" },
      {
        route: "GET /sessions/{id}/turns/{turn}/results",
        parameters: "limit cursor id turn",
        answers: "200 400 401 404 503",
      },
      { route: "GET /sessions/{id}/results/{result}", parameters: "id result", answers: "200 401 404 503" },
      { route: "GET /decisions", parameters: "status session limit cursor", answers: "200 400 401 503" },
      { route: "GET /decisions/{id}", parameters: "id", answers: "200 401 404 503" },
      { route: "POST /decisions/{id}/approve", parameters: "id", answers: "200 400 401 404 409 413 503" },
      { route: "POST /decisions/{id}/reject", parameters: "id", answers: "200 400 401 404 409 413 503" },
      { route: "POST /decisions/{id}/run-again", parameters: "id", answers: "200 400 401 404 409 413 503" },
    ]);
    const word = paths["/decisions/{id}/approve"].post.requestBody.content["application/json"].schema;
    expect([word.required, Object.keys(word.properties)]).toEqual([["by"], ["by", "reason"]]);
    const log = paths["/sessions/{id}/events"].get.responses["200"].content;
    expect(Object.keys(log)).toEqual(["application/json", "text/event-stream"]);
  });
});
