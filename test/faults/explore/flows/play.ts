import type { Pool } from "../../../../src/core/db/pool.ts";
import { CountersignError } from "../../../../src/core/domain/errors.ts";
import type { Conversation, InboundEvent } from "../../../../src/core/domain/message.ts";
import { answerByApi } from "../../../../src/core/flow/answerQuestion.ts";
import type { WorkerCore } from "../../../../src/core/flow/core.ts";
import { endSession } from "../../../../src/core/flow/endSession.ts";
import { interrupt } from "../../../../src/core/flow/interrupt.ts";
import { createLeases } from "../../../../src/core/flow/leases.ts";
import { submitTurn } from "../../../../src/core/flow/queueTurn.ts";
import { receiveInbound } from "../../../../src/core/flow/receiveInbound.ts";
import { sweep } from "../../../../src/core/flow/sweep.ts";
import type { Wake } from "../../../../src/core/ports.ts";
import type { ScriptedStep } from "../../../helpers/core/model.ts";
import { clickCard, clickOption, EndsWith, newThread, post, type TestCore, threw } from "../../../helpers/core.ts";
import type { EffectCall } from "../../effectLedger.ts";
import { readStored, type Said } from "../../history.ts";
import { check } from "../../invariants.ts";
import { openWork } from "../../openWork.ts";
import type { Rewrite } from "../../wrap.ts";
import { direct, type Schedule } from "./director.ts";
import { gated } from "./gated.ts";
import { type Answer, type Deed, type Ending, PEOPLE, type Says } from "./people.ts";
import { createStage, type Stage } from "./stage.ts";

/** What may happen to a run besides what people do, and how often beside the rest. */
export const CUES = {
  /** Everybody else goes first. */
  yields: 4,
  /** As SIGSTOP does it: everybody else goes first, for longer than a lease, and the sweeper comes by. */
  "is paused": 4,
  "is killed": 2,
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

// --------------------------------------------------------------------------------------------------- what it stands on

function target(t: TestCore, stage: Stage, endings: readonly Ending[]): EffectCall[] {
  const effects: EffectCall[] = [];
  const left = [...endings];
  const arrive = (key: string, args: string, refused: boolean): void => {
    const before = effects.some((call) => call.key === key && call.outcome !== "refused");
    const outcome = refused ? "refused" : before ? "replayed" : "committed";
    effects.push({ n: effects.length + 1, key, attempt: null, path: "/", args, at: 0, outcome, fault: null });
  };
  t.runtime.tools.set("attach", {
    ...t.runtime.tools.get("attach"),
    async apply({ decision, input }) {
      const key = decision?.id ?? "";
      const ending = left.shift() ?? "answers";
      if (ending === "not called") throw threw({ notApplied: true });
      if (ending === "late") {
        stage.enter(`call ${effects.length + 1} of ${key}`, async () => arrive(key, input, false));
        throw new EndsWith({ kind: "timedOut" });
      }
      await stage.gate("the call arrives");
      arrive(key, input, ending === "refuses");
      await stage.gate("the call is answered");
      if (ending === "refuses") throw threw({ traffic: { writes: [{ status: 409 }], opaque: 0 } });
      if (ending === "breaks behind it") throw threw({ traffic: { writes: [{ status: 500 }], opaque: 0 } });
      if (ending === "is silent") throw new EndsWith({ kind: "timedOut" });
      return { attached: true };
    },
    async verify({ decision }) {
      await stage.gate("verify looks");
      return { applied: effects.some((call) => call.key === decision?.id && call.outcome !== "refused") };
    },
  });
  return effects;
}

function platform(t: TestCore, answers: readonly Answer[]): void {
  for (const answer of answers) {
    t.chat.answerNext((_, accept) => {
      if (answer === "never there") return { outcome: "unknown", code: "silent" };
      if (answer === "limited") return { outcome: "retry", code: "limited", afterMs: 1_000 };
      const sent = accept();
      return answer === "lost" ? { outcome: "unknown", code: "silent" } : sent;
    });
  }
}

// -------------------------------------------------------------------------------------------------------- the people

interface Scene {
  readonly session: string | null;
  readonly cards: readonly { readonly decisionId: string; readonly cardDigest: string; readonly status: string }[];
  readonly question: string | null;
}

async function look(t: TestCore): Promise<Scene> {
  const { rows } = await t.core.pool.query<Scene>(
    `select
       (select id from sessions order by created_at desc, id desc limit 1) as session,
       (select coalesce(json_agg(json_build_object('decisionId', id, 'cardDigest', card_digest,
          'status', case when again_by is null then status else 'approved' end) order by id), '[]') from decisions) as cards,
       (select id from questions where status = 'open' limit 1) as question`,
  );
  return rows[0] ?? { session: null, cards: [], question: null };
}

/** People come on once there is what they want to act on, in the order they stand in; some do it twice at once. */
function people(
  t: TestCore,
  stage: Stage,
  core: WorkerCore,
  thread: Conversation,
  said: Said[],
  deeds: readonly Deed[],
) {
  let waiting = deeds.map((deed, n) => ({ deed, name: `${n + 1} ${"by" in deed ? deed.by : "api"} ${deed.does}` }));

  const receive = async (event: InboundEvent): Promise<void> => {
    const received = await receiveInbound(core, event);
    await core.ring(received.wakes);
  };
  /** Both deliveries of one thing are the same thing: it was acknowledged if either was. */
  function deliver(name: string, event: InboundEvent, twice: boolean, word?: Said): void {
    if (word) said.push(word);
    const at = said.length - 1;
    for (const again of twice ? ["", " again"] : [""]) {
      stage.enter(`${name}${again}`, async () => {
        await receive(event);
        if (word) said[at] = { ...word, acknowledged: true };
      });
    }
  }
  const ask = (name: string, work: () => Promise<{ wakes?: Wake[] }>): void =>
    stage.enter(name, async () => {
      const { wakes = [] } = await work().catch((error): { wakes?: Wake[] } => {
        // Too late, as a program over the API is told.
        if (error instanceof CountersignError) return {};
        throw error;
      });
      await core.ring(wakes);
    });

  /** False: not yet. */
  function comeOn(name: string, deed: Deed, { session, cards, question }: Scene): boolean {
    switch (deed.does) {
      case "approve":
      case "reject":
      case "run-again": {
        const card = cards.find(({ status }) => status === (deed.does === "run-again" ? "unconfirmed" : "pending"));
        if (!card) return false;
        const { decisionId } = card;
        const by = PEOPLE[deed.by];
        const word = { kind: "decide", decisionId, verb: deed.does, by, acknowledged: false } as const;
        deliver(name, clickCard(thread, card, deed.does, by), deed.twice, word);
        return true;
      }
      case "post":
      case "answer in words": {
        if (deed.does === "answer in words" && question === null) return false;
        const word = { kind: "post", text: name, acknowledged: false } as const;
        deliver(name, post(thread, name, { person: PEOPLE[deed.by] }), deed.twice, word);
        return true;
      }
      case "answer by click":
        if (question) deliver(name, clickOption(thread, question, 0, PEOPLE[deed.by]), deed.twice);
        return question !== null;
      case "answer by api":
        if (session && question)
          ask(name, () => answerByApi(core, { sessionId: session, questionId: question, text: "A", value: "a" }));
        return question !== null;
      case "submit":
        if (session)
          ask(name, () => submitTurn(core, { sessionId: session, text: name, mode: deed.mode, idempotencyKey: name }));
        return session !== null;
      case "interrupt":
        if (session) ask(name, async () => ({ wakes: [], ...(await interrupt(core, session)) }));
        return session !== null;
      case "end":
        if (session) ask(name, () => endSession(core, session));
        return session !== null;
    }
  }

  return {
    async admit(): Promise<void> {
      if (waiting.length === 0) return;
      const scene = await look(t);
      waiting = waiting.filter(({ name, deed }) => !comeOn(name, deed, scene));
    },
  };
}
