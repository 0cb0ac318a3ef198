import { subscribe } from "node:diagnostics_channel";
import { ClientRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Attribution } from "./traffic.ts";

/** Nothing else is taken for harmless: a target may write on any other method. */
const READS = new Set(["GET", "HEAD"]);

interface FetchRequest {
  readonly origin: string | URL;
  readonly method: string;
  readonly upgrade?: string | null;
}

/**
 * Sees every request of `fetch`, of undici and of node:http(s) in this process. `ownOrigin` is the parent's: what goes
 * there is counted where it leaves for its target. `claim` gets the sockets that carry nothing but such requests.
 */
export function watchHttp(attribution: Attribution, ownOrigin: string, claim: (socket: Socket) => void): void {
  const answers = new WeakMap<object, (status: number) => void>();

  function sent(request: object, method: string, origin: string, upgrade: boolean): void {
    if (answers.has(request)) return;
    const attempts = attribution.current();
    // After an upgrade, or through a tunnel, anything may follow.
    if (upgrade || method === "CONNECT") for (const attempt of attempts) attempt.opaque();
    const counts = !READS.has(method) && origin !== ownOrigin;
    const notes = counts ? attempts.map((attempt) => attempt.write()) : [];
    answers.set(request, (status) => {
      for (const note of notes) note(status);
    });
  }

  on<{ request: FetchRequest }>("undici:request:create", ({ request }) =>
    sent(request, request.method, String(request.origin), Boolean(request.upgrade)),
  );
  on<{ request: FetchRequest; response: { statusCode: number } }>("undici:request:headers", ({ request, response }) =>
    answers.get(request)?.(response.statusCode),
  );
  on<{ socket: Socket }>("undici:client:sendHeaders", ({ socket }) => claim(socket));

  const sentByHttp = (request: ClientRequest) =>
    sent(request, request.method, originOf(request), request.hasHeader("upgrade"));
  on<{ request: ClientRequest }>("http.client.request.start", ({ request }) => sentByHttp(request));
  on<{ request: ClientRequest; response: IncomingMessage }>("http.client.response.finish", ({ request, response }) =>
    answers.get(request)?.(response.statusCode ?? 0),
  );
  // The channel above speaks when a request is ended; one whose body is still being streamed is on its way, too.
  const { onSocket } = ClientRequest.prototype;
  ClientRequest.prototype.onSocket = function (socket) {
    sentByHttp(this);
    claim(socket);
    onSocket.call(this, socket);
  };
}

function on<Message>(channel: string, listener: (message: Message) => void): void {
  subscribe(channel, (message) => listener(message as Message));
}

function originOf(request: ClientRequest): string {
  const host = String(request.getHeader("host") ?? request.host);
  return URL.canParse(`${request.protocol}//${host}`) ? new URL(`${request.protocol}//${host}`).origin : "";
}
