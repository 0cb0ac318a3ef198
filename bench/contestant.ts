import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Costs } from "./statements.ts";

/** A server in a process of its own, so that the load it is put under is made on another core. */
export interface Contestant {
  readonly url: string;
  /** Counts statements from now on. */
  startCounting(): Promise<void>;
  readCosts(): Promise<Costs>;
  /** CPU time its process has taken so far. */
  readCpuMs(): Promise<number>;
  stop(): Promise<void>;
}

export type ServerFile = "gatewayServer" | "boltServer" | "bareServer";

export type Ask = "count" | "costs" | "cpu" | "stop";

/** Starts `file` with `settings` as its argument; rejects when it ends before it listens. */
export async function startContestant(file: ServerFile, settings: object): Promise<Contestant> {
  const child = fork(fileURLToPath(new URL(`${file}.js`, import.meta.url)), [JSON.stringify(settings)], {
    execArgv: ["--enable-source-maps"],
  });
  const { url } = (await next(child, file)) as { url: string };
  const ask = async (what: Ask): Promise<unknown> => {
    child.send(what);
    return await next(child, file);
  };
  return {
    url,
    startCounting: async () => void (await ask("count")),
    readCosts: async () => (await ask("costs")) as Costs,
    readCpuMs: async () => Number(await ask("cpu")),
    async stop() {
      const exited = once(child, "exit");
      child.send("stop" satisfies Ask);
      await exited;
    },
  };
}

async function next(child: ChildProcess, file: string): Promise<unknown> {
  const heard = new AbortController();
  const { signal } = heard;
  const ended = once(child, "exit", { signal }).then(([code]) => {
    throw new Error(`${file} ended with ${code}.`);
  });
  try {
    const [message] = await Promise.race([once(child, "message", { signal }), ended]);
    return message;
  } finally {
    heard.abort();
    ended.catch(() => {});
  }
}
