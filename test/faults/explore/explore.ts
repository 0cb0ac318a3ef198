/** One thing that may happen next, and the world behind it. */
export interface Step<State> {
  readonly name: string;
  /**
   * `machine`: the gateway, the platform or the clock does it by itself, sooner or later. `person` and `fault`: may
   * never happen, so nothing that has to end can wait for it.
   */
  readonly by: "machine" | "person" | "fault";
  readonly to: State;
}

/** A world small enough to be walked through whole. States are plain JSON: two are one if they print alike. */
export interface World<State> {
  readonly start: State;
  readonly steps: (state: State) => Iterable<Step<State>>;
  /** What holds in every state, by the rule it is. */
  readonly holds: Readonly<Record<string, (state: State) => boolean>>;
  /** Nothing is left to be done by itself. */
  readonly settled: (state: State) => boolean;
}

export interface Explored {
  readonly states: number;
  readonly transitions: number;
  /** The first rule that broke, and the shortest way there, a line a step. */
  readonly broken: { readonly rule: string; readonly story: readonly string[] } | null;
}

/** The rule of every world: from wherever it is, it settles without anybody's help. */
export const SETTLES = "I8 settles by itself";

/**
 * Walks breadth first through everything that can happen, in every order, so a rule that breaks is shown by a story
 * that cannot be told shorter. What is reached is complete: there is no depth at which it stops, the world's own bounds
 * end it.
 */
export function explore<State>(world: World<State>): Explored {
  const states: State[] = [];
  const cameBy: { readonly from: number; readonly name: string }[] = [];
  const known = new Map<string, number>();
  /** For each state, those that reach it in one step of the machine's own. */
  const behind: number[][] = [];
  let transitions = 0;

  const visit = (state: State, from: number, name: string): number => {
    const key = JSON.stringify(state);
    const before = known.get(key);
    if (before !== undefined) return before;
    known.set(key, states.length);
    cameBy.push({ from, name });
    behind.push([]);
    return states.push(state) - 1;
  };
  const story = (at: number): string[] => {
    const { from, name } = cameBy[at] ?? { from: -1, name: "" };
    return from < 0 ? [] : [...story(from), name];
  };
  const explored = (broken: Explored["broken"]): Explored => ({ states: states.length, transitions, broken });

  visit(world.start, -1, "");
  for (let at = 0; at < states.length; at++) {
    const state = states[at] as State;
    for (const [rule, holds] of Object.entries(world.holds)) {
      if (!holds(state)) return explored({ rule, story: story(at) });
    }
    for (const step of world.steps(state)) {
      transitions++;
      if (step.to === state) continue;
      const to = visit(step.to, at, step.name);
      if (step.by === "machine") behind[to]?.push(at);
    }
  }

  const settles = new Set(states.flatMap((state, at) => (world.settled(state) ? [at] : [])));
  for (const at of settles) for (const from of behind[at] ?? []) settles.add(from);
  const stuck = states.findIndex((_, at) => !settles.has(at));
  return explored(stuck < 0 ? null : { rule: SETTLES, story: story(stuck) });
}

/** For the console: what was walked through, and what broke where something did. */
export function tell(name: string, { states, transitions, broken }: Explored): string {
  const size = `${name}: ${states} states, ${transitions} transitions`;
  return broken
    ? [`${size}, breaks ${broken.rule}`, ...broken.story.map((s, i) => `  ${i + 1}. ${s}`)].join("\n")
    : size;
}
