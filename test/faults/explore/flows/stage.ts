import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate, setTimeout } from "node:timers/promises";
import { isOutage } from "../../../../src/core/db/outage.ts";
import type { Pool } from "../../../../src/core/db/pool.ts";

/** A process that was killed: nothing it still wanted to do happens. */
export class Killed extends Error {}

interface Actor {
  readonly name: string;
  killed: boolean;
  /** The answer of its next statement is lost. */
  cut: boolean;
}

interface Waiting {
  readonly actor: Actor;
  readonly outside: boolean;
  readonly label: string;
  readonly open: () => void;
  readonly kill: () => void;
}

/**
 * Where flows run one call at a time. Every call of the database or of a port waits at a gate in front of it, and one
 * gate is opened at a time, once everything else stands still: at a gate, at a row that somebody locked, or done. So the
 * order is the director's alone, and a flow that waits for a lock holds up nobody but itself.
 */
export interface Stage {
  /** Runs `work` as this actor: all that it calls waits for its turn. Whoever was killed is silent from then on. */
  enter(name: string, work: () => Promise<void>): void;
  /** Waits for this actor's turn; at once where nobody plays. */
  gate(label: string): Promise<void>;
  /** A call of the database: it counts as moving until it has answered. */
  call<T>(label: string, work: () => Promise<T>): Promise<T>;
  /** Waits until nothing moves. */
  quiet(): Promise<void>;
  /** Who could go on, in the order they came. */
  ready(): readonly string[];
  /** Whether what this actor calls next is something else than the database. */
  isOutside(name: string): boolean;
  /** Lets this actor make its next call; answers which it was. */
  step(name: string): string;
  kill(name: string): void;
  /** This actor's next statement is carried out, and its answer never comes. */
  cut(name: string): void;
  /** Those that have entered and not left; the ones that are not ready wait for a lock. */
  present(): readonly string[];
  /** What flows threw, other than being killed or without a database. */
  readonly errors: readonly unknown[];
}

export function createStage(pool: Pool): Stage {
  const inside = new AsyncLocalStorage<Actor>();
  const present = new Set<Actor>();
  const errors: unknown[] = [];
  let waiting: Waiting[] = [];
  let moving = 0;

  async function gate(label: string, outside = true): Promise<void> {
    const actor = inside.getStore();
    if (!actor) return;
    if (actor.killed) throw new Killed(actor.name);
    await new Promise<void>((open, reject) => {
      waiting.push({ actor, label, outside, open, kill: () => reject(new Killed(actor.name)) });
    });
  }

  async function blocked(): Promise<number> {
    const { rows } = await pool.query<{ blocked: number }>(
      `select count(*)::integer as blocked from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0]?.blocked ?? 0;
  }

  const of = (name: string): Waiting[] => waiting.filter((one) => one.actor.name === name);

  return {
    errors,
    enter(name, work) {
      const actor: Actor = { name, killed: false, cut: false };
      present.add(actor);
      inside
        .run(actor, async () => {
          await gate("begins", false);
          await work();
        })
        .catch((error) => {
          // What a database that went away leaves behind is for the sweeper to find.
          if (!actor.killed && !isOutage(error)) errors.push(error);
        })
        .finally(() => present.delete(actor));
    },
    gate: (label) => gate(label),
    async call(label, work) {
      await gate(label, false);
      moving++;
      try {
        const answer = await work();
        const actor = inside.getStore();
        if (!actor?.cut) return answer;
        actor.cut = false;
        throw Object.assign(new Error("the connection was cut behind a statement"), { code: "ECONNRESET" });
      } finally {
        moving--;
      }
    },
    async quiet() {
      for (let look = 0; ; look++) {
        // What runs between two calls are promises alone: a turn of the event loop, and they stand at their next one.
        await setImmediate();
        await setImmediate();
        if (moving === 0) return;
        if (look > 2 && (await blocked()) >= moving) return;
        if (look > 2) await setTimeout(1);
      }
    },
    ready: () => [...new Set(waiting.map((one) => one.actor.name))],
    isOutside: (name) => of(name)[0]?.outside ?? false,
    step(name) {
      const [next] = of(name);
      if (!next) throw new Error(`${name} waits at no gate`);
      waiting = waiting.filter((one) => one !== next);
      next.open();
      return next.label;
    },
    kill(name) {
      for (const actor of present) if (actor.name === name) actor.killed = true;
      const dying = of(name);
      waiting = waiting.filter((one) => one.actor.name !== name);
      for (const one of dying) one.kill();
    },
    cut(name) {
      for (const actor of present) if (actor.name === name) actor.cut = true;
    },
    present: () => [...present].map((actor) => actor.name),
  };
}
