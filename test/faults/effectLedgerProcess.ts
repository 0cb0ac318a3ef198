import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { EffectCall, LedgerFault } from "./effectLedger.ts";

/**
 * The world outside, as a process of its own that no crash of ours touches: it writes down every write that arrives,
 * carries each key out once, and misbehaves when told to. It prints its address and ends when its stdin does.
 *
 *     POST|PUT|PATCH|DELETE /any/path        Idempotency-Key, X-Attempt: a write
 *     GET /any/path                          Idempotency-Key: 200 where the effect is there, 404 where it is not
 *     PUT /_faults/<key>                     the fault of that key's next write; `*`: of the next write
 *     GET /_calls?path=/prefix&key=K         the log, oldest first; both filters are optional
 */

/** More writes than any run makes; a test that loops is told so instead of filling the memory. */
const MOST_CALLS = 200_000;

const calls: EffectCall[] = [];
/** Key → the arguments it was first used with. */
const effects = new Map<string, string>();
const faults = new Map<string, LedgerFault>();

const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? "/", "http://ledger");
  const key = header(request, "idempotency-key");
  const body = await read(request);
  if (url.pathname.startsWith("/_faults/")) {
    faults.set(decodeURIComponent(url.pathname.slice("/_faults/".length)), body as LedgerFault);
    return answer(response, 204, null);
  }
  if (url.pathname === "/_calls") return answer(response, 200, { calls: search(url.searchParams) });
  if (request.method === "GET") {
    const there = key !== null && effects.has(key);
    return answer(response, there ? 200 : 404, { applied: there });
  }
  if (calls.length >= MOST_CALLS) return answer(response, 507, { error: "the ledger is full" });
  const { outcome, fault } = write(url.pathname, key, header(request, "x-attempt"), body);
  if (outcome === "conflict") return answer(response, 422, { error: "this key was used with other arguments" });
  if (outcome === "refused") return answer(response, 402, { error: "refused" });
  if (fault === "reset") request.socket.resetAndDestroy();
  else if (fault !== "hang") answer(response, fault === "500" ? 500 : 200, { outcome });
});

function write(path: string, key: string | null, attempt: string | null, args: string): EffectCall {
  const fault = take(key ?? "*") ?? take("*");
  const outcome = settle(key, args, fault);
  const call = { n: calls.length + 1, key, attempt, path, args, at: Date.now(), outcome, fault: fault ?? null };
  calls.push(call);
  return call;
}

function settle(key: string | null, args: string, fault: LedgerFault | undefined): EffectCall["outcome"] {
  const before = key === null ? undefined : effects.get(key);
  if (before !== undefined && before !== args) return "conflict";
  if (fault === "refuse") return "refused";
  if (before !== undefined) return "replayed";
  if (key !== null) effects.set(key, args);
  return "committed";
}

function take(key: string): LedgerFault | undefined {
  const fault = faults.get(key);
  faults.delete(key);
  return fault;
}

function search(by: URLSearchParams): EffectCall[] {
  const path = by.get("path");
  const key = by.get("key");
  return calls.filter((call) => (path === null || call.path.startsWith(path)) && (key === null || call.key === key));
}

const header = (request: IncomingMessage, name: string): string | null => {
  const value = request.headers[name];
  return typeof value === "string" ? value : null;
};

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(body === null ? "" : JSON.stringify(body));
}

server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.stdin.resume().on("end", () => process.exit(0));
