import { setTimeout as wait } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Fault, Faults } from "../faults.ts";
import type { JsonObject } from "../message.ts";
import type { ResponseUrls } from "../responseUrls.ts";
import { type Arguments, readArguments } from "./arguments.ts";
import { chatMethods } from "./chat.ts";
import { conversationMethods } from "./conversations.ts";
import { identityMethods } from "./identity.ts";
import type { Method, MethodDeps } from "./method.ts";
import { Refusal, violation } from "./refusal.ts";
import { checkScope } from "./scopes.ts";
import { surfaceMethods } from "./surfaces.ts";
import { usergroupMethods } from "./usergroups.ts";

export interface WebApiDeps extends MethodDeps {
  readonly faults: Faults;
  readonly responseUrls: ResponseUrls;
  readonly botToken: string;
  /** What the app was granted. */
  readonly scopes: readonly string[];
}

type ApiRoute = { Params: { method: string }; Querystring: Record<string, string>; Body: string | undefined };

/** `/api/METHOD`, and the response URLs of clicks. Bodies reach these routes as text. */
export function webApiRoutes(app: FastifyInstance, deps: WebApiDeps): void {
  const { log, faults, responseUrls, now } = deps;
  const methods = new Map<string, Method>(
    [chatMethods, conversationMethods, identityMethods, surfaceMethods, usergroupMethods].flatMap((group) =>
      Object.entries(group(deps)),
    ),
  );

  function call(method: string, args: Arguments, token: string | undefined): JsonObject {
    const run = methods.get(method);
    if (!run) throw violation("unknown_method");
    if (token === undefined) throw violation("not_authed");
    if (token !== deps.botToken) throw violation("invalid_auth");
    checkScope(method, deps.scopes);
    return run(args);
  }

  function answer(method: string, request: ApiRequest): { body: JsonObject; outcome: string } {
    const { args, channel } = request;
    try {
      if (args instanceof Refusal) throw args;
      return { body: { ok: true, ...call(method, args, tokenOf(request.raw, args)) }, outcome: "ok" };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.violation) {
        log.addViolation({ method, ...(channel && { channel }), error: error.error, messages: error.messages });
      }
      return { body: toBody(error), outcome: error.error };
    }
  }

  app.route<ApiRoute>({
    method: ["GET", "POST"],
    url: "/api/:method",
    async handler(request, reply) {
      const { method } = request.params;
      const read = readRequest(request);
      const { channel } = read;
      const record = (outcome: string): void =>
        log.addRequest({ method, ...(channel && { channel }), at: now(), outcome });
      const fault = faults.take(method, channel);
      if (fault && isBefore(fault)) {
        record(`fault:${fault.kind}`);
        return strike(fault, request, reply);
      }
      const { body, outcome } = answer(method, read);
      record(fault ? `fault:${fault.kind}` : outcome);
      if (fault?.kind === "resetAfterAccept") return breakConnection(request, reply);
      if (fault?.kind === "delay") await wait(fault.ms, undefined, { ref: false });
      if (fault?.kind === "hold") await fault.until;
      return reply.header("x-oauth-scopes", deps.scopes.join(",")).send(body);
    },
  });

  app.post<{ Body: string | undefined }>("/actions/:team/:id", (request, reply) => {
    try {
      responseUrls.use(request.url, request.headers["content-type"] ?? "", request.body ?? "");
      return reply.send({ ok: true });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.violation) log.addViolation({ method: "response_url", error: error.error, messages: error.messages });
      return reply.code(error.error.endsWith("_url") ? 404 : 400).send(toBody(error));
    }
  });
}

type FaultBefore = Exclude<Fault, { kind: "resetAfterAccept" | "delay" | "hold" }>;

const isBefore = (fault: Fault): fault is FaultBefore =>
  fault.kind !== "resetAfterAccept" && fault.kind !== "delay" && fault.kind !== "hold";

function strike(fault: FaultBefore, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  switch (fault.kind) {
    case "429":
      return reply.code(429).header("retry-after", fault.retryAfter).send({ ok: false, error: "ratelimited" });
    case "okFalse":
      return reply.send({ ok: false, error: fault.error });
    case "status":
      return reply.code(fault.status).type("text/html").send("the Slack simulator was told to fail");
    case "resetBefore":
      return breakConnection(request, reply);
  }
}

function breakConnection(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack();
  request.raw.socket.resetAndDestroy();
  return reply;
}

const toBody = ({ error, messages, detail }: Refusal): JsonObject => ({
  ok: false,
  error,
  ...detail,
  ...(messages.length > 0 && {
    errors: messages,
    response_metadata: { messages: messages.map((message) => `[ERROR] ${message}`) },
  }),
});

/** A request whose arguments were read once: for its faults, and for the method. */
interface ApiRequest {
  readonly raw: FastifyRequest;
  readonly args: Arguments | Refusal;
  readonly channel: string | undefined;
}

function readRequest(raw: FastifyRequest<ApiRoute>): ApiRequest {
  try {
    const args = readArguments(raw.headers["content-type"] ?? "", raw.body ?? "", raw.query);
    return { raw, args, channel: args.text("channel") ?? args.text("channel_id") };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { raw, args: error, channel: undefined };
  }
}

function tokenOf(request: FastifyRequest, args: Arguments): string | undefined {
  const [scheme, token] = (request.headers.authorization ?? "").split(" ");
  return scheme?.toLowerCase() === "bearer" && token ? token : args.text("token");
}
