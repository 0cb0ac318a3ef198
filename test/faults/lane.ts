import { randomBytes } from "node:crypto";
import type { Databases } from "./databases.ts";
import type { QueueAt } from "./process.ts";
import { type Case, createRun, type Ended, type Run, type World } from "./run.ts";
import type { Script } from "./script.ts";
import { spawnWorker, type WorkerProcess } from "./workerProcess.ts";

/** Runs cases, several side by side in one process; another lane does the same on the other core. */
export interface Lane {
  /** Cases of one shape: as many points each, and all killed or all paused. */
  run(cases: readonly Case[]): Promise<Ended[]>;
  /** How many runs lost their process to a kill so far. */
  readonly kills: number;
  close(): Promise<void>;
}

export async function openLane(
  world: World,
  databases: Databases,
  script: Script,
  redisUrl: string | null,
): Promise<Lane> {
  const queueAt = async (): Promise<QueueAt> => ({
    databaseUrl: redisUrl ? "postgres://nobody@127.0.0.1:1/none" : await databases.createEmpty(),
    redisUrl,
    namespace: `faults_${randomBytes(4).toString("hex")}`,
  });
  const home = await queueAt();
  const lane = randomBytes(3).toString("hex");
  /** This lane's databases: the n-th run of a batch has the n-th. */
  const urls: string[] = [];
  let kills = 0;
  let last = 0;

  /** Spawned and connected ahead, so that a crash waits for nobody. */
  const prepare = async (at: QueueAt): Promise<WorkerProcess> => {
    const worker = spawnWorker(script);
    await worker.start(at);
    return worker;
  };
  let current = await prepare(home);
  let spare = prepare(home);
  spare.catch(() => {});

  async function next(): Promise<WorkerProcess> {
    const worker = await spare;
    spare = prepare(home);
    spare.catch(() => {});
    return worker;
  }

  /** Every process dies at its points; what is through is looked at before. */
  async function runKilled(runs: readonly Run[]): Promise<Ended[]> {
    const ended: Ended[] = [];
    let left = runs;
    for (let process = 0; left.length > 0; process++) {
      await current.ask({ do: "open", runs: left.map((run) => run.open(process)) });
      const played = await Promise.all(
        left.map(async (run) => {
          const how = await run.play(current);
          if (how === "done") ended.push(await run.finish(current));
          else await run.remember(current);
          return how;
        }),
      );
      left = left.filter((_, i) => played[i] === "stopped");
      if (left.length === 0) break;
      kills += left.length;
      await current.kill();
      current = await next();
    }
    return ended;
  }

  /** The first process stands still; it has a queue of its own, so that it takes no wake of the others with it. */
  async function runPaused(runs: readonly Run[]): Promise<Ended[]> {
    const paused = await prepare(await queueAt());
    const opened = (process: number) => runs.map((run) => run.open(process));
    await paused.ask({ do: "open", runs: opened(0) });
    await Promise.all(runs.map((run) => run.play(paused)));
    await current.ask({ do: "open", runs: opened(1) });
    const ended = await Promise.all(
      runs.map(async (run) => {
        const { name } = run;
        const second = await run.play(current);
        await run.remember(paused);
        if (second === "stopped") await run.remember(current);
        await paused.thaw(name);
        await paused.ask({ do: "end", run: name });
        await paused.ask({ do: "close", run: name, forget: false });
        if (second === "stopped") await current.thaw(name);
        await run.play(current);
        return run.finish(current);
      }),
    );
    await paused.kill();
    return ended;
  }

  return {
    get kills() {
      return kills;
    },
    async run(cases) {
      while (urls.length < cases.length) urls.push(await databases.create());
      const runs = cases.map((of, i) => createRun(world, `r${lane}x${++last}`, of, urls[i] ?? ""));
      return cases.some((of) => of.how === "pause") ? runPaused(runs) : runKilled(runs);
    },
    async close() {
      await current.kill();
      await (await spare).kill();
    },
  };
}
