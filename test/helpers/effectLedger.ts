import { once } from "node:events";
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request as the target was about to get it. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string | null;
  readonly body: string;
}

export interface Held {
  /** Resolves when the request is here, and not there. */
  readonly arrived: Promise<Call>;
  /** Lets it go on; one whose caller is gone goes nowhere. */
  letGo(): void;
}

/** Stands between the gateway and a target and writes down every request: what was sent, whoever denies it later. */
export interface EffectLedger {
  readonly url: string;
  /** In the order they came. */
  readonly calls: readonly Call[];
  /** Those that are no GET, with one key or with any. */
  writes(idempotencyKey?: string): readonly Call[];
  /** Keeps the next such request on its way. */
  hold(method: string, path: RegExp): Held;
  close(): Promise<void>;
}

interface Trap {
  readonly method: string;
  readonly path: RegExp;
  readonly caught: (call: Call) => void;
  readonly released: Promise<void>;
}

export async function createEffectLedger(target: string): Promise<EffectLedger> {
  const calls: Call[] = [];
  const traps: Trap[] = [];

  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const { method = "", url: path = "" } = request;
    const key = request.headers["idempotency-key"];
    const call: Call = { method, path, idempotencyKey: typeof key === "string" ? key : null, body };
    calls.push(call);
    const trap = traps.findIndex((set) => set.method === method && set.path.test(path));
    const [caught] = trap < 0 ? [] : traps.splice(trap, 1);
    caught?.caught(call);
    await caught?.released;
    if (!request.socket.destroyed) pass(target, request, body, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    writes: (key) => calls.filter((c) => c.method !== "GET" && (key === undefined || c.idempotencyKey === key)),
    hold(method, path) {
      const caught = deferred<Call>();
      const released = deferred<void>();
      traps.push({ method, path, caught: caught.resolve, released: released.promise });
      return { arrived: caught.promise, letGo: () => released.resolve() };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** An answer goes back as it is; a connection that breaks there breaks here, and one that hangs, hangs. */
function pass(target: string, request: IncomingMessage, body: string, response: ServerResponse): void {
  const { method = "GET", headers, url = "/" } = request;
  const onward = forward(new URL(url, target), { method, headers, agent: false }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on("error", () => request.socket.destroy());
  request.socket.once("close", () => onward.destroy());
  onward.end(body);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
