import { v4, v7 } from "uuid";
import type { Pool } from "../../src/core/db/pool.ts";
import type { InboundEvent } from "../../src/core/domain/message.ts";
import { applyDecision } from "../../src/core/flow/applyDecision.ts";
import { DEFAULT_WORKER_LIMITS, type WorkerCore } from "../../src/core/flow/core.ts";
import { deliver } from "../../src/core/flow/deliver.ts";
import { createLeases } from "../../src/core/flow/leases.ts";
import { receiveInbound } from "../../src/core/flow/receiveInbound.ts";
import { runTurns } from "../../src/core/flow/runTurn.ts";
import { sweep } from "../../src/core/flow/sweep.ts";
import { verifyDecision } from "../../src/core/flow/verifyDecision.ts";
import type { ChatSender, JobQueue, ModelPort, Wake, WakeKind } from "../../src/core/ports.ts";
import { createHeadKey } from "../../src/core/record/headKey.ts";
import { createSchemaCheck } from "../../src/core/tools/schema.ts";
import { silentLog } from "../helpers/log.ts";
import { createAgent } from "./agent.ts";
import { type Called, createCrashPoints, type Flow, type Point } from "./crashPoints.ts";
import { FORGET } from "./forget.ts";
import { readStored, type Stored } from "./history.ts";
import type { HttpClient } from "./httpCall.ts";
import { MUTATIONS, type MutationName, mutate } from "./mutations.ts";
import { openWork } from "./openWork.ts";
import { patiently } from "./patiently.ts";
import { modelStep, type StoryName, storyOf } from "./stories.ts";
import { countPool, countPort, countRuntime, nameFence } from "./wrap.ts";

/** One run as a process is told of it. */
export interface OpenRun {
  /** Names the run to the platform, the ledger and the queue. */
  readonly run: string;
  readonly databaseUrl: string;
  readonly story: StoryName;
  readonly stopAt: Point | null;
  readonly mutation: MutationName | null;
  readonly chatUrl: string;
  readonly ledgerUrl: string;
}

/** One run's worker: the real flows and stores, on a pool and ports that count every call. */
export interface WorkerRun {
  /** Resolves once it is committed, as the platform is answered; what follows is rung behind its back. */
  receive(event: InboundEvent): Promise<void>;
  /** A wake from the queue. */
  handle(kind: WakeKind, id: string): Promise<void>;
  /** Does everything that is due, moving the database's clock over leases and delays. False: it never came to rest. */
  settle(): Promise<boolean>;
  /** Until what is under way here has ended. */
  end(): Promise<void>;
  passTime(ms: number): Promise<void>;
  called(): readonly Called[];
  stored(): Promise<Stored>;
  thaw(): void;
  /** `forget`: leaves the database as if the run had never been. */
  close(forget: boolean): Promise<void>;
}

/** Past the longest lease, and past what the sweeper gives a wake before it rings again. */
const PAST_LEASES_MS = 21_000;
/** Each round moves the clock past one lease; a delivery that is retried twice needs six. */
const MOST_ROUNDS = 15;
/** A wake that the queue took and nobody heard within this is lost; the sweeper rings again. */
const HEARD_WITHIN_MS = 5_000;

const HANDLERS: Readonly<Record<WakeKind, (core: WorkerCore, id: string) => Promise<void>>> = {
  turn: runTurns,
  apply: applyDecision,
  verify: verifyDecision,
  deliver,
};

export function openWorkerRun(
  open: OpenRun,
  deps: {
    readonly queue: Pick<JobQueue, "wake">;
    /** Of the run's database. */
    readonly pool: Pool;
    readonly lockPool: Pool;
    readonly http: HttpClient;
    readonly onStop: (at: Called) => void;
  },
): WorkerRun {
  const { run, story } = open;
  const points = createCrashPoints(open.stopAt, deps.onStop);
  const { pool, lockPool } = deps;
  const counted = countPool(points, pool, lockPool, open.mutation ? mutate(MUTATIONS[open.mutation]) : (text) => text);
  const leases = createLeases(
    { pool, log: silentLog },
    { leaseMs: DEFAULT_WORKER_LIMITS.leaseMs, beatMs: 2 ** 31 - 1 },
  );
  const { deaf = false, plain = false } = storyOf(story);

  // What was rung here and not heard yet, and what is being received: the run is idle once both are over.
  const rung = new Map<string, number>();
  let receiving = 0;
  let working: Promise<void> = Promise.resolve();
  let noteIdle = () => {};
  const idle = () => receiving === 0 && rung.size === 0;
  const count = (wake: Pick<Wake, "kind" | "id">, by: number) => {
    const key = `${wake.kind} ${wake.id}`;
    const now = (rung.get(key) ?? 0) + by;
    if (now > 0) rung.set(key, now);
    else rung.delete(key);
    if (idle()) noteIdle();
  };

  async function ring(wakes: readonly Wake[]): Promise<void> {
    if (deaf && points.inside()?.flow !== "sweep") return;
    // A doorbell may ring twice: every write is offered to be started twice.
    const all = wakes.flatMap((wake) => (wake.kind === "apply" && !plain ? [wake, wake] : [wake]));
    const atOnce = all.filter((wake) => wake.delayMs === undefined);
    for (const wake of atOnce) count(wake, 1);
    await points
      .call("queue.wake", () => deps.queue.wake(all.map((wake) => ({ ...wake, id: `${run}~${wake.id}` }))))
      .catch(() => {
        for (const wake of atOnce) count(wake, -1);
      });
  }

  const core: WorkerCore = {
    pool: counted,
    ids: { ordered: v7, random: v4 },
    log: silentLog,
    leases: nameFence(points, leases),
    model: countPort<ModelPort>(
      points,
      "model",
      { step: async ({ history }) => modelStep(history) },
      { step: "quiet" },
    ),
    runtime: countRuntime(points, createAgent(points, deps.http, `${open.ledgerUrl}/${run}`)),
    chats: {
      slack: countPort(points, "chat", createChat(deps.http, `${open.chatUrl}/${run}`), {
        send: "acts",
        find: "quiet",
        status: "quiet",
      }),
    },
    check: createSchemaCheck(),
    providers: [],
    headKey: createHeadKey(Buffer.alloc(32, 7).toString("base64")),
    ring: async (wakes) => {
      if (wakes.length > 0) await ring(wakes);
    },
    random: () => 0,
    limits: DEFAULT_WORKER_LIMITS,
  };

  /** One thing after another, so that the n-th call of a flow is the same one in every run. */
  function alone<T>(work: () => Promise<T>): Promise<T> {
    const done = working.then(work);
    working = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  const atIdle = (): Promise<void> =>
    idle()
      ? Promise.resolve()
      : new Promise((resolve) => {
          const late = setTimeout(() => {
            rung.clear();
            resolve();
          }, HEARD_WITHIN_MS);
          noteIdle = () => {
            clearTimeout(late);
            resolve();
          };
        });

  const passTime = async (ms: number): Promise<void> => {
    const shift = "update clock set shift = shift + make_interval(secs => $1::double precision / 1000)";
    await patiently(() => pool.query(shift, [ms]));
  };

  return {
    async receive(event) {
      receiving++;
      const flow: Flow = event.kind === "click" && event.button.for === "decision" ? "decide" : "receive";
      await new Promise<void>((acknowledge, refuse) => {
        alone(() =>
          points.enter(flow, async () => {
            const { wakes } = await receiveInbound(core, event);
            acknowledge();
            await core.ring(wakes);
          }),
        )
          .catch(refuse)
          .finally(() => {
            receiving--;
            if (idle()) noteIdle();
          });
      });
    },
    async handle(kind, id) {
      try {
        await alone(() => points.enter(kind, () => points.call("job", () => HANDLERS[kind](core, id))));
      } finally {
        count({ kind, id }, -1);
      }
    },
    async settle() {
      const stoppedBefore = points.hasStopped();
      for (let round = 0; round < MOST_ROUNDS; round++) {
        await atIdle();
        // Whoever asked has been told that the world stopped: once it goes on, time is somebody else's to move.
        if (points.hasStopped() !== stoppedBefore) return false;
        // Once in any case, as the sweeper's timer would.
        if (round > 0 && !(await patiently(() => openWork(pool)))) return true;
        if (round > 0) await passTime(PAST_LEASES_MS);
        // One that fails is tried again, as the timer does.
        await alone(() => points.enter("sweep", () => sweep(core))).catch(() => false);
      }
      return false;
    },
    end: () => working,
    passTime,
    called: () => points.called,
    stored: () => patiently(() => readStored(pool)),
    thaw: () => points.thaw(),
    async close(forget) {
      await leases.close(0);
      if (forget) await patiently(() => pool.query(FORGET));
    },
  };
}

/** The chat platform over HTTP; see `platform.ts`. */
function createChat(http: HttpClient, url: string): ChatSender {
  const ask = async <T>(path: string, body: unknown): Promise<T> =>
    JSON.parse((await http.call({ method: "POST", url: `${url}/${path}`, body: JSON.stringify(body) })).body) as T;
  return {
    provider: "slack",
    send: (outgoing) => ask("send", outgoing),
    find: (outgoing) => ask("find", outgoing),
    status: async () => {},
    split: (markdown) => [markdown],
  };
}
