import { afterAll, beforeAll, expect, it } from "vitest";
import { API_KEY, createSetting, newSession, type Setting } from "./setting.ts";

let setting: Setting;
let session: string;

beforeAll(async () => {
  setting = await createSetting();
  session = await newSession(setting);
});
afterAll(() => setting.close());

const NOT_FOUND = "There is nothing under this address; check the id.";
const JSON_TYPE = { "content-type": "application/json" };

interface Bad {
  readonly what: string;
  readonly request: readonly [method: "GET" | "POST", path: string, body?: unknown, headers?: Record<string, string>];
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

const bad = (what: string, request: Bad["request"], message: string, status = 400, code = "bad_request"): Bad => ({
  what,
  request,
  status,
  code,
  message,
});

const BODIES: readonly Bad[] = [
  bad("no body", ["POST", "/sessions"], "body: agentId is missing."),
  bad("an empty JSON body", ["POST", "/sessions", "", JSON_TYPE], "body: agentId is missing."),
  bad("a list", ["POST", "/sessions", []], "The body must be an object."),
  bad("null", ["POST", "/sessions", "null", JSON_TYPE], "The body must be an object."),
  bad(
    "text",
    ["POST", "/sessions", "hi", { "content-type": "text/plain" }],
    "The body must be JSON, sent with content-type: application/json.",
  ),
  bad("half a body", ["POST", "/sessions", '{"agentId":', JSON_TYPE], "The body is not valid JSON."),
  bad("a poisoned prototype", ["POST", "/sessions", '{"__proto__":{}}', JSON_TYPE], "The body is not valid JSON."),
  bad("a number for a name", ["POST", "/sessions", { agentId: 5 }], "body: agentId must be a string."),
  bad("an empty name", ["POST", "/sessions", { agentId: "" }], "body: agentId must not be empty."),
  bad(
    "an unknown source",
    ["POST", "/sessions", { agentId: "support", source: "x" }],
    "body: source must be one of user, channel, schedule, webhook, subagent, system, event.",
  ),
  bad(
    "a label that is no text",
    ["POST", "/sessions", { agentId: "support", labels: { a: 1 } }],
    "body: labels.a must be a string.",
  ),
  bad(
    "a label with NUL",
    ["POST", "/sessions", { agentId: "support", labels: { a: "\u0000" } }],
    "body: labels.a holds a character that is not allowed.",
  ),
  bad(
    "a label's name with NUL",
    ["POST", "/sessions", { agentId: "support", labels: { "\u0000": "" } }],
    "body: labels holds a character that is not allowed.",
  ),
  bad(
    "an empty key",
    ["POST", "/sessions", { agentId: "support" }, { "idempotency-key": "" }],
    "header: idempotency-key must not be empty.",
  ),
  bad(
    "a key over 255",
    ["POST", "/sessions", { agentId: "support", idempotencyKey: "k".repeat(256) }],
    "body: idempotencyKey must be at most 255 characters.",
  ),
  bad(
    "an unknown agent",
    ["POST", "/sessions", { agentId: "nobody" }],
    "No active deployment has this agent; deploy it first or check the name.",
    404,
    "agent_unknown",
  ),
  bad(
    "a body over 1 MiB",
    ["POST", "/sessions", { agentId: "x".repeat(1024 * 1024) }],
    "The body is over 1 MiB; send less.",
    413,
    "body_too_large",
  ),
  bad("no input", ["POST", "/sessions/$/turns", { text: "hi" }], "body: input is missing."),
  bad("an empty input", ["POST", "/sessions/$/turns", { input: "" }], "body: input must not be empty."),
  bad(
    "an input that is no text",
    ["POST", "/sessions/$/turns", { input: { text: "hi" } }],
    "body: input must be a string.",
  ),
  bad(
    "an unknown mode",
    ["POST", "/sessions/$/turns", { input: "hi", mode: "now" }],
    "body: mode must be one of queue, steer, interrupt.",
  ),
  bad(
    "a bottomless payload",
    ["POST", "/sessions/$/turns", `{"input":"hi","payload":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, JSON_TYPE],
    "body: payload is not valid, nested deeper than 200 levels.",
  ),
  bad("no question", ["POST", "/sessions/$/answer", { text: "yes" }], "body: questionId is missing."),
  bad(
    "a blank answer",
    ["POST", "/sessions/$/answer", { questionId: "qst_1", text: " " }],
    "body: text must not be blank.",
  ),
  bad(
    "a question that is not open",
    ["POST", "/sessions/$/answer", { questionId: "qst_1", text: "yes" }],
    "This question is not open any more; read the session for its current state.",
    409,
    "no_open_question",
  ),
  bad("A7 nobody", ["POST", "/decisions/dec_1/approve"], "body: by is missing."),
  bad("A7 nobody, with a reason", ["POST", "/decisions/dec_1/reject", { reason: "no" }], "body: by is missing."),
  bad("A7 a blank name", ["POST", "/decisions/dec_1/run-again", { by: " \n" }], "body: by must not be blank."),
  bad(
    "a reason with NUL",
    ["POST", "/decisions/dec_1/reject", { by: "ada", reason: "\u0000" }],
    "body: reason holds a character that is not allowed.",
  ),
];

const QUERIES: readonly Bad[] = [
  bad("an unknown filter", ["GET", "/sessions?state=idle"], "query: state is not known here."),
  bad(
    "an unknown status",
    ["GET", "/sessions?status=done"],
    "query: status must be one of idle, running, stopping, ended, failed.",
  ),
  bad("a limit of none", ["GET", "/sessions?limit=0"], "query: limit must be at least 1."),
  bad("a limit over 100", ["GET", "/sessions?limit=101"], "query: limit must be at most 100."),
  bad("a limit in words", ["GET", "/sessions?limit=ten"], "query: limit must be an integer."),
  bad("a filter twice", ["GET", "/sessions?agent=a&agent=b"], "query: agent must be a string."),
  bad("a label with NUL", ["GET", "/sessions?label.a=%00"], "query: label.a holds a character that is not allowed."),
  bad("a label whose name has NUL", ["GET", "/sessions?label.a%00=b"], "query: label.a\u0000 is not known here."),
  bad(
    "a made-up cursor",
    ["GET", "/sessions?cursor=WyJ4IiwieSJd"],
    "query: cursor is not one that this list gave; start without it.",
  ),
  bad("a negative seq", ["GET", "/sessions/$/events?after=-1"], "query: after must be at least 0."),
  bad(
    "a seq over all numbers",
    ["GET", "/sessions/$/events?after=9007199254740993"],
    "query: after must be at most 9007199254740991.",
  ),
  bad("over 500 events", ["GET", "/sessions/$/events?limit=501"], "query: limit must be at most 500."),
  bad(
    "a made-up event id",
    ["GET", "/sessions/$/events", undefined, { accept: "text/event-stream", "last-event-id": "x" }],
    "header: last-event-id must be the id of an event of this stream.",
  ),
  bad(
    "an unknown decision status",
    ["GET", "/decisions?status=open"],
    "query: status must be one of pending, approved, rejected, expired, applying, applied, failed, unconfirmed.",
  ),
];

const nothing = (method: "GET" | "POST", path: string, body?: unknown): Bad =>
  bad(`nothing under ${method} ${path}`, [method, path, body], NOT_FOUND, 404, "not_found");

const ADDRESSES: readonly Bad[] = [
  bad("an address that cannot be read", ["GET", "/sessions/%zz"], "The address is not valid."),
  nothing("GET", "/nope"),
  nothing("GET", "/sessions/ses_none"),
  nothing("GET", "/sessions/%00"),
  nothing("GET", `/sessions/${"x".repeat(5_000)}`),
  nothing("POST", "/sessions/ses_none/turns", { input: "hi" }),
  nothing("POST", "/sessions/ses_none/answer", { questionId: "qst_1", text: "hi" }),
  nothing("POST", "/sessions/ses_none/interrupt"),
  nothing("POST", "/sessions/ses_none/end"),
  nothing("GET", "/sessions/ses_none/events"),
  nothing("GET", "/decisions/dec_none"),
  nothing("POST", "/decisions/dec_none/approve", { by: "ada" }),
  nothing("POST", "/decisions/dec_none/run-again", { by: "ada" }),
];

it.each([...BODIES, ...QUERIES, ...ADDRESSES])(
  "S7 $what: $status $message",
  async ({ request, status, code, message }) => {
    const [method, path, body, headers = {}] = request;
    const answer = await setting.app.inject({
      method,
      url: `/api${path.replace("$", session)}`,
      headers: { "x-api-key": API_KEY, ...headers },
      ...(body !== undefined && { payload: body as object }),
    });
    expect(answer.json()).toEqual({ error: { code, message } });
    expect(answer.statusCode).toBe(status);
    expect(answer.headers["content-type"]).toMatch(/^application\/json/);
  },
);

it("leaves no trace of a bad request", async () => {
  const { body } = await setting.get(`/sessions/${session}`);
  expect(body).toMatchObject({ revision: 1, turns: [] });
  expect(setting.rung).toEqual([]);
});
