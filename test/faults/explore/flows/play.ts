import type { Pool } from "../../../../src/core/db/pool.ts";
import type { Conversation } from "../../../../src/core/domain/message.ts";
import type { WorkerCore } from "../../../../src/core/flow/core.ts";
import { createLeases } from "../../../../src/core/flow/leases.ts";
import { sweep } from "../../../../src/core/flow/sweep.ts";
import type { Wake } from "../../../../src/core/ports.ts";
import type { ScriptedStep } from "../../../helpers/core/model.ts";
import { newThread, post, type TestCore } from "../../../helpers/core.ts";
import { readStored, type Said } from "../../history.ts";
import { check } from "../../invariants.ts";
import { openWork } from "../../openWork.ts";
import type { Rewrite } from "../../wrap.ts";
import { people } from "./cast.ts";
import { direct, type Schedule } from "./director.ts";
import { gated } from "./gated.ts";
import { platform, target } from "./outside.ts";
import type { Answer, Deed, Ending, Says } from "./people.ts";
import { createStage, type Stage } from "./stage.ts";

/** What may happen to a run besides what people do, and how often beside the rest. */
export const CUES = {
  /** Everybody else goes first. */
  yields: 4,
  /** As SIGSTOP does it: everybody else goes first, for longer than a lease, and the sweeper comes by. */
  "is paused": 4,
  "is killed": 2,
  /** Its next statement is carried out, and the connection is cut before it is answered. */
  "is cut off": 2,
  /** Takes nothing more, finishes or hands back what it has; another one has its place. */
  "shuts down": 1,
  "a day passes": 1,
  "a sweep": 2,
  "leases are renewed": 1,
  "wakes are lost": 1,
  "every wake again": 1,
} as const;
export type Cue = keyof typeof CUES;

export interface Play {
  readonly schedule: Schedule<Cue>;
  readonly people: readonly Deed[];
  readonly target: readonly Ending[];
  readonly platform: readonly Answer[];
  readonly model: readonly Says[];
}

const STEPS: Readonly<Record<Says, ScriptedStep>> = {
  words: { text: "Here you are." },
  "looks up": { calls: [{ tool: "lookup_order", input: { id: "7" } }] },
  asks: {
    text: "One thing.",
    calls: [{ tool: "ask", input: { text: "Which?", options: [{ label: "A", value: "a" }] } }],
  },
  proposes: { calls: [{ tool: "attach", input: { order: 7 } }] },
  "proposes two": {
    calls: [
      { tool: "attach", input: { order: 7 } },
      { tool: "attach", input: { order: 8 } },
    ],
  },
};

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Longer than a lease. */
const PAUSE = 25_000;

/**
 * Plays one run of concurrent flows on a real database, lets everything heal, and returns what was wrong afterwards:
 * empty where every invariant holds. `begun`: a first post was worked off and its proposals are on screen.
 */
export async function play(
  t: TestCore,
  pool: Pool,
  run: Play,
  begun: boolean,
  rewrite: Rewrite = (statement) => statement,
): Promise<{ wrong: string[]; played: string[] }> {
  const stage = createStage(t.core.pool);
  const effects = target(t, stage, run.target);
  const thread = newThread();
  const said: Said[] = [];
  if (begun) await begin(t, thread, said);
  t.model.script(...run.model.map((says) => STEPS[says]));
  platform(t, run.platform);

  const onStage = () => workerOnStage(t, pool, stage, rewrite);
  const workers = ["worker 1", "worker 2", "worker 3"].map((name) => ({ name, core: onStage() }));
  const gateway = onStage();
  const cast = people(t, stage, gateway, thread, said, run.people);
  let swept = 0;
  const sweeps = () => stage.enter(`sweep ${++swept}`, async () => void (await sweep(gateway)));
  const played = await direct(stage, run.schedule, {
    async admit(changed) {
      if (changed) await cast.admit();
      for (const { name, core } of workers) {
        const free = !stage.present().includes(name);
        if (free && t.wakes.waiting.length > 0) stage.enter(name, () => t.wakes.drain(core));
      }
    },
    async perform(cue, next) {
      switch (cue) {
        case "yields":
          return true;
        case "is paused":
          await t.passTime(PAUSE);
          sweeps();
          return true;
        case "is killed":
          if (next) stage.kill(next);
          return false;
        case "is cut off":
          if (next) stage.cut(next);
          return false;
        case "shuts down": {
          const leaving = workers.find((worker) => worker.name === next);
          void leaving?.core.leases.close(MINUTE);
          if (leaving) leaving.core = onStage();
          return false;
        }
        case "a day passes":
          await t.passTime(DAY);
          return false;
        case "a sweep":
          sweeps();
          return false;
        case "leases are renewed":
          for (const { name, core } of workers) {
            const beat = `${name} renews`;
            if (!stage.present().includes(beat)) stage.enter(beat, () => core.leases.beat());
          }
          return false;
        case "wakes are lost":
          t.wakes.lose();
          return false;
        case "every wake again":
          await t.wakes.ring(await everyWake(t));
          return false;
      }
    },
  });

  await heal(t);
  const stored = await readStored(t.core.pool);
  // Words that answered a question are no turn of their own.
  const answered = new Set(stored.turns.flatMap((turn) => turn.input.answer?.text ?? []));
  const spoken = said.filter((word) => word.kind !== "post" || !answered.has(word.text));
  const broken = check({ stored, effects, chat: t.chat.posts, said: spoken });
  const wrong = [
    ...stage.errors.map((error) => `a flow threw ${error instanceof Error ? error.stack : String(error)}`),
    ...broken.map(({ invariant, detail }) => `${invariant} ${detail}`),
  ];
  return { wrong, played };
}

/** A worker of its own leases, all of whose calls wait on the stage. */
function workerOnStage(t: TestCore, pool: Pool, stage: Stage, rewrite: Rewrite): WorkerCore {
  const worker = gated({ ...t.anotherWorker(), pool }, stage, rewrite);
  const { leaseMs } = worker.limits;
  return { ...worker, leases: createLeases({ pool: worker.pool, log: t.log }, { leaseMs, beatMs: 2 ** 31 - 1 }) };
}

async function begin(t: TestCore, thread: Conversation, said: Said[]): Promise<void> {
  t.model.script(STEPS["proposes two"]);
  said.push({ kind: "post", text: "go", acknowledged: true });
  await t.receive(post(thread, "go"));
  await t.drain();
}

/** A wake of every kind for every row, as a queue would repeat them that was restored from an old snapshot. */
async function everyWake(t: TestCore): Promise<Wake[]> {
  const { rows } = await t.core.pool.query<Wake>(
    `select 'turn' as kind, id from sessions union all select 'deliver', id from sessions
     union all select 'apply', id from decisions union all select 'verify', id from decisions`,
  );
  return rows;
}

/** Nothing fails any more; time passes, and the sweeper finds what is left. */
async function heal(t: TestCore): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    await t.drain();
    if (!(await openWork(t.core.pool))) return;
    await t.passTime(2 * MINUTE);
    await sweep(t.core);
  }
}

/** One for what was claimed, one for each delay that doubles up to what a message of six faults has come to. */
const MOST_ROUNDS = 8;
