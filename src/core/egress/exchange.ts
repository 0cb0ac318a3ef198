import http, { type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { EgressError } from "./egressError.ts";

export interface Outgoing {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface ExchangeOptions {
  readonly lookup: LookupFunction;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  /** The connection stands: from here on the target may have received the request. */
  readonly onSent: () => void;
  readonly onStatus: (status: number) => void;
}

/**
 * One request, one answer, read whole; redirects are the caller's. Throws `EgressError`, or the signal's reason.
 *
 * `node:http` and not fetch: `lookup` pins the address that was judged, and a connection of its own for each request
 * tells whether anything was sent. A kept-alive one may die under a write, whose outcome would then be unknown.
 */
export function exchange(outgoing: Outgoing, options: ExchangeOptions): Promise<Answered> {
  const { url, method, body } = outgoing;
  // Said by us: Node frames no body of a GET, DELETE or OPTIONS by itself, and the target would read it as a request.
  const headers = body ? { ...outgoing.headers, "content-length": String(body.length) } : outgoing.headers;
  const { lookup, signal } = options;
  const secure = url.protocol === "https:";
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      if (error instanceof EgressError) reject(error);
      else if (signal.aborted) reject(signal.reason);
      else reject(new EgressError("connection_unreachable", undefined, { cause: error }));
    };
    const request = (secure ? https : http).request(url, { method, headers, lookup, signal, agent: false });
    request.on("socket", (socket) => socket.once(secure ? "secureConnect" : "connect", options.onSent));
    request.on("error", fail);
    request.on("response", (response) => {
      const status = response.statusCode ?? 502;
      options.onStatus(status);
      readBody(response, options.maxBytes).then(
        (read) => resolve({ status, headers: response.headers, body: read }),
        fail,
      );
    });
    request.end(body ?? undefined);
  });
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop by a throw destroys the response, and with it the connection.
  for await (const chunk of response) {
    size += chunk.length;
    if (size > maxBytes) throw new EgressError("connection_response_too_large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
