import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Traffic } from "../domain/decision.ts";
import type { ConnectionManifest } from "../domain/manifest.ts";
import type { LeaseRequest, Log } from "../ports.ts";
import { type ResolveName, resolveName as resolveByDns } from "./addresses.ts";
import { type EgressCode, EgressError } from "./egressError.ts";
import type { Answered } from "./exchange.ts";
import { type Ask, fetchThrough } from "./fetchThrough.ts";
import { answerHeaders, type ReadSecret } from "./headers.ts";
import { createTrafficMeter, isRead, type TrafficMeter } from "./traffic.ts";

export interface ConnectionsOptions {
  /** The connections that the agent of a lease declares; null when its deployment is gone. */
  readonly connectionsOf: (lease: LeaseRequest) => Promise<readonly ConnectionManifest[] | null>;
  readonly readSecret: ReadSecret;
  /** Development: `http://127.0.0.1` origins. */
  readonly allowLoopback: boolean;
  /** The operator's private network. */
  readonly allowPrivate: boolean;
  readonly log: Log;
  /** For the session's log (S5): `response` and `failed` close the `request` before them. */
  readonly onTraffic?: (event: TrafficEvent) => void;
  /** A request with its redirects and its answer. Default 30 s. */
  readonly timeoutMs?: number;
  readonly resolveName?: ResolveName;
}

export interface TrafficEvent {
  readonly lease: LeaseRequest;
  readonly connection: string;
  readonly method: string;
  /** Without its query, which may hold what a log must not. */
  readonly path: string;
  readonly outcome:
    | { readonly kind: "request" }
    | { readonly kind: "response"; readonly status: number }
    | { readonly kind: "failed"; readonly code: EgressCode };
}

export interface Connections {
  /** `http://127.0.0.1:PORT`, for `OPENCOMPUTER_CONNECTIONS_URL`. */
  readonly url: string;
  /** A bearer token for one runtime. Good for nothing until it is leased. */
  issueToken(): string;
  /** From now on the token's requests are that lease's; null: they are refused, and what was counted is forgotten. */
  lease(token: string, lease: LeaseRequest | null): void;
  readonly traffic: {
    /** Counts anew. A request that is under way still counts where it began. */
    begin(token: string): void;
    of(token: string): Traffic;
  };
  close(): Promise<void>;
}

interface Leased {
  readonly lease: LeaseRequest;
  meter: TrafficMeter;
}

/** The text of a request, escaped as JSON, is at most six times its bytes; this is twice, and code is not all quotes. */
const MAX_ENVELOPE_BYTES = 12 * 1024 * 1024;

/**
 * Where agents' requests leave from: `POST /<connection>/fetch {method, path, headers, body?}` on loopback. Its answer
 * is the target's own; an answer of ours carries `x-countersign-error` and `{error: {code, message}}`.
 */
export async function createConnections(options: ConnectionsOptions): Promise<Connections> {
  const { log, timeoutMs = 30_000 } = options;
  const deps = { policy: options, readSecret: options.readSecret, resolveName: options.resolveName ?? resolveByDns };
  const leased = new Map<string, Leased>();

  const server = createServer((request, response) => {
    serve(request, response)
      .then((answer) => sendAnswer(response, answer))
      .catch((error: unknown) => sendError(response, toEgressError(error, log)));
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<Answered> {
    const runtime = leased.get(/^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "");
    if (!runtime) throw new EgressError("connection_unauthorized");
    // From here on it may leave, whatever becomes of the runtime that asked: not counted later than that (A5).
    const known = runtime.meter.doubted();
    try {
      return await serveLeased(request, response, runtime, known);
    } finally {
      known();
    }
  }

  async function serveLeased(
    request: IncomingMessage,
    response: ServerResponse,
    { lease, meter }: Leased,
    known: () => void,
  ): Promise<Answered> {
    const id = connectionId(request);
    const declared = await options.connectionsOf(lease);
    const connection = declared?.find((candidate) => candidate.id === id);
    if (!connection) throw new EgressError("connection_unknown");
    const ask = readAsk(await readEnvelope(request));
    if (isRead(ask.method)) known();
    const sent: TrafficMeter["sent"] = (method) => {
      known();
      return meter.sent(method);
    };

    const note = (outcome: TrafficEvent["outcome"]) =>
      options.onTraffic?.({
        lease,
        connection: connection.id,
        method: ask.method,
        path: ask.path.split("?", 1)[0] ?? "",
        outcome,
      });
    note({ kind: "request" });
    try {
      const answer = await fetchThrough(connection, ask, { sent }, deps, whenOver(response, timeoutMs));
      note({ kind: "response", status: answer.status });
      return answer;
    } catch (error) {
      const failure = toEgressError(error, log);
      log.debug({ sessionId: lease.sessionId, connection: connection.id, code: failure.code }, "egress failed");
      note({ kind: "failed", code: failure.code });
      throw failure;
    }
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;

  return {
    url: `http://127.0.0.1:${port}`,
    issueToken: () => randomBytes(32).toString("base64url"),
    lease(token, lease) {
      if (lease) leased.set(token, { lease, meter: createTrafficMeter() });
      else leased.delete(token);
    },
    traffic: {
      begin(token) {
        const runtime = leased.get(token);
        if (runtime) runtime.meter = createTrafficMeter();
      },
      of: (token) => leased.get(token)?.meter.read() ?? { writes: [], opaque: 0 },
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function connectionId(request: IncomingMessage): string {
  const id = request.method === "POST" ? /^\/([^/?]+)\/fetch$/.exec(request.url ?? "")?.[1] : undefined;
  if (id === undefined) throw new EgressError("connection_unknown");
  try {
    return decodeURIComponent(id);
  } catch {
    throw new EgressError("connection_unknown");
  }
}

async function readEnvelope(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    // Read to its end all the same: a client that is cut off while it writes never reads why.
    if (size <= MAX_ENVELOPE_BYTES) chunks.push(chunk);
  }
  if (size > MAX_ENVELOPE_BYTES) throw new EgressError("connection_request_too_large");
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new EgressError("connection_bad_request");
  }
}

function readAsk(envelope: unknown): Ask {
  if (!isRecord(envelope)) throw new EgressError("connection_bad_request");
  const { method = "GET", path, headers = {}, body } = envelope;
  const wellFormed = typeof method === "string" && typeof path === "string" && isTexts(headers);
  if (!wellFormed || !(body === undefined || body === null || typeof body === "string")) {
    throw new EgressError("connection_bad_request");
  }
  return { method: method.toUpperCase(), path, headers, body: body ?? null };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isTexts = (value: unknown): value is Record<string, string> =>
  isRecord(value) && Object.values(value).every((text) => typeof text === "string");

/** Time is up, or the runtime hung up and nobody waits for the answer. */
function whenOver(response: ServerResponse, timeoutMs: number): AbortSignal {
  const gone = new AbortController();
  const hungUp = () => gone.abort(new EgressError("connection_unreachable"));
  if (response.closed) hungUp();
  response.once("close", hungUp);
  const late = setTimeout(() => gone.abort(new EgressError("connection_timed_out")), timeoutMs);
  gone.signal.addEventListener("abort", () => clearTimeout(late), { once: true });
  return gone.signal;
}

function toEgressError(error: unknown, log: Log): EgressError {
  if (error instanceof EgressError) return error;
  // Its message may quote a header or a row; the name and the place are enough to find it.
  const { name, stack } = error instanceof Error ? error : { name: typeof error, stack: undefined };
  log.error(
    {
      error: name,
      at: stack
        ?.split("\n")
        .find((line) => line.startsWith("    at "))
        ?.trim(),
    },
    "egress broke",
  );
  return new EgressError("connection_internal");
}

function sendAnswer(response: ServerResponse, { status, headers, body }: Answered): void {
  // These have no body, and Node would refuse to write one.
  const bodiless = status === 204 || status === 304;
  response.writeHead(status, { ...answerHeaders(headers), ...(bodiless ? {} : { "content-length": body.length }) });
  response.end(bodiless ? undefined : body);
}

function sendError(response: ServerResponse, { code, status, message }: EgressError): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { "content-type": "application/json", "x-countersign-error": code });
  response.end(JSON.stringify({ error: { code, message } }));
}
