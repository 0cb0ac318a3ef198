/** What goes wrong with a call of the Web API. */
export type Fault =
  /** Refused before anything happens; `retryAfter` in seconds. */
  | { readonly kind: "429"; readonly retryAfter: number }
  /** HTTP 200 with `{ok: false, error}`; nothing happens. */
  | { readonly kind: "okFalse"; readonly error: string }
  /** An HTTP status of Slack's front end; nothing happens. */
  | { readonly kind: "status"; readonly status: number }
  /** The connection breaks before anything happens. */
  | { readonly kind: "resetBefore" }
  /** The call does its work, then the connection breaks: the caller cannot know. */
  | { readonly kind: "resetAfterAccept" }
  /** The call does its work, its answer comes `ms` later. */
  | { readonly kind: "delay"; readonly ms: number }
  /** The call does its work, its answer comes when `until` settles: a delay that a test ends when it wants. */
  | { readonly kind: "hold"; readonly until: Promise<unknown> };

export interface FaultScope {
  /** Only calls that name this channel. */
  readonly channel?: string;
  /** How many calls it strikes; 1 unless given. */
  readonly count?: number;
}

export interface Faults {
  /** Strikes the next call of `method` (`*`: of any method). Faults of one method strike in the order they were set. */
  next(method: string, fault: Fault, scope?: FaultScope): void;
  /** The fault that strikes this call, used up by it. */
  take(method: string, channel: string | undefined): Fault | undefined;
  clear(): void;
}

export function createFaults(): Faults {
  let armed: { method: string; fault: Fault; channel: string | undefined; left: number }[] = [];
  return {
    next(method, fault, { channel, count = 1 } = {}) {
      armed.push({ method, fault, channel, left: count });
    },
    take(method, channel) {
      const struck = armed.find(
        (entry) =>
          (entry.method === method || entry.method === "*") &&
          (entry.channel === undefined || entry.channel === channel),
      );
      if (!struck) return undefined;
      struck.left -= 1;
      armed = armed.filter(({ left }) => left > 0);
      return struck.fault;
    },
    clear() {
      armed = [];
    },
  };
}
