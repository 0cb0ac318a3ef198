import { v4, v7 } from "uuid";
import type { SessionEvent } from "../../src/core/domain/event.ts";
import type { IdSource } from "../../src/core/domain/ids.ts";
import { type ApprovalSettings, DEFAULT_APPROVALS, type Deployment } from "../../src/core/domain/manifest.ts";
import type { Card, InboundEvent } from "../../src/core/domain/message.ts";
import { DEFAULT_WORKER_LIMITS, type WorkerCore } from "../../src/core/flow/core.ts";
import { deploy } from "../../src/core/flow/deploy.ts";
import { createLeases } from "../../src/core/flow/leases.ts";
import { type Received, receiveInbound } from "../../src/core/flow/receiveInbound.ts";
import { createHeadKey } from "../../src/core/record/headKey.ts";
import { readAllEvents } from "../../src/core/store/events.ts";
import { createSchemaCheck } from "../../src/core/tools/schema.ts";
import { createFakeChat, type FakeChat } from "./core/chat.ts";
import { createScriptedModel, type ScriptedModel } from "./core/model.ts";
import { createFakeRuntime, type FakeRuntime, type FakeTool } from "./core/runtime.ts";
import { createWakes, type Wakes } from "./core/wakes.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { recordingLog } from "./log.ts";

export * from "./core/inbound.ts";
export * from "./core/race.ts";
export { EndsWith, threw } from "./core/runtime.ts";
export { waitUntil } from "./database.ts";

const IDS: IdSource = { ordered: v7, random: v4 };

/** The agent of most tests: looks an order up, and attaches a note to it once somebody approved that. */
export const TOOLS: Readonly<Record<string, FakeTool>> = {
  lookup_order: {
    input: { type: "object", required: ["id"], properties: { id: { type: "string" } } },
    run: () => ({ total: 12 }),
  },
  attach: {
    preview: () => ({ title: "Attach a note", facts: [{ label: "Order", value: 7 }] }),
    apply: () => ({ attached: true }),
  },
};

/** Core on a database of its own, with fakes at the ports; nothing runs until `drain`. */
export interface TestCore {
  readonly database: TestDatabase;
  /** The first worker. */
  readonly core: WorkerCore;
  readonly chat: FakeChat;
  readonly model: ScriptedModel;
  readonly runtime: FakeRuntime;
  readonly wakes: Wakes;
  readonly log: ReturnType<typeof recordingLog>;
  /** One more worker on the same database and ports, with leases of its own. */
  anotherWorker(): WorkerCore;
  /** Receives, and rings what follows. */
  receive(event: InboundEvent): Promise<Received>;
  /** Runs everything that was rung, on the first worker unless told otherwise. */
  drain(worker?: WorkerCore): Promise<void>;
  /** Moves the database's clock, and rings what was delayed until then. */
  passTime(ms: number): Promise<void>;
  /** Stops the database's clock at this time; `passTime` goes on moving it. */
  freezeAt(time: string): Promise<void>;
  eventsOf(sessionId: string): Promise<SessionEvent[]>;
  /** The newest card on screen. */
  lastCard(): Card;
  /** Makes this the deployment new sessions open on. */
  deploy(over?: DeployOptions): Promise<Deployment>;
  /** Everything forgotten, the clock right again; deployed as at first. For `beforeEach`. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export interface DeployOptions {
  readonly id?: string;
  readonly approvals?: Partial<ApprovalSettings>;
  /** Digest of every tool. */
  readonly digest?: string;
  /** What the manifest says of every tool; nothing, unless given. */
  readonly verifies?: boolean;
}

export async function createTestCore(tools: Readonly<Record<string, FakeTool>> = TOOLS): Promise<TestCore> {
  const database = await createTestDatabase();
  const { pool } = database;
  const chat = createFakeChat();
  const model = createScriptedModel();
  const runtime = createFakeRuntime(tools);
  const wakes = createWakes();
  const log = recordingLog();

  // The timer never beats on its own: a test says when a worker renews, and when it has vanished.
  const worker = (): WorkerCore => ({
    pool,
    ids: IDS,
    log,
    leases: createLeases({ pool, log }, { leaseMs: DEFAULT_WORKER_LIMITS.leaseMs, beatMs: 2 ** 31 - 1 }),
    model,
    runtime,
    chats: { slack: chat },
    check: createSchemaCheck(),
    providers: [],
    headKey: createHeadKey(Buffer.alloc(32, 7).toString("base64")),
    ring: wakes.ring,
    random: () => 0,
    limits: DEFAULT_WORKER_LIMITS,
  });
  const core = worker();
  let frozen = false;

  async function deployTools({
    id = "dpl_1",
    approvals = {},
    digest = "d",
    verifies,
  }: DeployOptions = {}): Promise<Deployment> {
    const deployment = toDeployment(id, { ...DEFAULT_APPROVALS, ...approvals }, digest, verifies, runtime.tools);
    await deploy(core, deployment);
    return deployment;
  }

  const test: TestCore = {
    database,
    core,
    chat,
    model,
    runtime,
    wakes,
    log,
    anotherWorker: worker,
    async receive(event) {
      const received = await receiveInbound(core, event);
      await wakes.ring(received.wakes);
      return received;
    },
    drain: (by = core) => wakes.drain(by),
    async passTime(ms) {
      await pool.query("update clock set shift = shift + make_interval(secs => $1::double precision / 1000)", [ms]);
      wakes.pass(ms);
    },
    async freezeAt(time) {
      frozen = true;
      await pool.query(`create or replace function countersign_now() returns timestamptz language sql stable as $$
        select timestamptz 'epoch' + shift from clock $$`);
      await pool.query("update clock set shift = $1::timestamptz - timestamptz 'epoch'", [time]);
    },
    eventsOf: (sessionId) => readAllEvents(pool, sessionId),
    lastCard() {
      const message = chat.posts.findLast((p) => p.message.kind === "card")?.message;
      if (message?.kind !== "card") throw new Error("no card was posted");
      return message.card;
    },
    deploy: deployTools,
    async reset() {
      await pool.query(FORGET_EVERYTHING);
      if (frozen) await pool.query(RUNNING_CLOCK);
      frozen = false;
      wakes.lose();
      for (const fake of [chat, model, runtime]) fake.reset();
      await deployTools();
    },
    close: () => database.drop(),
  };
  return test;
}

/** The function as the schema has it. */
const RUNNING_CLOCK = `create or replace function countersign_now() returns timestamptz language sql stable as $$
  select date_trunc('milliseconds', statement_timestamp()) + shift from clock $$`;

/** Deleted and not truncated: for a handful of rows that is ten times as fast. */
const FORGET_EVERYTHING = `
  delete from deliveries; delete from session_results; delete from decision_attempts; delete from decisions; delete from questions;
  delete from turns; delete from events; delete from session_people; delete from session_labels; delete from sessions;
  delete from inbox; delete from activation; delete from deployment_files; delete from deployments;
  update clock set shift = interval '0'`;

function toDeployment(
  id: string,
  approvals: ApprovalSettings,
  digest: string,
  verifies: boolean | undefined,
  tools: ReadonlyMap<string, FakeTool>,
): Deployment {
  return {
    id,
    files: [],
    manifest: {
      version: 1,
      project: "test",
      approvals,
      warnings: [],
      variables: [],
      agents: [
        {
          id: "support",
          module: "agents/support/agent.js",
          connections: [],
          secrets: [],
          builtins: ["ask"],
          tools: [...tools].map(([name, tool]) => ({
            name,
            kind: tool.run ? "run" : "approval",
            result: tool.output !== undefined,
            ...(tool.output !== undefined && { output: tool.output }),
            digest: digest.repeat(64),
            declaredAt: `agents/support/tools/${name}.ts:1`,
            ...(verifies !== undefined && { verifies }),
          })),
        },
      ],
    },
  };
}
