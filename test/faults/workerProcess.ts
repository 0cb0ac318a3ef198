import { once } from "node:events";
import type { Called } from "./crashPoints.ts";
import type { FromProcess, QueueAt, Request } from "./process.ts";
import { type Script, spawnScript } from "./script.ts";

/** The process died, or the run's world stopped, before it answered. */
export class Crashed extends Error {
  constructor(why: string) {
    super(`no answer: ${why}`);
  }
}

/** A worker process as the harness holds it. */
export interface WorkerProcess {
  readonly pid: number;
  /** Connects to the queue; a process waits for its work without any connection until then. */
  start(queue: QueueAt): Promise<void>;
  /** Rejects with `Crashed` where the run stops or the process dies first. */
  ask<T>(request: Exclude<Request, { do: "start" }>): Promise<T>;
  /** Where each stopped run stands. */
  readonly stopped: ReadonlyMap<string, Called>;
  /** The run goes on: what is asked of it from now on is waited for again. */
  thaw(run: string): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

interface Waiting {
  readonly run: string | null;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Longer than anything asked takes, on a machine that does much else: a harness that hangs says so. */
const ANSWER_WITHIN_MS = 90_000;

export function spawnWorker(script: Script): WorkerProcess {
  const child = spawnScript(script, ["ignore", "inherit", "inherit", "ipc"]);
  const exited = once(child, "exit");
  const waiting = new Map<number, Waiting>();
  const stopped = new Map<string, Called>();
  let last = 0;

  const settle = (id: number): Waiting | undefined => {
    const one = waiting.get(id);
    waiting.delete(id);
    return one;
  };
  const crash = (why: string, which: (one: Waiting) => boolean) => {
    for (const [id, one] of waiting) if (which(one)) settle(id)?.reject(new Crashed(why));
  };
  child.on("message", (message: FromProcess) => {
    switch (message.kind) {
      case "answer":
        return settle(message.id)?.resolve(message.value);
      case "failed":
        return settle(message.id)?.reject(new Error(message.error));
      case "stopped":
        stopped.set(message.run, message.at);
        return crash(`stopped at ${message.at.point}`, (one) => one.run === message.run);
    }
  });
  exited.then(() => crash("the process is gone", () => true));
  child.on("error", () => {});

  function send<T>(request: Request): Promise<T> {
    const run = "run" in request ? request.run : null;
    const moves = request.do !== "thaw" && request.do !== "called";
    const at = run !== null && moves ? stopped.get(run) : undefined;
    if (at) return Promise.reject(new Crashed(`stopped at ${at.point}`));
    return new Promise<T>((resolve, reject) => {
      const id = ++last;
      const late = setTimeout(() => {
        settle(id)?.reject(new Error(`${request.do} ${run ?? ""} was not answered in ${ANSWER_WITHIN_MS} ms`));
      }, ANSWER_WITHIN_MS);
      waiting.set(id, {
        run: moves ? run : null,
        resolve: (value) => {
          clearTimeout(late);
          resolve(value as T);
        },
        reject: (error) => {
          clearTimeout(late);
          reject(error);
        },
      });
      child.send({ id, ...request });
    });
  }

  return {
    pid: child.pid ?? Number.NaN,
    stopped,
    start: (queue) => send({ do: "start", queue }),
    ask: send,
    async thaw(run) {
      await send({ do: "thaw", run });
      stopped.delete(run);
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
