import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  bearer,
  callService,
  connection,
  defineConnection,
  githubApp,
  listServices,
  secretHeader,
  useSecret,
} from "../../../src/core/authoring/index.ts";

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** A gateway on loopback; the environment points to it as a child's does. */
async function gateway(answer: (response: ServerResponse) => void): Promise<Received[]> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    received.push({ method, url, headers, body: JSON.parse(Buffer.concat(chunks).toString() || "{}") });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("OPENCOMPUTER_CONNECTIONS_URL", `http://127.0.0.1:${(server.address() as AddressInfo).port}/connections/`);
  vi.stubEnv("OPENCOMPUTER_CONNECTION_TOKEN", "runtime-token");
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
  });
  return received;
}

const billing = defineConnection({
  id: "billing",
  origin: "https://billing.example.com",
  headers: { authorization: bearer(useSecret("BILLING_API_KEY")) },
});

test("C1 fetch is one POST to the gateway with the runtime's token, and its answer is the target's own", async () => {
  const received = await gateway((response) =>
    response.writeHead(404, { "content-type": "application/json", etag: '"1"' }).end('{"error":"gone"}'),
  );
  const response = await billing.fetch("/customers/1?full=yes", { headers: { "X-Trace": "t" } });
  expect([response.status, response.ok, response.headers.get("etag")]).toEqual([404, false, '"1"']);
  expect(await response.json()).toEqual({ error: "gone" });
  expect(received).toMatchObject([
    { method: "POST", url: "/connections/billing/fetch", headers: { authorization: "Bearer runtime-token" } },
  ]);
  expect(received[0]?.body).toEqual({ method: "GET", path: "/customers/1?full=yes", headers: { "x-trace": "t" } });
});

test.each([
  ["text", '{"a":1}', '{"a":1}', {}],
  ["empty text", "", "", {}],
  ["UTF-8 bytes", new TextEncoder().encode("größe"), "größe", {}],
  [
    "a form",
    new URLSearchParams({ a: "1 2" }),
    "a=1+2",
    { "content-type": "application/x-www-form-urlencoded;charset=UTF-8" },
  ],
])("a body may be %s", async (_kind, body, text, headers) => {
  const received = await gateway((response) => response.end());
  await billing.fetch("/x", { method: "post", body });
  expect(received[0]?.body).toEqual({ method: "POST", path: "/x", headers, body: text });
});

test("a body that is not text, and a path that is not absolute, are refused before anything is sent", async () => {
  const received = await gateway((response) => response.end());
  await expect(billing.fetch("/x", { method: "POST", body: new Uint8Array([0xff]) })).rejects.toThrow(
    "the body is not UTF-8",
  );
  const stream = new ReadableStream() as unknown as string;
  await expect(billing.fetch("/x", { method: "POST", body: stream })).rejects.toThrow("read a stream, form or blob");
  await expect(billing.fetch("https://evil.example/")).rejects.toThrow("is not an absolute path");
  expect(received).toEqual([]);
});

test("an answer of the gateway itself is an error with its code and sentence", async () => {
  await gateway((response) =>
    response
      .writeHead(403, { "x-countersign-error": "connection_path_refused" })
      .end('{"error":{"code":"connection_path_refused","message":"The path is outside."}}'),
  );
  await expect(billing.fetch("/x")).rejects.toMatchObject({
    name: "EgressError",
    code: "connection_path_refused",
    message: "The path is outside.",
  });
});

test("a redirect is the gateway's to follow", async () => {
  const received = await gateway((response) => response.writeHead(302, { location: "/elsewhere" }).end());
  expect((await billing.fetch("/x")).status).toBe(302);
  expect(received.length).toBe(1);
});

test("a signal ends the request", async () => {
  const controller = new AbortController();
  await gateway(() => controller.abort());
  await expect(billing.fetch("/x", { signal: controller.signal })).rejects.toMatchObject({ name: "AbortError" });
});

test("without a gateway, fetch says what a test has to set", async () => {
  await expect(billing.fetch("/x")).rejects.toThrow(
    "set OPENCOMPUTER_CONNECTIONS_URL and OPENCOMPUTER_CONNECTION_TOKEN",
  );
});

test("C4 callService and listServices use the same wire", async () => {
  const received = await gateway((response) => response.end('{"services":[{"service":"github","label":"work"}]}'));
  await callService({ service: "github", label: "work", method: "GET", path: "/user" });
  expect(received[0]).toMatchObject({
    url: "/connections/github/fetch",
    body: { service: "github", label: "work", method: "GET", path: "/user", headers: {} },
  });
  expect(await listServices()).toEqual([{ service: "github", label: "work" }]);
});

test("a definition is frozen and holds names of secrets only", () => {
  expect(billing).toMatchObject({
    kind: "connection",
    id: "billing",
    origin: "https://billing.example.com",
    headers: {
      authorization: {
        kind: "secret-header",
        secret: { kind: "secret", id: "BILLING_API_KEY" },
        prefix: "Bearer ",
        suffix: "",
      },
    },
  });
  expect(Object.isFrozen(billing)).toBe(true);
  expect((billing as unknown as Record<symbol, unknown>)[Symbol.for("countersign.kind")]).toBe("connection");
  expect(secretHeader(useSecret("K", { scope: "user" }), { suffix: "!" })).toEqual({
    kind: "secret-header",
    secret: { kind: "secret", id: "K", scope: "user" },
    prefix: "",
    suffix: "!",
  });
  expect(connection("elsewhere")).toEqual({ kind: "connection", id: "elsewhere" });
});

test.each([
  ["http", { id: "a", origin: "http://a.example" }, "is not https"],
  ["a path in the origin", { id: "a", origin: "https://a.example/v1" }, "has a path"],
  [
    "a literal credential",
    { id: "a", origin: "https://a.example", headers: { Authorization: "Bearer x" } },
    "is a credential in source",
  ],
  ["an unknown method", { id: "a", origin: "https://a.example", methods: ["SEND"] }, "methods is not a list"],
  [
    "a relative prefix",
    { id: "a", origin: "https://a.example", pathPrefix: "v1" },
    "pathPrefix is not an absolute path",
  ],
  [
    "a climbing prefix",
    { id: "a", origin: "https://a.example", pathPrefix: "/v1/../" },
    "pathPrefix is not an absolute path",
  ],
  ["no id", { id: "", origin: "https://a.example" }, "has no usable id"],
])("B5 defineConnection refuses %s", (_title, input, message) => {
  expect(() => defineConnection(input)).toThrow(message);
});

test("useSecret refuses what cannot be a secret's name", () => {
  expect(() => useSecret("billing-key")).toThrow("is no secret's name");
});

test("C5 a managed connection has no fetch, and its permissions are checked", async () => {
  const github = defineConnection({
    id: "github",
    provider: githubApp({ permissions: { contents: "write", metadata: "read" } }),
  });
  await expect(github.fetch("/user")).rejects.toThrow("use git or gh instead");
  expect(() => githubApp({ permissions: { metadata: "write" as "read" } })).toThrow(
    'metadata: "write" is no permission',
  );
  expect(() => githubApp({ permissions: { wiki: "read" } as object })).toThrow('wiki: "read" is no permission');
});
