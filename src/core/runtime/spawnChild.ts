import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { RUNTIME_LIMITS } from "./limits.ts";
import { CHANNEL_FD, lineReader } from "./protocol.ts";

export interface SpawnOptions {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** In namespaces of its own: whoever ends the first process there ends all of them. */
  readonly namespaced: boolean;
  /** Every whole line of the channel. */
  readonly onLine: (line: string) => void;
}

export interface Child {
  send(line: string): void;
  /** Ends the child and what it started; resolves when they are gone. `reason` becomes the answer of `gone`. */
  kill(reason: string): Promise<void>;
  /** Why it ended, as the second half of a sentence. Never rejects. */
  readonly gone: Promise<string>;
  /** Bytes it wrote to stdout and stderr; the text itself may hold anything and is not kept. */
  outputBytes(): { stdout: number; stderr: number };
}

/** Longer than any kill takes (measured: 40 ms); then the outermost process goes too. */
const STUBBORN_MS = 1_000;

const LAST_WORDS_MS = 200;

/** Starts a process with a channel on descriptor 3. A start that fails is an end: see `gone`. */
export function spawnChild({ command, cwd, env, namespaced, onLine }: SpawnOptions): Child {
  const [file = "", ...args] = command;
  // A group of its own, so that without namespaces at least the group can be ended.
  const child = spawn(file, args, { cwd, env: { ...env }, stdio: ["ignore", "pipe", "pipe", "pipe"], detached: true });
  const channel = child.stdio[CHANNEL_FD] as Socket | null | undefined;
  const output = { stdout: 0, stderr: 0 };
  let reason: string | null = null;

  const gone = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(reason ?? `it did not start: ${error.message}`));
    child.once("exit", (code, signal) => {
      const tell = () => resolve(reason ?? (signal ? `it was ended by ${signal}` : `it exited with code ${code}`));
      // What it said before it ended is still in the channel; who keeps the other end open is not waited for.
      if (!channel || channel.closed) return tell();
      channel.once("close", tell);
      setTimeout(tell, LAST_WORDS_MS);
    });
  });
  const kill = async (why: string) => {
    reason ??= why;
    await endAll(child, namespaced);
    await gone;
  };

  child.stdout?.on("data", (chunk: Buffer) => (output.stdout += chunk.length));
  child.stderr?.on("data", (chunk: Buffer) => (output.stderr += chunk.length));
  channel?.on(
    "data",
    lineReader(RUNTIME_LIMITS.lineBytes, onLine, () => void kill("it sent a message that is too long")),
  );
  // Broken pipes are how a write to a dying child ends; `gone` tells the rest.
  for (const stream of [channel, child.stdout, child.stderr]) stream?.on("error", () => {});

  return {
    send: (line) => {
      if (channel?.writable) channel.write(line);
    },
    kill,
    gone,
    outputBytes: () => ({ ...output }),
  };
}

/**
 * Ending the outermost process first races: with bubblewrap, 4 of 12 kills left descendants alive at its `exit`.
 * Ending the first process inside takes the namespace with it before the outer one can report (8 of 8).
 */
async function endAll(child: ChildProcess, namespaced: boolean): Promise<void> {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const inner = namespaced ? await childrenOf(pid) : [];
  if (inner.length === 0) return signal(-pid);
  for (const each of inner) signal(each);
  const stubborn = setTimeout(() => child.exitCode ?? child.signalCode ?? signal(-pid), STUBBORN_MS);
  child.once("exit", () => clearTimeout(stubborn));
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  return text.split(" ").filter(Boolean).map(Number);
}

function signal(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Already gone.
  }
}
