import type { Called, Point } from "./crashPoints.ts";
import type { EffectCall, EffectLedger } from "./effectLedger.ts";
import type { Said, Stored } from "./history.ts";
import { check, type Violation } from "./invariants.ts";
import type { MutationName } from "./mutations.ts";
import { createPerson, type Sent } from "./person.ts";
import type { Platform } from "./platform.ts";
import { type StoryName, storyOf } from "./stories.ts";
import { Crashed, type WorkerProcess } from "./workerProcess.ts";
import type { OpenRun } from "./workerRun.ts";

/** One story and the points at which its processes die, the first one's first. */
export interface Case {
  readonly story: StoryName;
  readonly points: readonly Point[];
  /**
   * `kill`: with -9. `pause`: the first process stands still while the next one takes over, and goes on once that one
   * is through, or stands at the second point.
   */
  readonly how: "kill" | "pause";
}

/** What became of a case. */
export interface Ended {
  readonly of: Case;
  readonly violations: readonly Violation[];
  readonly stored: Stored;
  readonly effects: readonly EffectCall[];
  /** Where each process stopped; fewer than the case has points: one was never reached. */
  readonly stops: readonly Called[];
  /** What each process called, as far as it came. */
  readonly called: readonly (readonly Called[])[];
}

export interface World {
  readonly platform: Platform;
  readonly ledger: EffectLedger;
  readonly mutation: MutationName | null;
}

/** One case in the making: what outlives its processes. */
export interface Run {
  readonly name: string;
  readonly of: Case;
  /** How the n-th process is to open it. */
  open(process: number): OpenRun;
  /** Plays the story on, on this process, until nothing is left to do or the process stops. */
  play(worker: WorkerProcess): Promise<"stopped" | "done">;
  /** Everything is at rest on this process: looks at what came out of it, and forgets it. */
  finish(worker: WorkerProcess): Promise<Ended>;
  /** Keeps what a process called before it is killed. */
  remember(worker: WorkerProcess): Promise<void>;
}

export function createRun(world: World, name: string, of: Case, databaseUrl: string): Run {
  const { platform, ledger, mutation } = world;
  const story = storyOf(of.story);
  const person = createPerson(story, name);
  const said = new Map<Sent, Said>();
  const called: (readonly Called[])[] = [];
  const stops: Called[] = [];
  let owed: Sent[] = [];

  async function send(worker: WorkerProcess, sent: Sent): Promise<void> {
    try {
      await worker.ask({ do: "receive", run: name, event: sent.event });
    } catch (error) {
      if (error instanceof Crashed) throw error;
      return; // It could not be stored: the platform owes it still, or the person clicks again.
    }
    owed = owed.filter((one) => one !== sent);
    const word = said.get(sent);
    if (word) said.set(sent, { ...word, acknowledged: true });
  }

  async function act(worker: WorkerProcess): Promise<boolean> {
    const next = person.next(platform.chat(name));
    if (!next) return false;
    if (next.kind === "wait") {
      await worker.ask({ do: "pass", run: name, ms: next.ms });
      return true;
    }
    if (next.kind === "decide" && next.verb === "approve" && story.fault)
      await ledger.fail(next.card.decisionId, story.fault);
    const sending = person.send(next);
    owed.push(...sending.filter((one) => one.again));
    for (const sent of sending) {
      if (sent.said) said.set(sent, sent.said);
      await send(worker, sent);
    }
    return true;
  }

  return {
    name,
    of,
    open: (process) => ({
      run: name,
      databaseUrl,
      story: of.story,
      stopAt: of.points[process] ?? null,
      mutation,
      chatUrl: platform.url,
      ledgerUrl: ledger.url,
    }),
    async play(worker) {
      try {
        do {
          for (const sent of owed) await send(worker, sent);
          await worker.ask({ do: "settle", run: name });
        } while (await act(worker));
        return "done";
      } catch (error) {
        if (error instanceof Crashed) return "stopped";
        throw error;
      }
    },
    async remember(worker) {
      called.push(await worker.ask<readonly Called[]>({ do: "called", run: name }));
      const at = worker.stopped.get(name);
      if (at) stops.push(at);
    },
    async finish(worker) {
      await this.remember(worker);
      const stored = await worker.ask<Stored>({ do: "stored", run: name });
      await worker.ask({ do: "close", run: name, forget: true });
      const effects = await ledger.calls({ path: `/${name}/` });
      const violations = check({ stored, effects, chat: platform.chat(name), said: [...said.values()] });
      platform.forget(name);
      return { of, violations, stored, effects, stops, called };
    },
  };
}
