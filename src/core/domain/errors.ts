/**
 * Every failure a person or a program may be shown: a stable code, the HTTP status it travels under, and one
 * sentence that says what to do (S7). Internal text never stands here; it goes to the log.
 */
export const ERRORS = {
  bad_request: { status: 400, message: "The request is not valid." },
  unauthorized: { status: 401, message: "Send the API key in the x-api-key header." },
  not_found: { status: 404, message: "There is nothing under this address; check the id." },
  body_too_large: { status: 413, message: "The body is over 1 MiB; send less." },
  unavailable: { status: 503, message: "The database does not answer; send the same request again." },
  internal: {
    status: 500,
    message: "Something failed inside the gateway; the log has the details under this request's id.",
  },

  agent_unknown: { status: 404, message: "No active deployment has this agent; deploy it first or check the name." },
  session_ended: { status: 409, message: "This session has ended; create a new one." },
  idempotency_conflict: {
    status: 409,
    message: "This idempotency key was used with a different input; use a new key.",
  },
  no_open_question: {
    status: 409,
    message: "This question is not open any more; read the session for its current state.",
  },
  answer_not_an_option: {
    status: 400,
    message: "The answer is not one of the question's options; send one of their values.",
  },
  not_your_question: {
    status: 409,
    message: "This question is for somebody else; the person it was asked answers it.",
  },

  decision_already_made: { status: 409, message: "This was already decided." },
  decision_expired: { status: 409, message: "The time to decide has passed; ask the agent to propose it again." },
  decision_not_yours: {
    status: 409,
    message: "You may not decide this; only whoever asked for it may, or whom the project names.",
  },
  deciders_unavailable: {
    status: 503,
    message: "Whether you may decide this could not be checked just now, and nothing changed; try again in a moment.",
  },
  decision_changed: { status: 409, message: "The card is not the one that was proposed; open it again." },
  needs_reapproval: {
    status: 409,
    message: "What was approved no longer matches what would run; ask the agent to propose it again.",
  },
  apply_not_applied: { status: 409, message: "The tool failed before it wrote anything." },
  apply_refused: { status: 409, message: "The target refused the write; nothing was changed." },
  apply_unconfirmed: {
    status: 409,
    message:
      "It may have been written: no answer settled it. Check the target before you run it again: the same key is sent, and many services forget keys after 24 hours.",
  },

  turn_failed: { status: 500, message: "The turn failed; send the message again." },
  turn_too_long: { status: 500, message: "The turn took too many steps and was stopped; split the request." },
  turn_abandoned: {
    status: 500,
    message: "The turn was interrupted by restarts too often and was given up; send the message again.",
  },
  agent_load_failed: {
    status: 500,
    message: "The agent's code did not load; its author has to fix it and deploy again.",
  },
  agent_render_failed: {
    status: 500,
    message: "The agent's code failed while it was rendered; its author has to fix it and deploy again.",
  },
  model_unavailable: { status: 503, message: "The model could not be reached; try again in a moment." },
  model_refused: {
    status: 500,
    message: "The model's provider refused the request; check the model name and its key.",
  },
  model_rate_limited: { status: 503, message: "The model's provider is limiting requests; try again in a minute." },

  tool_unknown: { status: 500, message: "No tool of this name is offered in this step." },
  tool_arguments_invalid: { status: 500, message: "The arguments do not fit the tool's input schema." },
  tool_failed: { status: 500, message: "The tool failed." },
  tool_result_invalid: { status: 500, message: "The tool returned a value that cannot be kept." },
  result_refused: {
    status: 500,
    message: "The result was not kept: its turn was interrupted, or the session runs elsewhere now.",
  },
  result_conflict: { status: 500, message: "This call has reported another result before, and that one stands." },
  tool_timed_out: { status: 500, message: "The tool did not finish in time." },
  tool_interrupted: { status: 500, message: "The tool was stopped with its turn." },
  runtime_lost: {
    status: 500,
    message: "The process that ran the agent's code ended; the call's outcome is not known.",
  },
  preview_failed: { status: 500, message: "The preview of the change failed, so nothing was proposed." },
  nobody_to_ask: {
    status: 500,
    message: "There is nobody to ask here: a change that needs approval can only be proposed in a conversation.",
  },
  question_already_asked: { status: 500, message: "A turn asks one question at a time; this one was not asked." },

  config_invalid: { status: 500, message: "The configuration is not valid." },
  project_invalid: { status: 500, message: "The project cannot be built." },
  port_in_use: { status: 500, message: "The port is taken; stop what uses it or pass another one with --port." },
  database_unreachable: { status: 500, message: "PostgreSQL cannot be reached; check DATABASE_URL." },
  queue_unreachable: { status: 503, message: "Redis cannot be reached; check REDIS_URL." },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** The one error class of ours: a code of the catalogue, a sentence for people, the internal reason as `cause`. */
export class CountersignError extends Error {
  readonly code: ErrorCode;
  readonly status: number;

  constructor(code: ErrorCode, message: string = ERRORS[code].message, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "CountersignError";
    this.code = code;
    this.status = ERRORS[code].status;
  }
}

export const isCode = (error: unknown, code: ErrorCode): error is CountersignError =>
  error instanceof CountersignError && error.code === code;
