import { availableParallelism } from "node:os";
import { openDatabases } from "./databases.ts";
import { startEffectLedger } from "./effectLedger.ts";
import { unexpected } from "./expectation.ts";
import type { Invariant, Violation } from "./invariants.ts";
import { type Lane, openLane } from "./lane.ts";
import type { MutationName } from "./mutations.ts";
import { startPlatform } from "./platform.ts";
import type { Case, Ended } from "./run.ts";
import { bundleScript } from "./script.ts";
import type { StoryName } from "./stories.ts";

export interface SweepOptions {
  /** A PostgreSQL that holds the migrated template. */
  readonly serverUrl: string;
  /** Null: the queue runs on PostgreSQL. */
  readonly redisUrl: string | null;
  readonly mutation?: MutationName;
  /** Default: one a core. */
  readonly lanes?: number;
  /** Cases side by side in one process, whose start they share; each takes up to four connections. Default 8. */
  readonly sideBySide?: number;
}

export interface Found {
  /** Null: it is not known of which case. */
  readonly of: Case | null;
  readonly invariant: Invariant | "outcome";
  readonly detail: string;
}

export interface Sweep {
  /** Every call of a story that nothing interrupts, in its order. */
  reference(stories: readonly StoryName[]): Promise<Ended[]>;
  run(cases: readonly Case[]): Promise<Ended[]>;
  /** What is wrong with the decision records that all these runs left (I9). */
  checkRecords(): Promise<Found[]>;
  /** How many runs lost their process to a kill so far. */
  kills(): number;
  close(): Promise<void>;
}

export async function openSweep(options: SweepOptions): Promise<Sweep> {
  const {
    serverUrl,
    redisUrl,
    mutation = null,
    sideBySide = 8,
    lanes: wanted = Math.min(2, availableParallelism()),
  } = options;
  const script = await bundleScript("test/faults/process.ts");
  const ledger = await startEffectLedger();
  const platform = await startPlatform();
  const databases = await openDatabases(serverUrl, mutation);
  const world = { platform, ledger, mutation };
  const lanes: Lane[] = [];
  for (let n = 0; n < wanted; n++) lanes.push(await openLane(world, databases, script, redisUrl));

  async function run(cases: readonly Case[]): Promise<Ended[]> {
    const batches = toBatches(cases, sideBySide);
    const ended: Ended[] = [];
    await Promise.all(
      lanes.map(async (lane) => {
        for (let batch = batches.shift(); batch; batch = batches.shift()) ended.push(...(await lane.run(batch)));
      }),
    );
    return ended;
  }

  return {
    run,
    reference: (stories) => run(stories.map((story) => ({ story, points: [], how: "kill" }))),
    checkRecords: async () => (await databases.checkRecords()).map((one) => ({ of: null, ...one })),
    kills: () => lanes.reduce((sum, lane) => sum + lane.kills, 0),
    async close() {
      await Promise.all(lanes.map((lane) => lane.close()));
      await databases.close();
      await platform.close();
      await ledger.close();
      await script.remove();
    },
  };
}

/** Cases of one shape share a process. */
function toBatches(cases: readonly Case[], size: number): Case[][] {
  const shapes = new Map<string, Case[]>();
  for (const one of cases) {
    const shape = `${one.how} ${one.points.length}`;
    shapes.set(shape, [...(shapes.get(shape) ?? []), one]);
  }
  return [...shapes.values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size)),
  );
}

/** Everything that is wrong with how cases ended. */
export function judge(ended: readonly Ended[]): Found[] {
  return ended.flatMap((one) => [
    ...one.violations.map(({ invariant, detail }: Violation) => ({ of: one.of, invariant, detail })),
    ...unexpected(one).map((detail) => ({ of: one.of, invariant: "outcome" as const, detail })),
  ]);
}
