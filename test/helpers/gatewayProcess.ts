import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/core/packageRoot.ts";
import { waitUntil } from "./waitUntil.ts";

export interface Ended {
  /** Null: a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `countersign` as a process of its own. */
export interface CountersignProcess {
  readonly pid: number;
  /** So far. */
  readonly stdout: string;
  readonly stderr: string;
  readonly ended: Promise<Ended>;
  /** SIGTERM, as a service manager stops it; resolves with how it ended. */
  stop(): Promise<Ended>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<Ended>;
}

/** One that serves. */
export interface GatewayProcess extends CountersignProcess {
  /** The public address; a worker's admin address. */
  readonly url: string;
  readonly adminUrl: string;
}

/** Processes of one test, so that none outlives it. */
export interface Processes {
  /** Starts `countersign ...args`. */
  run(args: readonly string[], options: ProcessOptions): CountersignProcess;
  /** Starts `countersign start ...args` and resolves once it says that it is ready; rejects with its output if it ends. */
  start(args: readonly string[], options: ProcessOptions): Promise<GatewayProcess>;
  /** What every process said, for the report of a failed test. */
  output(): string;
  /** Kills those that still run, by their pid. */
  killAll(): Promise<void>;
}

export interface ProcessOptions {
  readonly cwd: string;
  /** All of it: nothing of the test's own environment but PATH is passed on. */
  readonly env: Readonly<Record<string, string>>;
}

const CLI = join(packageRoot(), "dist/gateway/cli.js");
/** Two busy cores: a start that takes 3 s alone was seen to take 15. */
const READY_WITHIN_MS = 90_000;

export function createProcesses(): Processes {
  if (!existsSync(CLI)) throw new Error(`These tests run ${CLI}, which is not there: run "npm run build" first.`);
  const all: CountersignProcess[] = [];

  const run: Processes["run"] = (args, { cwd, env }) => {
    const child = spawn(process.execPath, ["--enable-source-maps", CLI, ...args], {
      cwd,
      env: { PATH: process.env.PATH, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const running = follow(child);
    all.push(running);
    return running;
  };

  return {
    run,
    async start(args, options) {
      const running = run(["start", ...args], options);
      const said = (pattern: RegExp): string => pattern.exec(running.stdout)?.[1] ?? "";
      await readyOrEnded(running, () => said(READY) !== "");
      return Object.assign(running, { url: said(READY), adminUrl: said(/^ +admin +(http:\S+)\/health\/ready$/m) });
    },
    output: () => all.map(({ pid, stdout, stderr }) => `── process ${pid}\n${stdout}${stderr}`).join("\n"),
    async killAll() {
      await Promise.all(all.map((running) => running.kill()));
    },
  };
}

const READY = /^ready (http:\S+)$/m;

function follow(child: ChildProcess): CountersignProcess {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  // `close` and not `exit`: what it said last is still in the pipes.
  const ended = once(child, "close").then(
    ([code, signal]): Ended => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      stdout,
      stderr,
    }),
  );
  const end = (signal: NodeJS.Signals): Promise<Ended> => {
    child.kill(signal);
    return ended;
  };
  return {
    pid: child.pid ?? Number.NaN,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    ended,
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
  };
}

async function readyOrEnded(running: CountersignProcess, ready: () => boolean): Promise<void> {
  let over: Ended | undefined;
  void running.ended.then((ended) => {
    over = ended;
  });
  await waitUntil(() => over !== undefined || ready(), "the gateway to be ready", READY_WITHIN_MS);
  if (over)
    throw new Error(`It ended with ${over.code ?? over.signal} before it was ready:\n${over.stdout}${over.stderr}`);
}
