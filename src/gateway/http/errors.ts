import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { isOutage } from "../../core/db/outage.ts";
import { CountersignError, type ErrorCode } from "../../core/domain/errors.ts";
import type { Log } from "../../core/ports.ts";
import { SOME_WORD } from "./schemas.ts";
import type { HttpServer } from "./server.ts";

type Invalid = NonNullable<FastifyError["validation"]>[number];

/** Every failure leaves as `{error: {code, message}}` with the status the catalogue gives its code (S7). */
export function renderErrors(app: HttpServer, log: Log): void {
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const shown = toShown(error);
    if (shown.status >= 500) {
      const route = request.routeOptions.url;
      log.error(
        { err: error, request: request.id, method: request.method, route, code: shown.code },
        "a request failed",
      );
    }
    return send(reply, shown);
  });
  app.setNotFoundHandler((_request, reply) => send(reply, new CountersignError("not_found")));
}

/** What fastify refuses before there is a route: an address that cannot be decoded, or whose id is longer than any. */
export function renderFrameworkError(error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void {
  const unreadable = error.code === "FST_ERR_BAD_URL";
  void send(reply, unreadable ? refuse("bad_request", "The address is not valid.")() : refuse("not_found")());
}

const send = (reply: FastifyReply, { status, code, message }: CountersignError): FastifyReply =>
  reply.code(status).send({ error: { code, message } });

function toShown(error: FastifyError): CountersignError {
  if (error instanceof CountersignError) return error;
  const [invalid] = error.validation ?? [];
  if (invalid) return toInvalid(error.validationContext, invalid);
  if (isOutage(error)) return new CountersignError("unavailable");
  return REFUSED[error.code]?.() ?? (isClientError(error) ? new CountersignError("bad_request") : internal(error));
}

const refuse = (code: ErrorCode, message?: string) => () => new CountersignError(code, message);

/** What fastify itself says no to. */
const REFUSED: Readonly<Record<string, () => CountersignError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: refuse("body_too_large"),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: refuse(
    "bad_request",
    "The body must be JSON, sent with content-type: application/json.",
  ),
  FST_ERR_CTP_INVALID_JSON_BODY: refuse("bad_request", "The body is not valid JSON."),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: refuse("bad_request", "The body is not as long as its content-length says."),
};

const isClientError = ({ statusCode }: FastifyError): boolean =>
  statusCode !== undefined && statusCode >= 400 && statusCode < 500;

const internal = (cause: unknown): CountersignError => new CountersignError("internal", undefined, { cause });

const PARTS: Readonly<Record<string, string>> = { body: "body", querystring: "query", headers: "header" };

/** One sentence that names the field. An id of a shape no id has is an id nothing is under. */
function toInvalid(context: string | undefined, invalid: Invalid): CountersignError {
  if (context === "params") return new CountersignError("not_found");
  const { field, what } = describe(invalid);
  const path = [...invalid.instancePath.split("/").filter(Boolean), ...(field === undefined ? [] : [field])].join(".");
  const part = PARTS[context ?? ""] ?? "request";
  return new CountersignError("bad_request", path === "" ? `The ${part} ${what}.` : `${part}: ${path} ${what}.`);
}

function describe({ keyword, params, message }: Invalid): { field?: string; what: string } {
  switch (keyword) {
    case "required":
      return { field: String(params["missingProperty"]), what: "is missing" };
    case "additionalProperties":
      return { field: String(params["additionalProperty"]), what: "is not known here" };
    case "type":
      return { what: `must be ${params["type"] === "string" ? "a" : "an"} ${String(params["type"])}` };
    case "enum":
      return { what: `must be one of ${(params["allowedValues"] as unknown[]).join(", ")}` };
    case "minLength":
      return { what: "must not be empty" };
    case "maxLength":
      return { what: `must be at most ${String(params["limit"])} characters` };
    case "minimum":
      return { what: `must be at least ${String(params["limit"])}` };
    case "maximum":
      return { what: `must be at most ${String(params["limit"])}` };
    case "pattern":
      return { what: params["pattern"] === SOME_WORD ? "must not be blank" : "holds a character that is not allowed" };
    default:
      return { what: message ?? "is not valid" };
  }
}
