/**
 * Why a connection did not answer: the status of our own answer to the runtime, told apart from the upstream's by the
 * header `x-countersign-error`. The sentences name no secret and no host the agent did not name.
 */
const EGRESS_ERRORS = {
  connection_unauthorized: { status: 401, message: "The connection token is not valid for any running agent." },
  connection_bad_request: {
    status: 400,
    message: "A fetch is {method, path, headers, body?} with text in every field.",
  },
  connection_unknown: { status: 404, message: "This agent declares no connection of this id." },
  connection_method_refused: {
    status: 403,
    message: "The connection does not allow this method; add it to its methods.",
  },
  connection_path_refused: {
    status: 403,
    message: "The path has to be absolute, plain and inside the connection's pathPrefix.",
  },
  connection_origin_refused: {
    status: 403,
    message: "The connection's origin is not allowed here; it has to be https.",
  },
  connection_redirect_refused: {
    status: 502,
    message: "The target redirected to where the connection does not lead; add the origin to redirectOrigins.",
  },
  connection_too_many_redirects: { status: 502, message: "The target redirected more than 5 times." },
  connection_address_refused: { status: 403, message: "The host has an address that is private or not allowed." },
  connection_secret_missing: {
    status: 503,
    message: "A secret of the connection is not set; set it with `countersign secrets set`.",
  },
  connection_secret_invalid: {
    status: 503,
    message: "A secret of the connection cannot stand in a header; set it again.",
  },
  connection_request_too_large: { status: 413, message: "The request's body is over 5 MiB." },
  connection_response_too_large: { status: 502, message: "The target's answer is over 5 MiB." },
  connection_timed_out: { status: 504, message: "The target did not answer in time." },
  connection_unreachable: { status: 502, message: "The target could not be reached, or broke the connection." },
  connection_internal: { status: 500, message: "The request could not be made; the gateway's log has the details." },
} as const satisfies Record<string, { status: number; message: string }>;

export type EgressCode = keyof typeof EGRESS_ERRORS;

export class EgressError extends Error {
  readonly code: EgressCode;
  readonly status: number;

  constructor(code: EgressCode, message: string = EGRESS_ERRORS[code].message, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "EgressError";
    this.code = code;
    this.status = EGRESS_ERRORS[code].status;
  }
}
