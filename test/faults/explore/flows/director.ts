import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import type { Stage } from "./stage.ts";

/**
 * Who goes first, and when that changes. Everybody has a rank, and of those who can go on the highest does, call after
 * call, until a cue says otherwise. A race that needs a handful of changes is met far more often like this than by tossing a
 * coin at every call, and a schedule that fails shrinks to the few cues it needs.
 */
export interface Schedule<Cue> {
  /** Ranks of the actors, by the order in which they first come up; as many as there are, then from the start again. */
  readonly ranks: readonly number[];
  /**
   * After so many calls since the last cue and, if `outside`, not before somebody is about to call something else than
   * the database: it is there that a worker which is late does harm.
   */
  readonly cues: readonly { readonly after: number; readonly outside: boolean; readonly cue: Cue }[];
}

/** `weights`: how often each cue is given, beside the others. */
export const schedules = <Cue extends string>(weights: Readonly<Record<Cue, number>>): fc.Arbitrary<Schedule<Cue>> =>
  fc.record({
    ranks: fc.array(fc.nat(1_000), { minLength: 8, maxLength: 8 }),
    cues: fc.array(
      fc.record({
        after: fc.nat(20),
        outside: fc.boolean(),
        cue: fc.oneof(
          ...(Object.entries(weights) as [Cue, number][]).map(([cue, weight]) => ({
            arbitrary: fc.constant(cue),
            weight,
          })),
        ),
      }),
      { maxLength: 24 },
    ),
  });

/** A run that is longer than this goes round in circles. */
const MOST_CALLS = 3_000;

const MOST_WAITS = 4_000;

export interface Direction<Cue> {
  /** Does what a cue says; `next` is who would go on now. True: from now on everybody else goes before them. */
  readonly perform: (cue: Cue, next: string | undefined) => Promise<boolean>;
  /** Brings on who may come on now. `changed`: something was committed since the last time. */
  readonly admit: (changed: boolean) => Promise<void>;
}

/** Plays until nobody is left and nobody comes on. Returns every call in its order. Throws where nobody can go on. */
export async function direct<Cue extends string>(
  stage: Stage,
  schedule: Schedule<Cue>,
  direction: Direction<Cue>,
): Promise<string[]> {
  try {
    return await run(stage, schedule, direction);
  } finally {
    // Nobody keeps a connection, or a lock, from a run that was given up.
    for (const name of stage.present()) stage.kill(name);
  }
}

async function run<Cue extends string>(
  stage: Stage,
  schedule: Schedule<Cue>,
  { perform, admit }: Direction<Cue>,
): Promise<string[]> {
  const ranks = new Map<string, number>();
  const rankOf = (name: string): number => {
    const rank = ranks.get(name) ?? schedule.ranks[ranks.size % schedule.ranks.length] ?? 0;
    ranks.set(name, rank);
    return rank;
  };
  const cues = [...schedule.cues];
  const played: string[] = [];
  let since = 0;
  let changed = true;
  let lowest = 0;
  let stuck = 0;

  for (;;) {
    await stage.quiet();
    await admit(changed);
    await stage.quiet();
    const [next] = [...stage.ready()].sort((a, b) => rankOf(b) - rankOf(a));
    const [cue] = cues;
    if (cue && (!next || (since >= cue.after && (!cue.outside || stage.isOutside(next))))) {
      cues.shift();
      changed = true;
      since = 0;
      played.push(`-- ${cue.cue}`);
      if ((await perform(cue.cue, next)) && next) ranks.set(next, --lowest);
      continue;
    }
    if (!next) {
      if (stage.present().length === 0) return played;
      // PostgreSQL may still be undoing what a killed one had begun, and an outcome waits a second for its database; a
      // lock that stays is held by one of them.
      if (++stuck > MOST_WAITS)
        throw new Error([...played, `waiting for each other: ${stage.present().join(", ")}`].join("\n"));
      await setTimeout(1);
      continue;
    }
    stuck = 0;
    if (played.length > MOST_CALLS) throw new Error([...played.slice(-200), "and so on"].join("\n"));
    since++;
    const label = stage.step(next);
    // What people act on is written in transactions, or was there before.
    changed = label === "commit";
    played.push(`${next}: ${label}`);
  }
}
