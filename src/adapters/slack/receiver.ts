import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { ERRORS } from "../../core/domain/errors.ts";
import type { Clock, Log } from "../../core/ports.ts";
import type { OnInbound } from "../adapter.ts";
import { createBoltDispatch, type Dispatch } from "./boltApp.ts";
import type { SlackSelf } from "./inbound.ts";
import { LIMITS } from "./limits.ts";
import { EVENTS_PATH } from "./manifest.ts";
import { parseSlack } from "./parse.ts";
import { asRecord, textOf } from "./read.ts";
import { tellUnrecorded } from "./unrecorded.ts";
import { isSigned } from "./verify.ts";

export interface SlackReceiverOptions {
  /** Every secret that is active: the current one, and the previous while it is being replaced. */
  readonly signingSecrets: readonly string[];
  readonly self: SlackSelf;
  readonly onInbound: OnInbound;
  readonly log: Log;
  readonly clock?: Clock;
}

/** `POST /slack/events`, for events and interactivity alike: verify, decode, store, then answer. */
export function createSlackReceiver(options: SlackReceiverOptions): { plugin: FastifyPluginAsync } {
  const { self, onInbound, log } = options;

  async function receive(body: unknown): Promise<void> {
    const events = parseSlack(body, self);
    const counted = events.filter((event) => event.kind !== "ignored");
    for (const event of events)
      if (event.kind === "ignored") log.debug({ reason: event.reason }, "slack event ignored");
    if (counted.length > 0) await onInbound(counted);
  }

  const dispatch = createBoltDispatch(receive, log);
  const plugin = async (server: FastifyInstance): Promise<void> => {
    // The signature is over bytes: nothing may parse them first, whatever the content type says of a charset.
    server.removeAllContentTypeParsers();
    server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    server.post(EVENTS_PATH, { bodyLimit: LIMITS.body }, (request, reply) => handle(request, reply, options, dispatch));
  };
  return { plugin };
}

async function handle(request: FastifyRequest, reply: FastifyReply, options: SlackReceiverOptions, dispatch: Dispatch) {
  const { signingSecrets, log, clock = { now: Date.now } } = options;
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const form = isForm(request) ? new URLSearchParams(bytes.toString("utf8")) : null;
  // Slack checks the certificate without signing; there is nothing in it to trust.
  if (form?.get("ssl_check") === "1") return reply.code(200).send();

  const timestamp = header(request, "x-slack-request-timestamp");
  const signature = header(request, "x-slack-signature");
  if (!isSigned({ body: bytes, timestamp, signature }, signingSecrets, clock.now())) {
    return refuse(reply, 401, "unauthorized", "The request is not signed by Slack, or not within five minutes.");
  }
  const body = decode(form, bytes);
  if (!body) return refuse(reply, 400, "bad_request", ERRORS.bad_request.message);
  if (body["type"] === "url_verification") return reply.send({ challenge: textOf(body, "challenge") ?? "" });
  if (body["type"] === "app_rate_limited") {
    log.warn({ minute: body["minute_rate_limited"] }, "slack withholds events: this app gets over 30,000 an hour");
    return reply.code(200).send();
  }

  const retry = {
    num: Number(header(request, "x-slack-retry-num")) || undefined,
    reason: header(request, "x-slack-retry-reason"),
  };
  try {
    await dispatch(body, retry);
    return reply.code(200).send();
  } catch (error) {
    log.error({ err: error, eventId: textOf(body, "event_id"), retry: retry.num }, "a slack event could not be stored");
    void tellUnrecorded(body, log);
    return refuse(reply, 503, "unavailable", ERRORS.unavailable.message);
  }
}

const refuse = (reply: FastifyReply, status: number, code: string, message: string): FastifyReply =>
  reply.code(status).send({ error: { code, message } });

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : undefined;
}

/** By the type alone: Bolt compares the whole header, and refuses a click that names its charset. */
const isForm = (request: FastifyRequest): boolean =>
  /^application\/x-www-form-urlencoded\s*(;|$)/i.test(header(request, "content-type") ?? "");

/** Events come as JSON, interactions as JSON in a form's `payload`. Null: neither. */
function decode(form: URLSearchParams | null, bytes: Buffer): Record<string, unknown> | null {
  try {
    return asRecord(JSON.parse(form ? (form.get("payload") ?? "") : bytes.toString("utf8"))) ?? null;
  } catch {
    return null;
  }
}
