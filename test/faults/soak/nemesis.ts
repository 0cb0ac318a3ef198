import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "../../../src/core/db/pool.ts";
import type { EffectLedger } from "../effectLedger.ts";
import type { Fleet } from "./fleet.ts";
import type { Fault } from "./options.ts";
import { pick, type Random } from "./random.ts";

export interface Nemesis {
  readonly done: Readonly<Record<Fault, number>>;
  /** Breaks one thing after another until told to stop; then everything heals. */
  run(): Promise<void>;
}

export interface NemesisDeps {
  readonly fleet: Fleet;
  readonly pool: Pool;
  readonly ledger: EffectLedger;
  /** Null: the queue is not on Redis. */
  readonly flush: (() => Promise<void>) | null;
  readonly random: Random;
  readonly faults: readonly Fault[];
  readonly everySeconds: number;
  readonly goesOn: () => boolean;
  readonly say: (line: string) => void;
}

export function createNemesis(deps: NemesisDeps): Nemesis {
  const { fleet, pool, ledger, flush, random, goesOn, say } = deps;
  const done: Record<Fault, number> = { kill: 0, pause: 0, cut: 0, flush: 0, jump: 0, target: 0 };
  const healing = new Set<Promise<void>>();

  const inBackground = (work: Promise<void>): void => {
    healing.add(work);
    void work.finally(() => healing.delete(work));
  };
  /** Somebody who is there to be broken. */
  const victim = () => {
    const well = fleet.members.filter(({ process, paused }) => process && !paused);
    // One gateway and one worker stay: what is measured is recovery, not absence.
    const spare = well.filter(({ role }) => well.filter((other) => other.role === role).length > 1);
    return spare.length > 0 ? pick(random, spare) : null;
  };

  const faults: Record<Fault, () => Promise<string | null>> = {
    async kill() {
      const member = victim();
      if (!member) return null;
      await fleet.kill(member);
      inBackground(fleet.revive(member));
      return member.name;
    },
    async pause() {
      const member = victim();
      if (!member) return null;
      const seconds = random() < 0.4 ? 25 + random() * 10 : 1 + random() * 6;
      fleet.pause(member);
      inBackground(sleep(seconds * 1_000).then(() => fleet.resume(member)));
      return `${member.name} for ${seconds.toFixed(1)} s`;
    },
    async cut() {
      const name = pick(random, ["countersign-gateway", "countersign-worker"]);
      const { rowCount } = await pool.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and datname = current_database()",
        [name],
      );
      return `${rowCount} connections of ${name}`;
    },
    async flush() {
      await flush?.();
      return flush ? "the queue" : null;
    },
    async jump() {
      const seconds = Math.round(1 + random() * 60);
      await pool.query("update clock set shift = shift + make_interval(secs => $1::double precision)", [seconds]);
      return `${seconds} s`;
    },
    async target() {
      const fault = pick(random, ["hang", "reset", "500"] as const);
      await ledger.fail("*", fault);
      return fault;
    },
  };

  return {
    done,
    async run() {
      while (goesOn() && deps.faults.length > 0) {
        await sleep(deps.everySeconds * 1_000 * (0.5 + random()));
        const fault = pick(random, deps.faults);
        const what = await faults[fault]().catch((error: unknown) => String(error));
        if (what === null) continue;
        done[fault]++;
        say(`${fault} ${what}`);
      }
      await Promise.all([...healing]);
    },
  };
}
