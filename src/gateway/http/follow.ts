import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { CountersignError } from "../../core/domain/errors.ts";
import type { SessionEvent } from "../../core/domain/event.ts";
import type { Log } from "../../core/ports.ts";

export interface FollowLimits {
  /** How often the log is looked at while nothing happens: one indexed read per follower. */
  readonly pollMs: number;
  /** A comment at least this often: proxies drop a connection that is silent for a minute. */
  readonly heartbeatMs: number;
  /** At once in this process; each costs `1000 / pollMs` reads a second. */
  readonly followers: number;
}

export const DEFAULT_FOLLOW_LIMITS: FollowLimits = { pollMs: 500, heartbeatMs: 15_000, followers: 100 };

/** The events after a seq, ascending; at most a page of them. */
export type ReadAfter = (after: number) => Promise<readonly SessionEvent[]>;

export interface Followers {
  /** A session's log as server-sent events, from after `after` until the client goes. Throws `unavailable` when full. */
  follow(response: ServerResponse, after: number, read: ReadAfter): Readable;
  /** Ends every stream, so that the server can close; clients come back with Last-Event-ID. */
  close(): void;
}

export function createFollowers(log: Log, limits: FollowLimits): Followers {
  const following = new Set<AbortController>();

  return {
    follow(response, after, read) {
      if (following.size >= limits.followers) {
        throw new CountersignError(
          "unavailable",
          "Too many clients follow sessions here; read pages with ?after=N instead.",
        );
      }
      const stop = new AbortController();
      if (response.closed) stop.abort();
      else following.add(stop);
      response.once("close", () => {
        following.delete(stop);
        stop.abort();
      });
      return Readable.from(frames(read, after, stop.signal, log, limits));
    },
    close() {
      for (const stop of following) stop.abort();
    },
  };
}

/** Reading only when the client took what was read before: a slow one holds a page, never the log. */
async function* frames(read: ReadAfter, after: number, signal: AbortSignal, log: Log, limits: FollowLimits) {
  yield `retry: ${limits.pollMs}\n\n`;
  let spoke = performance.now();
  while (!signal.aborted) {
    let events: readonly SessionEvent[];
    try {
      events = await read(after);
    } catch (error) {
      // The client comes back by itself and goes on where it was.
      log.warn({ err: error }, "a session's events could not be read for a follower; its stream ends");
      return;
    }
    const last = events.at(-1);
    if (last) {
      yield events.map(toFrame).join("");
      after = last.seq;
      spoke = performance.now();
      continue;
    }
    if (performance.now() - spoke >= limits.heartbeatMs) {
      yield ": nothing new\n\n";
      spoke = performance.now();
    }
    await sleep(limits.pollMs, undefined, { signal }).catch(() => {});
  }
}

/** No `event:` line: its name would keep the event from `onmessage`, and the type stands in the data. */
const toFrame = (event: SessionEvent): string => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
