import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Whether the signature is the body's own. */
  readonly signed: boolean;
  /** The JSON body, or the form's `payload`. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read the payload as a person would
  readonly payload: any;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Only what `app_mention` and `message` events hold. */
  // biome-ignore lint/suspicious/noExplicitAny: the same
  events(): any[];
  /** Answers the next requests so; after them 200 again. `never` leaves one without an answer. */
  answerNext(...answers: (Answer | "never")[]): void;
  close(): Promise<void>;
}

/** An app's endpoint, as small as it can be: checks the signature over the raw body and keeps what came. */
export async function createReceiver(signingSecret: string): Promise<Receiver> {
  const received: Received[] = [];
  const answers: (Answer | "never")[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString("utf8");
    received.push({ headers: request.headers, body, signed: isSigned(request.headers, body), payload: read(body) });
    const answer = answers.shift() ?? { status: 200 };
    if (answer === "never") return;
    response.writeHead(answer.status, answer.headers).end(answer.body ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const isSigned = (headers: IncomingHttpHeaders, body: string): boolean => {
    const base = `v0:${headers["x-slack-request-timestamp"]}:${body}`;
    const expected = Buffer.from(`v0=${createHmac("sha256", signingSecret).update(base).digest("hex")}`);
    const given = Buffer.from(String(headers["x-slack-signature"]));
    return given.length === expected.length && timingSafeEqual(given, expected);
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events`,
    received,
    events: () => received.flatMap(({ payload }) => (payload?.type === "event_callback" ? [payload.event] : [])),
    answerNext: (...next) => void answers.push(...next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function read(body: string): unknown {
  try {
    return JSON.parse(body.startsWith("payload=") ? (new URLSearchParams(body).get("payload") ?? "") : body);
  } catch {
    return undefined;
  }
}
