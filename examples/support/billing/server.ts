import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Customer, newCustomers, ORDERS } from "./catalogue.ts";

export interface Subscription {
  readonly id: string;
  readonly customer: string;
  readonly plan: string;
}

/** What happens to one write, to show what an approval does under faults. */
export type BillingFault =
  /** 422, nothing written. */
  | "refuse"
  /** 500, nothing written. */
  | "fail-before"
  /** Written, then 500. */
  | "fail-after"
  /** Written, then the connection breaks without an answer. */
  | "reset-after"
  /** Written, then no answer ever. */
  | "hang-after";

export interface BillingServer {
  /** Where it listens; before `start` it throws. */
  readonly url: string;
  /** In the order they were written. */
  readonly subscriptions: readonly Subscription[];
  /** One for each coming `POST /subscriptions`, first in, first used; push to it. */
  readonly faults: BillingFault[];
  /** Subscriptions written, repeats of one key counted once. */
  writes(): number;
  /** Listens on loopback; without a port, on a free one. Resolves with the URL. */
  start(port?: number): Promise<string>;
  /** Ends every connection too. */
  stop(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Written {
  readonly request: string;
  readonly answer: Answer;
}

/** With `key`, every request has to bring it as `Authorization: Bearer <key>`, except the counts of `/writes`. */
export function createBillingServer({ key }: { readonly key?: string } = {}): BillingServer {
  const customers = newCustomers();
  const byKey = new Map<string, Written>();
  const subscriptions: Subscription[] = [];
  const faults: BillingFault[] = [];

  const write = (body: string): Answer => {
    const wanted = readSubscription(body);
    const customer = wanted && customers.get(wanted.customer);
    if (!wanted || !customer)
      return refused(422, wanted ? `no customer ${wanted.customer}` : "customer and plan are needed");
    const subscription = { id: `sub_${subscriptions.length + 1}`, ...wanted };
    subscriptions.push(subscription);
    customer.plan = wanted.plan;
    return { status: 201, body: subscription };
  };

  /** Null: no answer is given. */
  const subscribe = (request: IncomingMessage, body: string): Answer | null => {
    const idempotencyKey = request.headers["idempotency-key"];
    if (typeof idempotencyKey !== "string" || idempotencyKey === "") {
      return refused(400, "the header Idempotency-Key is missing");
    }
    const fault = faults.shift();
    if (fault === "refuse") return refused(422, "refused");
    if (fault === "fail-before") return refused(500, "failed before writing");
    const earlier = byKey.get(idempotencyKey);
    if (earlier && earlier.request !== body) return refused(409, "this Idempotency-Key was used with another body");
    const answer = earlier?.answer ?? write(body);
    // A refusal wrote nothing, so its key may come again.
    if (answer.status < 400) byKey.set(idempotencyKey, { request: body, answer });
    if (fault === "reset-after") request.socket.destroy();
    if (fault === "reset-after" || fault === "hang-after") return null;
    return fault === "fail-after" ? refused(500, "failed after writing") : answer;
  };

  const counts = () => ({
    writes: subscriptions.length,
    byKey: Object.fromEntries([...byKey.keys()].map((used) => [used, 1])),
  });

  const answerTo = (request: IncomingMessage, body: string): Answer | null => {
    const path = request.url ?? "/";
    if (request.method === "GET" && path === "/writes") return { status: 200, body: counts() };
    if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) {
      return refused(401, "the key is missing or wrong");
    }
    if (request.method === "POST" && path === "/subscriptions") return subscribe(request, body);
    return request.method === "GET" ? look(path, customers) : refused(405, "no such method here");
  };

  const server = createServer(async (request, response) => {
    const body = await readBody(request).catch(() => null);
    const answer = body === null ? null : answerTo(request, body);
    if (answer) send(response, answer);
  });

  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    subscriptions,
    faults,
    get url() {
      if (!server.listening) throw new Error("The billing server is not started.");
      return url();
    },
    writes: () => subscriptions.length,
    start: (port = 0) =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, "127.0.0.1", () => {
          server.off("error", reject);
          resolve(url());
        });
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function look(path: string, customers: ReadonlyMap<string, Customer>): Answer {
  const [, kind, id] = /^\/(customers|orders)\/([^/?]+)$/.exec(path) ?? [];
  const found = id === undefined ? undefined : (kind === "customers" ? customers : ORDERS).get(id);
  return found ? { status: 200, body: found } : refused(404, "there is nothing here");
}

function readSubscription(body: string): Omit<Subscription, "id"> | null {
  try {
    const { customer, plan } = JSON.parse(body);
    return typeof customer === "string" && typeof plan === "string" ? { customer, plan } : null;
  } catch {
    return null;
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

const refused = (status: number, message: string): Answer => ({ status, body: { error: message } });

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
