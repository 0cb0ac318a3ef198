import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json } from "../../src/core/domain/json.ts";
import { anthropicAnswer, anthropicComplaint } from "./fakeModel/anthropic.ts";
import { openaiAnswer, openaiComplaint } from "./fakeModel/openai.ts";

/** One request as it came, and the texts a script decides by. */
export interface ModelServerRequest {
  readonly api: "anthropic" | "openai";
  readonly headers: IncomingMessage["headers"];
  readonly body: Record<string, unknown>;
  /** What this server answered with; 0 for a hang or a reset. */
  status: number;
}

/** What to answer: an assistant's step, or a fault of the provider or the wire. */
export type ModelServerReply =
  | {
      readonly text?: string;
      readonly calls?: readonly ScriptedCall[];
      /** Signed thinking (Anthropic) or encrypted reasoning (OpenAI) to be sent back as it is. */
      readonly thinking?: string;
    }
  | {
      readonly fault:
        | "rate_limited"
        | "overloaded"
        | "error"
        | "unauthorized"
        | "not_found"
        | "out_of_credit"
        | "hang"
        | "reset"
        | "truncated"
        | "garbage";
      /** The `retry-after` header, seconds. */
      readonly retryAfter?: number;
    };

interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  readonly input?: Json;
  /** Instead of `input`: the arguments' text as it is, JSON or not (OpenAI only: Anthropic's are parsed). */
  readonly rawArguments?: string;
}

type ModelScript = (request: ModelServerRequest, index: number) => ModelServerReply | Promise<ModelServerReply>;

export interface FakeModelServer {
  /** For `ANTHROPIC_BASE_URL` and `OPENAI_BASE_URL`: ends in `/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly ModelServerRequest[];
  /** Replaces the script: a function of the request, or replies in order, the last one repeating. */
  script(script: ModelScript | readonly ModelServerReply[]): void;
  close(): Promise<void>;
}

/**
 * The Anthropic Messages and OpenAI Responses APIs over real HTTP. As strict as they are where it hurts: a call
 * without its result, an unknown field shape or a lone surrogate is answered 400 before the script is asked.
 */
export async function startFakeModelServer(
  script: ModelScript | readonly ModelServerReply[] = [{ text: "Hello." }],
): Promise<FakeModelServer> {
  const requests: ModelServerRequest[] = [];
  let current = toScript(script);
  let scripted = 0;

  const server = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => {
      if (!res.headersSent) res.writeHead(500);
      res.end(JSON.stringify({ error: { type: "fake_failed", message: String(error) } }));
    });
  });

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const raw = await readAll(req);
    const api = req.url === "/v1/messages" ? "anthropic" : req.url === "/v1/responses" ? "openai" : null;
    if (api === null || req.method !== "POST")
      return send(res, 404, { error: { type: "not_found_error", message: `no ${req.url}` } });
    const request: ModelServerRequest = { api, headers: req.headers, body: JSON.parse(raw), status: 0 };
    requests.push(request);
    const complaint =
      surrogateComplaint(raw) ?? (api === "anthropic" ? anthropicComplaint(request) : openaiComplaint(request));
    const respond = (status: number, body: Json, headers: Record<string, string> = {}) => {
      request.status = status;
      send(res, status, body, headers);
    };
    if (complaint) return respond(400, { type: "error", error: { type: "invalid_request_error", message: complaint } });
    const reply = await current(request, scripted++);
    if ("fault" in reply) return fail(reply, res, respond);
    respond(200, api === "anthropic" ? anthropicAnswer(request, reply) : openaiAnswer(request, reply));
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    script(next) {
      current = toScript(next);
      scripted = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const toScript = (script: ModelScript | readonly ModelServerReply[]): ModelScript =>
  typeof script === "function"
    ? script
    : (_request, index) => script[Math.min(index, script.length - 1)] ?? { text: "" };

type Fault = Extract<ModelServerReply, { fault: string }>;
type Respond = (status: number, body: Json, headers?: Record<string, string>) => void;

const ANSWERED_FAULTS: Partial<Record<Fault["fault"], readonly [status: number, type: string]>> = {
  unauthorized: [401, "authentication_error"],
  not_found: [404, "not_found_error"],
  rate_limited: [429, "rate_limit_error"],
  out_of_credit: [429, "insufficient_quota"],
  error: [500, "api_error"],
  overloaded: [529, "overloaded_error"],
};

function fail({ fault, retryAfter }: Fault, res: ServerResponse, respond: Respond): void {
  const answered = ANSWERED_FAULTS[fault];
  if (answered) {
    const [status, type] = answered;
    const headers = {
      "request-id": "req_fake",
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
    };
    respond(status, { type: "error", error: { type, message: `scripted ${fault}` } }, headers);
  } else if (fault === "garbage") {
    respond(200, "not what was asked for");
  } else if (fault === "truncated") {
    res.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    res.write('{"type":"mess');
    setImmediate(() => res.destroy());
  } else if (fault === "reset") {
    res.destroy();
  }
}

function surrogateComplaint(raw: string): string | null {
  const lone = /\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}/i.test(raw);
  return lone ? "The request body is not valid JSON: a surrogate stands alone." : null;
}

function send(res: ServerResponse, status: number, body: Json, headers: Record<string, string> = {}): void {
  res.writeHead(status, { "content-type": "application/json", ...headers });
  res.end(JSON.stringify(body));
}

async function readAll(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
