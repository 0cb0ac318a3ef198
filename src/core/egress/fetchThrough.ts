import type { ConnectionManifest } from "../domain/manifest.ts";
import { type AddressPolicy, pinnedLookup, type ResolveName } from "./addresses.ts";
import { EgressError } from "./egressError.ts";
import { type Answered, exchange } from "./exchange.ts";
import { agentHeaders, connectionHeaders, type ReadSecret } from "./headers.ts";
import { redirectTarget, targetOf } from "./target.ts";
import type { TrafficMeter } from "./traffic.ts";

/** What an agent asks of a connection; `method` is upper case. */
export interface Ask {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

interface FetchDeps {
  readonly policy: AddressPolicy;
  readonly readSecret: ReadSecret;
  readonly resolveName: ResolveName;
}

/** Bodies either way (C2). */
const MAX_BODY_BYTES = 5 * 1024 * 1024;
const MOST_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * One request of an agent through a connection: judged, then given the connection's headers, then sent; redirects are
 * judged and sent the same way, each counted as a request of its own. Throws `EgressError`, or the signal's reason.
 */
export async function fetchThrough(
  connection: ConnectionManifest,
  ask: Ask,
  meter: Pick<TrafficMeter, "sent">,
  deps: FetchDeps,
  signal: AbortSignal,
): Promise<Answered> {
  const { policy } = deps;
  let { method } = ask;
  let target = targetOf(connection, method, ask.path, policy);
  let body = ask.body === null ? null : Buffer.from(ask.body, "utf8");
  if (body && body.length > MAX_BODY_BYTES) throw new EgressError("connection_request_too_large");
  let fromAgent = agentHeaders(ask.headers, connection);
  const fromConnection = await connectionHeaders(connection, deps.readSecret);
  const lookup = pinnedLookup(policy, deps.resolveName);

  for (let redirects = 0; ; redirects++) {
    signal.throwIfAborted();
    const headers = target.own ? { ...fromAgent, ...fromConnection } : fromAgent;
    let noteStatus: ((status: number) => void) | null = null;
    const onSent = () => {
      noteStatus ??= meter.sent(method);
    };
    const answer = await exchange(
      { url: target.url, method, headers, body },
      {
        lookup,
        signal,
        maxBytes: MAX_BODY_BYTES,
        onSent,
        onStatus: (status) => {
          onSent();
          noteStatus?.(status);
        },
      },
    );
    const { location } = answer.headers;
    if (!REDIRECTS.has(answer.status) || location === undefined) return answer;
    if (redirects === MOST_REDIRECTS) throw new EgressError("connection_too_many_redirects");
    if (becomesGet(answer.status, method)) {
      method = "GET";
      body = null;
      fromAgent = withoutContent(fromAgent);
    }
    target = redirectTarget(connection, method, target.url, location, policy);
  }
}

/** As fetch does it: 303 turns everything but HEAD into GET, 301 and 302 only POST. */
const becomesGet = (status: number, method: string): boolean =>
  status === 303 ? method !== "HEAD" && method !== "GET" : status < 303 && method === "POST";

const withoutContent = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("content-")));
