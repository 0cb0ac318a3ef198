import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { connect, createServer as createTcpServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CountersignError } from "../../../src/core/domain/errors.ts";
import type { ConnectionManifest } from "../../../src/core/domain/manifest.ts";
import {
  type Connections,
  type ConnectionsOptions,
  createConnections,
  type TrafficEvent,
} from "../../../src/core/egress/connections.ts";
import type { LeaseRequest } from "../../../src/core/ports.ts";

const LEASE: LeaseRequest = { deploymentId: "dpl_1", agentId: "support", sessionId: "ses_1" };
const SECRET = "sk-very-secret";

const closing: (() => Promise<void>)[] = [];
const logged: string[] = [];
const events: TrafficEvent["outcome"][] = [];
const note = (fields: object, message: string) => void logged.push(JSON.stringify({ fields, message }));
const log = { debug: note, info: note, warn: note, error: note };

/** The upstream's last requests, and how it answers the next ones. */
const got: { method?: string; url?: string; headers: IncomingMessage["headers"]; body: string }[] = [];
let respond: RequestListener;
let origin: string;
let connections: Connections;
let token: string;

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

async function start(
  over: Partial<ConnectionsOptions> & { manifest?: Partial<ConnectionManifest> } = {},
): Promise<void> {
  const { manifest, ...options } = over;
  const connection: ConnectionManifest = {
    id: "billing",
    origin,
    headers: [{ name: "Authorization", secret: "BILLING_KEY", prefix: "Bearer ", suffix: "" }],
    redirectOrigins: [],
    ...manifest,
  };
  connections = await createConnections({
    connectionsOf: async ({ agentId }) => (agentId === LEASE.agentId ? [connection] : []),
    readSecret: async (name) => (name === "BILLING_KEY" ? SECRET : null),
    allowLoopback: true,
    allowPrivate: false,
    log,
    onTraffic: ({ outcome }) => events.push(outcome),
    ...options,
  });
  closing.push(() => connections.close());
  token = connections.issueToken();
  connections.lease(token, LEASE);
}

beforeEach(async () => {
  for (const list of [got, logged, events]) list.length = 0;
  respond = (_request, response) => response.end("ok");
  const upstream = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      got.push({
        ...(request.method && { method: request.method }),
        ...(request.url && { url: request.url }),
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      respond(request, response);
    });
  });
  origin = `http://127.0.0.1:${await listen(upstream)}`;
});

afterEach(async () => {
  // What reaches a log never holds the secret, whatever the test was about (C3).
  expect(logged.join()).not.toContain(SECRET);
  await Promise.all(closing.splice(0).map((close) => close()));
});

const post = (body: unknown, { bearer = token, id = "billing" } = {}) =>
  fetch(`${connections.url}/${id}/fetch`, {
    method: "POST",
    headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    redirect: "manual",
  });

/** What went wrong, as the runtime reads it; null when the answer is the target's own. */
async function refusal(response: Response): Promise<string | null> {
  const code = response.headers.get("x-countersign-error");
  const body = await response.text();
  expect(body).not.toContain(SECRET);
  if (code !== null) expect(JSON.parse(body)).toEqual({ error: { code, message: expect.stringMatching(/\.$/) } });
  return code;
}

describe("C1 a request through a connection", () => {
  it("C1 leaves with the secret the runtime never had, and its answer is the target's own", async () => {
    await start();
    respond = (_request, response) =>
      response.writeHead(418, { "x-teapot": "yes", "content-type": "text/plain" }).end("short and stout");
    const response = await post({
      method: "POST",
      path: "/v1/plans?x=1",
      headers: { "Idempotency-Key": "dec_1" },
      body: '{"plan":"ü"}',
    });
    expect(response.status).toBe(418);
    expect(response.headers.get("x-teapot")).toBe("yes");
    expect(await response.text()).toBe("short and stout");
    expect(got).toMatchObject([
      {
        method: "POST",
        url: "/v1/plans?x=1",
        body: '{"plan":"ü"}',
        headers: { authorization: `Bearer ${SECRET}`, "idempotency-key": "dec_1" },
      },
    ]);
  });

  it.each(["GET", "DELETE", "OPTIONS", "PATCH"])(
    "C1 a body of a %s arrives as one, not as a request of its own",
    async (method) => {
      await start();
      const smuggled = "GET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n";
      expect((await post({ method, path: "/", body: smuggled })).status).toBe(200);
      expect(got).toMatchObject([{ method, body: smuggled }]);
    },
  );

  it.each([204, 304])("C1 passes on a %i, which has no body", async (status) => {
    await start();
    respond = (_request, response) => response.writeHead(status).end();
    expect((await post({ path: "/" })).status).toBe(status);
  });

  it("C1 makes every kind of header, each from its own secret and scope", async () => {
    const readSecret = vi.fn(async (name: string, scope?: string) => `${name}/${scope ?? "none"}`);
    await start({
      readSecret,
      manifest: {
        headers: [
          { name: "X-Plain", literal: "plain" },
          { name: "X-Key", secret: "KEY", scope: "eu", prefix: "<", suffix: ">" },
        ],
      },
    });
    await post({ path: "/" });
    expect(got[0]?.headers).toMatchObject({ "x-plain": "plain", "x-key": "<KEY/eu>" });
    expect(readSecret.mock.calls).toEqual([["KEY", "eu"]]);
  });

  it("C1 a token is good for its lease alone", async () => {
    await start();
    const unleased = connections.issueToken();
    for (const bearer of ["nonsense", unleased, ""]) {
      const response = await post({ path: "/" }, { bearer });
      expect([response.status, await refusal(response)]).toEqual([401, "connection_unauthorized"]);
    }
    connections.lease(token, null);
    expect((await post({ path: "/" })).status).toBe(401);
    connections.lease(token, { ...LEASE, agentId: "another" });
    expect(await refusal(await post({ path: "/" }))).toBe("connection_unknown");
    expect(got).toEqual([]);
  });

  it("C1 is reached on loopback and nowhere else", async () => {
    await start();
    expect(new URL(connections.url).hostname).toBe("127.0.0.1");
    expect(
      await refusal(await fetch(`${connections.url}/billing/fetch`, { headers: { authorization: `Bearer ${token}` } })),
    ).toBe("connection_unknown");
  });
});

describe("C2 what an agent may not", () => {
  it("C2 everything is checked before a secret is read", async () => {
    const readSecret = vi.fn(async () => SECRET);
    await start({ readSecret, manifest: { pathPrefix: "/v1", methods: ["GET"] } });
    const refused = [
      await post({ path: "/admin" }),
      await post({ path: "/v1/%2e%2e/admin" }),
      await post({ method: "DELETE", path: "/v1/x" }),
      await post({ path: "/v1/x" }, { id: "other" }),
      await post({ path: 7 }),
      await post({ path: "/v1/x", headers: { a: 1 } }),
      await post({ path: "/v1/x", body: {} }),
      await post("not json"),
      await post({ path: "/v1/x", headers: { "bad name": "x" } }),
      await post({ path: "/v1/x", headers: { x: "a\r\nauthorization: mine" } }),
    ];
    expect(await Promise.all(refused.map(refusal))).toEqual([
      "connection_path_refused",
      "connection_path_refused",
      "connection_method_refused",
      "connection_unknown",
      "connection_bad_request",
      "connection_bad_request",
      "connection_bad_request",
      "connection_bad_request",
      "connection_bad_request",
      "connection_bad_request",
    ]);
    expect(readSecret).not.toHaveBeenCalled();
    expect(got).toEqual([]);
  });

  it("C2 an agent's own credentials and connection headers do not reach the target", async () => {
    await start({ manifest: { headers: [{ name: "X-Api-Key", secret: "BILLING_KEY", prefix: "", suffix: "" }] } });
    const mine = {
      Authorization: "mine",
      Cookie: "mine",
      "X-Api-Key": "mine",
      Host: "mine",
      "Proxy-Authorization": "mine",
      "Transfer-Encoding": "chunked",
      "Content-Length": "99",
      Connection: "upgrade",
      "X-Other": "kept",
    };
    await post({ method: "POST", path: "/", headers: mine, body: "four" });
    expect(got[0]?.headers).toEqual({
      "x-other": "kept",
      "x-api-key": SECRET,
      "accept-encoding": "identity",
      host: new URL(origin).host,
      "content-length": "4",
      connection: expect.stringMatching(/close|keep-alive/),
    });
  });

  it("C2 a target cannot pass for the gateway, nor set a cookie", async () => {
    await start();
    respond = (_request, response) =>
      response.writeHead(200, { "x-countersign-error": "forged", "set-cookie": "a=b" }).end();
    const response = await post({ path: "/" });
    expect([response.headers.get("x-countersign-error"), response.headers.get("set-cookie")]).toEqual([null, null]);
  });

  it("C2 bodies end at 5 MiB, either way", async () => {
    await start();
    const most = 5 * 1024 * 1024;
    expect((await post({ method: "POST", path: "/", body: "x".repeat(most) })).status).toBe(200);
    expect(await refusal(await post({ method: "POST", path: "/", body: "x".repeat(most + 1) }))).toBe(
      "connection_request_too_large",
    );
    expect(await refusal(await post({ method: "POST", path: "/", body: "x".repeat(13 * 1024 * 1024) }))).toBe(
      "connection_request_too_large",
    );
    expect(got).toHaveLength(1);
    respond = (_request, response) => response.end(Buffer.alloc(most, "x"));
    expect((await (await post({ path: "/" })).text()).length).toBe(most);
    respond = (_request, response) => response.end(Buffer.alloc(most + 1));
    expect(await refusal(await post({ path: "/" }))).toBe("connection_response_too_large");
  });

  it("C2 a target has 30 s, here 60 ms, also for the end of its answer", async () => {
    await start({ timeoutMs: 60 });
    respond = () => {};
    expect(await refusal(await post({ path: "/" }))).toBe("connection_timed_out");
    respond = (_request, response) => response.write("and then");
    const late = await post({ path: "/" });
    expect([late.status, await refusal(late)]).toEqual([504, "connection_timed_out"]);
  });

  it("C2 a runtime that hangs up takes its request along", async () => {
    await start();
    const cut = new Promise<void>((resolve) => {
      respond = (request) => {
        request.socket.once("close", resolve);
        hangUp.abort();
      };
    });
    const hangUp = new AbortController();
    const asked = fetch(`${connections.url}/billing/fetch`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ path: "/" }),
      signal: hangUp.signal,
    });
    await expect(asked).rejects.toThrow();
    await cut;
  });

  it("C2 a name that resolves to a private address is refused, whatever it resolved to before", async () => {
    const answers = ["127.0.0.1", "10.0.0.1", "127.0.0.1"];
    const resolveName = vi.fn(async () => [{ address: answers.shift() ?? "10.0.0.1", family: 4 }]);
    await start({ resolveName, manifest: { origin: origin.replace("127.0.0.1", "localhost") } });
    expect((await post({ path: "/" })).status).toBe(200);
    expect(await refusal(await post({ path: "/" }))).toBe("connection_address_refused");
    expect((await post({ path: "/" })).status).toBe(200);
    // One answer a request: what was judged is what the socket connected to.
    expect(resolveName).toHaveBeenCalledTimes(3);
    expect(got).toHaveLength(2);
  });

  it("C2 a public name bound to loopback is refused also where loopback is allowed", async () => {
    const resolveName = async () => [{ address: "127.0.0.1", family: 4 }];
    await start({ resolveName, manifest: { origin: "https://rebound.example" } });
    expect(await refusal(await post({ path: "/" }))).toBe("connection_address_refused");
  });

  it("C2 loopback is refused in production", async () => {
    await start({ allowLoopback: false });
    expect(await refusal(await post({ path: "/" }))).toBe("connection_origin_refused");
    expect(got).toEqual([]);
  });
});

describe("C2 redirects", () => {
  const redirectOnce = (status: number, location: string) => {
    respond = (request, response) =>
      request.url === "/from" ? response.writeHead(status, { location }).end() : response.end("there");
  };

  it("C2 are followed on the own origin with the secret, and with the method as fetch has it", async () => {
    await start();
    for (const [status, method, then] of [
      [301, "POST", "GET"],
      [302, "POST", "GET"],
      [303, "PUT", "GET"],
      [307, "POST", "POST"],
      [308, "PUT", "PUT"],
      [302, "DELETE", "DELETE"],
    ] as const) {
      got.length = 0;
      redirectOnce(status, "/to");
      const headers = { "content-type": "application/json" };
      expect(await (await post({ method, path: "/from", headers, body: "{}" })).text()).toBe("there");
      expect(got[1]).toMatchObject({
        method: then,
        url: "/to",
        body: then === "GET" ? "" : "{}",
        headers: { authorization: `Bearer ${SECRET}` },
      });
      expect("content-type" in (got[1]?.headers ?? {})).toBe(then !== "GET");
    }
  });

  it("C2 lead to a declared origin without the secret, and nowhere else", async () => {
    const elsewhere: IncomingMessage["headers"][] = [];
    const other = createServer((request, response) => {
      elsewhere.push(request.headers);
      response.end("elsewhere");
    });
    const otherOrigin = `http://127.0.0.1:${await listen(other)}`;
    await start({ manifest: { redirectOrigins: [otherOrigin] } });
    redirectOnce(302, `${otherOrigin}/file`);
    expect(await (await post({ path: "/from", headers: { "x-mine": "1" } })).text()).toBe("elsewhere");
    expect(elsewhere).toMatchObject([{ "x-mine": "1" }]);
    expect(JSON.stringify(elsewhere)).not.toContain(SECRET);

    await connections.close();
    await start();
    expect(await refusal(await post({ path: "/from" }))).toBe("connection_redirect_refused");
    expect(elsewhere).toHaveLength(1);
  });

  it("C2 back from another origin the secret is attached again, after the checks", async () => {
    const other = createServer((_request, response) => response.writeHead(302, { location: `${origin}/admin` }).end());
    const otherOrigin = `http://127.0.0.1:${await listen(other)}`;
    await start({ manifest: { redirectOrigins: [otherOrigin], pathPrefix: "/from" } });
    redirectOnce(302, `${otherOrigin}/`);
    expect(await refusal(await post({ path: "/from" }))).toBe("connection_redirect_refused");
    expect(got).toHaveLength(1);
  });

  it("C2 end after five", async () => {
    await start();
    respond = (_request, response) => response.writeHead(302, { location: "/again" }).end();
    expect(await refusal(await post({ path: "/from" }))).toBe("connection_too_many_redirects");
    expect(got).toHaveLength(6);
  });
});

describe("C3 secrets", () => {
  it("C3 a missing or unusable one is named, and nothing is sent", async () => {
    for (const [readSecret, code] of [
      [async () => null, "connection_secret_missing"],
      [async () => `${SECRET}\nx: y`, "connection_secret_invalid"],
      [
        () =>
          Promise.reject(new CountersignError("config_invalid", "BILLING_KEY was written under another master key.")),
        "connection_secret_invalid",
      ],
    ] as const) {
      await start({ readSecret });
      const response = await post({ path: "/" });
      expect(await response.clone().text()).toContain("BILLING_KEY");
      expect(await refusal(response)).toBe(code);
      await connections.close();
    }
    expect(got).toEqual([]);
  });

  it("C3 what broke inside reaches neither the runtime nor the log with its words", async () => {
    await start({ readSecret: () => Promise.reject(new Error(`row ${SECRET}`)) });
    expect(await refusal(await post({ path: "/" }))).toBe("connection_internal");
    expect(logged.join()).toContain("egress broke");
  });
});

describe("A5 the traffic of an attempt", () => {
  const sent = (method: string, status: number) => {
    respond = (_request, response) => response.writeHead(status).end();
    return post({ method, path: "/" });
  };

  it("A5 counts every request that is not GET or HEAD, with its status", async () => {
    await start();
    for (const [method, status] of [
      ["GET", 200],
      ["HEAD", 404],
      ["POST", 201],
      ["DELETE", 404],
      ["OPTIONS", 500],
    ] as const)
      await sent(method, status);
    expect(connections.traffic.of(token)).toEqual({
      writes: [{ status: 201 }, { status: 404 }, { status: 500 }],
      opaque: 0,
    });
    connections.traffic.begin(token);
    expect(connections.traffic.of(token)).toEqual({ writes: [], opaque: 0 });
  });

  it("A5 a write without an answer has no status", async () => {
    await start({ timeoutMs: 60 });
    respond = (request) => request.socket.destroy();
    expect(await refusal(await post({ method: "POST", path: "/" }))).toBe("connection_unreachable");
    respond = () => {};
    expect(await refusal(await post({ method: "PUT", path: "/" }))).toBe("connection_timed_out");
    expect(connections.traffic.of(token).writes).toEqual([{ status: null }, { status: null }]);
  });

  it("A5 a redirected write counts where it went, so that a 4xx behind it proves nothing", async () => {
    await start();
    respond = (request, response) =>
      request.url === "/" ? response.writeHead(303, { location: "/to" }).end() : response.writeHead(404).end();
    expect((await post({ method: "POST", path: "/" })).status).toBe(404);
    expect(connections.traffic.of(token).writes).toEqual([{ status: 303 }]);
  });

  it("A5 what was refused, or found nobody listening, was not sent", async () => {
    const free = createTcpServer();
    await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve));
    const address = free.address();
    await new Promise((resolve) => free.close(resolve));
    const nobody = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
    await start({ manifest: { origin: nobody, methods: ["POST"] } });
    expect(await refusal(await post({ method: "POST", path: "/" }))).toBe("connection_unreachable");
    expect(await refusal(await post({ method: "PUT", path: "/" }))).toBe("connection_method_refused");
    expect(connections.traffic.of(token).writes).toEqual([]);
  });

  it("A5 a request counts in the attempt that made it, also when the next has begun", async () => {
    await start();
    const arrived = new Promise<() => void>((resolve) => {
      respond = (_request, response) => resolve(() => response.writeHead(201).end());
    });
    const slow = post({ method: "POST", path: "/" });
    const finish = await arrived;
    expect(connections.traffic.of(token).writes).toEqual([{ status: null }]);
    connections.traffic.begin(token);
    finish();
    await slow;
    expect(connections.traffic.of(token).writes).toEqual([]);
  });

  it("S5 tells of each request and its end", async () => {
    await start({ manifest: { methods: ["GET", "POST"] } });
    await sent("POST", 201);
    await sent("PUT", 200);
    expect(events).toEqual([
      { kind: "request" },
      { kind: "response", status: 201 },
      { kind: "request" },
      { kind: "failed", code: "connection_method_refused" },
    ]);
  });
});

describe("closing", () => {
  it("ends what is under way and frees the port", async () => {
    await start();
    respond = () => void connections.close();
    await expect(post({ path: "/" })).rejects.toThrow();
    const { port } = new URL(connections.url);
    const refused = await new Promise<string | undefined>((resolve) => {
      connect(Number(port), "127.0.0.1").once("error", (error: NodeJS.ErrnoException) => resolve(error.code));
    });
    expect(refused).toBe("ECONNREFUSED");
  });
});
