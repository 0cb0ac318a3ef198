import { createHmac } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Changes } from "../changes.ts";
import type { Ids } from "../ids.ts";
import { Impossible } from "../impossible.ts";
import type { JsonObject } from "../message.ts";

/** One thing Slack tells the app, with every attempt to tell it. */
export interface Delivery {
  readonly id: string;
  readonly kind: "event" | "interaction" | "raw";
  /** `app_mention`, `message`, `block_actions`, … */
  readonly type: string;
  /** Events alone have one. */
  readonly eventId?: string;
  /** The raw body, byte for byte the same on every attempt. */
  readonly body: string;
  readonly contentType: string;
  /** Grows while Slack tries. Empty: no events URL was set. */
  readonly attempts: readonly Attempt[];
}

export interface Attempt {
  /** 0 for the first. */
  readonly retryNum: number;
  /** Absent when no answer came. */
  readonly status?: number;
  readonly body?: string;
  /** Why no answer came: `http_timeout`, `connection_failed`. */
  readonly failure?: string;
}

export interface SendOptions {
  readonly retryNum?: number;
  readonly retryReason?: string;
  /** Seconds added to the request's timestamp before it is signed. */
  readonly timestampOffset?: number;
  /** Sends a well-formed signature that is not the body's. */
  readonly badSignature?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RawOptions extends SendOptions {
  /** `application/json` unless given; an object is then sent as JSON, in a form as `payload=`. */
  readonly contentType?: string;
}

export interface Deliveries {
  /** The newest 1,000, oldest first. */
  readonly all: readonly Delivery[];
  /** Resolves after the first attempt; retries go on by themselves. Never rejects. */
  event(envelope: JsonObject, type: string): Promise<Delivery>;
  interaction(payload: JsonObject, type: string): Promise<Delivery>;
  /** Any body at all: a string is sent as it is. */
  raw(payload: JsonObject | string, options?: RawOptions): Promise<Delivery>;
  /** The same body once more. */
  again(delivery: Delivery, options?: SendOptions): Promise<Delivery>;
  /** No attempt is on its way. */
  idle(): boolean;
  close(): Promise<void>;
}

export interface DeliveryConfig {
  readonly signingSecret: string;
  /** Undefined while the app has none. */
  readonly eventsUrl: () => string | undefined;
  readonly ackTimeoutMs: number;
  /** Before each retry of an event that was not acknowledged; empty: none. Slack never retries an interaction. */
  readonly retryDelaysMs: readonly number[];
}

const KEPT = 1_000;
const ANSWER_KEPT = 64 * 1024;

type MutableDelivery = Delivery & { readonly attempts: Attempt[] };

export function createDeliveries(
  { changes, ids, now }: { changes: Changes; ids: Ids; now: () => number },
  config: DeliveryConfig,
): Deliveries {
  const all: MutableDelivery[] = [];
  const stopping = new AbortController();
  const running = new Set<Promise<unknown>>();
  let inFlight = 0;

  const add = (delivery: Omit<Delivery, "id" | "attempts">): MutableDelivery => {
    const added = { id: ids.next("Dl"), attempts: [], ...delivery };
    all.push(added);
    if (all.length > KEPT) all.shift();
    return added;
  };

  async function attempt(delivery: MutableDelivery, options: SendOptions): Promise<Attempt | undefined> {
    const url = config.eventsUrl();
    if (url === undefined) return undefined;
    const retryNum = options.retryNum ?? 0;
    inFlight += 1;
    const outcome = await post(url, delivery, sign(delivery.body, delivery.contentType, options));
    inFlight -= 1;
    const done: Attempt = { retryNum, ...outcome.attempt };
    delivery.attempts.push(done);
    changes.notify();
    if (outcome.retryable && delivery.kind === "event") track(retry(delivery, retryNum, done));
    return done;
  }

  async function retry(delivery: MutableDelivery, after: number, { failure = "http_error" }: Attempt): Promise<void> {
    const delayMs = config.retryDelaysMs[after];
    if (delayMs === undefined) return;
    await wait(delayMs, undefined, { signal: stopping.signal });
    await attempt(delivery, { retryNum: after + 1, retryReason: failure });
  }

  const track = (work: Promise<unknown>): void => {
    const settled = work.catch(() => undefined).finally(() => running.delete(settled));
    running.add(settled);
  };

  function sign(body: string, contentType: string, options: SendOptions): Record<string, string> {
    const timestamp = Math.floor(now() / 1000) + (options.timestampOffset ?? 0);
    const secret = options.badSignature ? `not ${config.signingSecret}` : config.signingSecret;
    const digest = createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex");
    return {
      "content-type": contentType,
      "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
      "x-slack-request-timestamp": String(timestamp),
      "x-slack-signature": `v0=${digest}`,
      ...(options.retryNum && {
        "x-slack-retry-num": String(options.retryNum),
        "x-slack-retry-reason": options.retryReason ?? "http_timeout",
      }),
      ...options.headers,
    };
  }

  async function post(
    url: string,
    { body }: Delivery,
    headers: Record<string, string>,
  ): Promise<{ attempt: Omit<Attempt, "retryNum">; retryable: boolean }> {
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(config.ackTimeoutMs), stopping.signal]);
      const response = await fetch(url, { method: "POST", headers, body, redirect: "error", signal });
      const answer = (await response.text()).slice(0, ANSWER_KEPT);
      const retryable = !response.ok && response.headers.get("x-slack-no-retry") !== "1";
      return { attempt: { status: response.status, body: answer }, retryable };
    } catch (error) {
      const timedOut = error instanceof DOMException && error.name === "TimeoutError";
      return { attempt: { failure: timedOut ? "http_timeout" : "connection_failed" }, retryable: true };
    }
  }

  const send = async (delivery: MutableDelivery, options: SendOptions): Promise<Delivery> => {
    const first = attempt(delivery, options);
    track(first);
    await first;
    return delivery;
  };

  return {
    all,
    event: (envelope, type) =>
      send(
        add({
          kind: "event",
          type,
          eventId: String(envelope["event_id"]),
          body: JSON.stringify(envelope),
          contentType: "application/json",
        }),
        {},
      ),
    interaction: (payload, type) =>
      send(
        add({
          kind: "interaction",
          type,
          body: asForm(payload),
          // Without a charset, as Slack sends it: Bolt compares this by equality.
          contentType: "application/x-www-form-urlencoded",
        }),
        {},
      ),
    raw(payload, { contentType = "application/json", ...options } = {}) {
      const form = contentType.startsWith("application/x-www-form-urlencoded");
      const body = typeof payload === "string" ? payload : form ? asForm(payload) : JSON.stringify(payload);
      return send(add({ kind: "raw", type: "raw", body, contentType }), options);
    },
    async again(delivery, options = {}) {
      const known = all.find(({ id }) => id === delivery.id);
      if (!known) throw new Impossible(`there is no delivery ${delivery.id} any more`);
      return send(known, { retryNum: 1, ...options });
    },
    idle: () => inFlight === 0,
    async close() {
      stopping.abort();
      while (running.size > 0) await Promise.all(running);
    },
  };
}

const asForm = (payload: JsonObject): string => new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
