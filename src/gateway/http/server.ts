import { randomUUID } from "node:crypto";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { Ajv } from "ajv";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from "fastify";
import type { Log } from "../../core/ports.ts";
import { renderErrors, renderFrameworkError } from "./errors.ts";

const BODY_LIMIT = 1024 * 1024;

/** A request must have arrived whole by then; an answer may take as long as it needs. */
const REQUEST_TIMEOUT_MS = 30_000;

export type HttpServer = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** What the API and the admin port have in common: bodies, validation, one error renderer, an id on every answer. */
export function createServer(log: Log): HttpServer {
  const app = Fastify({
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    genReqId: () => randomUUID(),
    frameworkErrors: renderFrameworkError,
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.addHook("onRequest", async (request, reply) => void reply.header("x-request-id", request.id));
  acceptJson(app);
  validate(app);
  renderErrors(app, log);
  letGoOnClose(app);
  return app;
}

/** How often a server that closes looks for connections nobody uses. */
const LET_GO_MS = 100;

/**
 * Fastify closes what is idle at that moment. A connection that is answered only then would be kept alive for 72 s, and
 * the end of the process with it: its answer says that it is the last, and a client that keeps it all the same is cut.
 */
function letGoOnClose(app: HttpServer): void {
  let closing = false;
  app.addHook("preClose", async () => {
    closing = true;
    if (!app.server.listening) return;
    const timer = setInterval(() => app.server.closeIdleConnections(), LET_GO_MS);
    app.server.once("close", () => clearInterval(timer));
  });
  app.addHook("onSend", async (_request, reply) => {
    if (closing) reply.header("connection", "close");
  });
}

/**
 * Clients send `content-type: application/json` also with no body at all; that is no body, not a broken one. Where a
 * body is wanted, none is an empty one: what is then missing is named.
 */
function acceptJson(app: HttpServer): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body === "") done(null, undefined);
    else parse(request, body, done);
  });
  app.addHook("preValidation", async (request) => {
    if (request.body === undefined && request.routeOptions.schema?.body) request.body = {};
  });
}

/**
 * Bodies are taken as they are: fastify's own ajv turns `5` into `"5"` and drops what it does not know. Addresses and
 * headers are text, so there numbers are read out of it. Answers are not run through their schema: the compiler has
 * checked them against it, and a serializer would drop what people and tools put into `input`, `data` or `result`.
 */
function validate(app: HttpServer): void {
  const exact = new Ajv();
  const textual = new Ajv({ coerceTypes: true, useDefaults: true });
  app.setValidatorCompiler(({ schema, httpPart }) => (httpPart === "body" ? exact : textual).compile(schema as object));
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
}
