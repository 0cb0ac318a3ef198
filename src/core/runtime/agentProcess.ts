import type { ReadChildMessage } from "./childMessage.ts";
import { RUNTIME_LIMITS } from "./limits.ts";
import { followLoading, type Loading, ProcessLost } from "./loading.ts";
import { encode, type FromChild, type ToChild } from "./protocol.ts";
import { type Child, type SpawnOptions, spawnChild } from "./spawnChild.ts";

export type Answer = Extract<FromChild, { type: "rendered" | "renderFailed" | "settled" }>;
type Progress = Extract<FromChild, { type: "progress" }>;
type Question = Extract<ToChild, { type: "render" | "invoke" }>;
type WithoutId<T> = T extends unknown ? Omit<T, "id"> : never;

export interface AgentProcessOptions extends Omit<SpawnOptions, "onLine"> {
  readonly load: Extract<ToChild, { type: "load" }>;
  readonly loadTimeoutMs: number;
  readonly readMessage: ReadChildMessage;
}

/** One child with the agent's bundle loaded, as questions and answers. */
export interface AgentProcess {
  readonly loaded: Loading["loaded"];
  ask(question: WithoutId<Question>, onProgress?: (message: Progress) => void): Call;
  /** False as soon as it is to end: nothing new is asked of it. */
  readonly alive: boolean;
  readonly gone: Child["gone"];
  end(reason: string): Promise<void>;
  readonly outputBytes: Child["outputBytes"];
}

export interface Call {
  /** Rejects with `ProcessLost`. */
  readonly answer: Promise<Answer>;
  /** Asks the child to abort the call. */
  cancel(reason: "timedOut" | "aborted"): void;
}

export function startAgentProcess(options: AgentProcessOptions): AgentProcess {
  const open = new Map<number, { settle(answer: Answer): void; onProgress?: (message: Progress) => void }>();
  const allowed = rate(RUNTIME_LIMITS.linesPerSecond);
  let lastId = 0;
  let alive = true;
  let told = false;

  const child = spawnChild({ ...options, onLine: (line) => receive(options.readMessage(line)) });
  const end = (reason: string) => {
    alive = false;
    return child.kill(reason);
  };
  void child.gone.then(() => {
    alive = false;
  });
  const loading = followLoading(child.gone, (reason) => void end(reason), options.loadTimeoutMs);

  function receive(message: FromChild | null): void {
    if (!alive) return;
    if (message === null) return void end("it sent a message that is not of the protocol");
    if (!allowed()) return void end("it sent more messages than are read");
    switch (message.type) {
      case "ready":
        load();
        break;
      case "loaded":
        loading.finished(null);
        break;
      case "loadFailed":
        loading.finished(message.message);
        break;
      case "harmed":
        void end("an error of its code was not caught");
        for (const each of message.failed) settle({ type: "settled", ...each });
        break;
      case "progress":
        open.get(message.id)?.onProgress?.(message);
        break;
      default:
        settle(message);
    }
  }

  function load(): void {
    if (told) return void end("it sent a message that is not of the protocol");
    told = true;
    loading.begun();
    child.send(encode(options.load));
  }

  function settle(answer: Answer): void {
    const call = open.get(answer.id);
    open.delete(answer.id);
    if (call) call.settle(answer);
    else void end("it answered what was not asked");
  }

  return {
    loaded: loading.loaded,
    ask(question, onProgress) {
      const id = ++lastId;
      const answer = new Promise<Answer>((resolve, reject) => {
        open.set(id, { settle: resolve, ...(onProgress && { onProgress }) });
        void child.gone.then((reason) => reject(new ProcessLost(reason)));
      });
      answer.catch(() => {}); // A caller that stopped waiting does not hear of it.
      child.send(encode({ ...question, id }));
      return { answer, cancel: (reason) => child.send(encode({ type: "cancel", id, reason })) };
    },
    get alive() {
      return alive;
    },
    gone: child.gone,
    end,
    outputBytes: child.outputBytes,
  };
}

/** True for the first `perSecond` calls of each second. */
function rate(perSecond: number): () => boolean {
  let second = 0;
  let count = 0;
  return () => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) count = 0;
    second = now;
    return ++count <= perSecond;
  };
}
