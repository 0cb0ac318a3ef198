import type { FastifyPluginAsync } from "fastify";
import type { SessionEvent } from "../../../src/core/domain/event.ts";
import { type AgentManifest, DEFAULT_APPROVALS, type Deployment } from "../../../src/core/domain/manifest.ts";
import type { Core } from "../../../src/core/flow/core.ts";
import { createSession } from "../../../src/core/flow/createSession.ts";
import { deploy } from "../../../src/core/flow/deploy.ts";
import { submitTurn } from "../../../src/core/flow/queueTurn.ts";
import type {
  DecisionSummary,
  DecisionView,
  ErrorView,
  SessionSummary,
  SessionView,
  TurnView,
} from "../../../src/core/flow/views.ts";
import type { Log, Wake } from "../../../src/core/ports.ts";
import { insertDecision } from "../../../src/core/store/decisions.ts";
import { insertQuestion } from "../../../src/core/store/questions.ts";
import { createApiApp } from "../../../src/gateway/http/app.ts";
import type { FollowLimits } from "../../../src/gateway/http/follow.ts";
import type { HttpServer } from "../../../src/gateway/http/server.ts";
import { ids } from "../../../src/gateway/ids.ts";
import { createTestDatabase, type TestDatabase } from "../../helpers/database.ts";
import { recordingLog } from "../../helpers/log.ts";

export const API_KEY = "key-of-the-tests";

const agent = (id: string): AgentManifest => ({
  id,
  module: `agents/${id}/agent.js`,
  tools: [],
  connections: [],
  secrets: [],
  builtins: [],
});

export const DEPLOYMENT: Deployment = {
  id: "dpl_tests",
  manifest: {
    version: 1,
    project: "tests",
    agents: [agent("support"), agent("sales")],
    approvals: DEFAULT_APPROVALS,
    warnings: [],
    variables: [],
  },
  files: [{ path: "agents/support/agent.js", content: new TextEncoder().encode("export default () => ''") }],
};

/** Every field an answer may have; a test reads those of the route it called. */
export interface Body extends Omit<SessionView, "status">, Pick<DecisionView, "decidedBy" | "input"> {
  readonly status: string;
  readonly session: SessionView;
  readonly deployment: { readonly id: string };
  readonly turn: TurnView;
  readonly sessions: readonly SessionSummary[];
  readonly decisions: readonly DecisionSummary[];
  readonly events: readonly SessionEvent[];
  readonly nextCursor: string | null;
  readonly error: ErrorView;
}

export interface Answered {
  readonly status: number;
  readonly body: Body;
  readonly headers: Readonly<Record<string, unknown>>;
}

export interface Setting {
  readonly db: TestDatabase;
  readonly core: Core;
  readonly app: HttpServer;
  readonly log: ReturnType<typeof recordingLog>;
  /** Every wake that was rung, in order. */
  readonly rung: Wake[];
  readonly nudges: () => number;
  get(path: string, headers?: Record<string, string>): Promise<Answered>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>;
  close(): Promise<void>;
}

/** The API over a database of its own, with a deployment of the agents `support` and `sales`. */
export async function createSetting(
  options: { plugins?: readonly FastifyPluginAsync[]; follow?: Partial<FollowLimits> } = {},
): Promise<Setting> {
  const db = await createTestDatabase();
  const log = recordingLog();
  const core: Core = { pool: db.pool, ids, log: log satisfies Log };
  await deploy(core, DEPLOYMENT);
  const rung: Wake[] = [];
  let nudges = 0;
  const app = await createApiApp({
    core,
    log,
    apiKey: API_KEY,
    ring: async (wakes) => void rung.push(...wakes),
    nudge: () => void nudges++,
    ...options,
  });
  const call = async (method: "GET" | "POST", url: string, body: unknown, headers: Record<string, string>) => {
    const answer = await app.inject({
      method,
      url,
      headers: { "x-api-key": API_KEY, ...headers },
      ...(body !== undefined && { payload: body as object }),
    });
    return { status: answer.statusCode, body: answer.json<Body>(), headers: answer.headers };
  };
  return {
    db,
    core,
    app,
    log,
    rung,
    nudges: () => nudges,
    get: (path, headers = {}) => call("GET", `/api${path}`, undefined, headers),
    post: (path, body, headers = {}) => call("POST", `/api${path}`, body, headers),
    close: async () => {
      await app.close();
      await db.drop();
    },
  };
}

export async function newSession({ core }: Setting): Promise<string> {
  return (await createSession(core, { agentId: "support" })).session.id;
}

export async function newTurn({ core }: Setting, sessionId: string): Promise<string> {
  const { turn } = await submitTurn(core, { sessionId, text: "hello", mode: "queue", idempotencyKey: null });
  return turn.id;
}

/** An open question of the session, with the options `Red` and `Blue`. */
export async function askSomething({ core }: Setting, sessionId: string, turnId: string): Promise<string> {
  const id = `qst_${ids.random().replaceAll("-", "")}`;
  await insertQuestion(core.pool, {
    id,
    sessionId,
    turnId,
    callId: "call_1",
    text: "Which one?",
    options: [
      { label: "Red", value: "the-red-one" },
      { label: "Blue", value: "the-blue-one" },
    ],
    person: null,
    steering: [],
    deliveryId: null,
  });
  return id;
}

/** A pending decision, as a turn of a new session proposes it. */
export async function proposeSomething(
  setting: Setting,
  input: unknown = { order: "A-1" },
): Promise<{ id: string; sessionId: string }> {
  const sessionId = await newSession(setting);
  const turnId = await newTurn(setting, sessionId);
  const id = `dec_${ids.ordered().replaceAll("-", "")}`;
  await insertDecision(setting.core.pool, {
    id,
    sessionId,
    turnId,
    callId: `call_${id}`,
    messageId: "msg_1",
    agentId: "support",
    deploymentId: DEPLOYMENT.id,
    tool: "attach",
    toolDigest: "t".repeat(64),
    input: JSON.stringify(input),
    inputDigest: "i".repeat(64),
    preview: { title: "Attach the invoice", facts: [{ label: "Order", value: "A-1" }] },
    cardDigest: "c".repeat(64),
    person: { provider: "slack", workspaceId: "T1", userId: "U1" },
    rule: { deciders: "requester", requesterMayDecide: true, expiresAfterMs: 3_600_000, applyTimeoutMs: 60_000 },
    deliveryId: null,
  });
  return { id, sessionId };
}
