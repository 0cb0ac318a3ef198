import type { Changes } from "./changes.ts";
import type { JsonObject } from "./message.ts";

/** What one person saw and nobody else. */
export interface Ephemeral {
  readonly channel: string;
  readonly user: string;
  readonly ts: string;
  readonly threadTs?: string;
  readonly text: string;
  readonly blocks: readonly JsonObject[];
}

/** One call of `assistant.threads.setStatus`; an empty `status` clears. */
export interface ThreadStatus {
  readonly channel: string;
  readonly threadTs: string;
  readonly status: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A modal that is open in front of one person. */
export interface OpenView {
  readonly id: string;
  readonly hash: string;
  readonly user: string;
  readonly view: JsonObject;
}

/** What is on screens beside the messages. Lists grow in the order things happened. */
export interface Notices {
  readonly ephemerals: Ephemeral[];
  readonly statuses: ThreadStatus[];
  readonly views: OpenView[];
  addEphemeral(ephemeral: Ephemeral): void;
  addStatus(status: ThreadStatus): void;
  addView(view: OpenView): void;
  closeView(id: string): void;
  /** The status line people see under a thread now; null when there is none. */
  currentStatus(channel: string, threadTs: string): string | null;
  /** Slack drops the line when the app posts in the thread. */
  clearStatus(channel: string, threadTs: string): void;
}

/** Slack drops a status by itself after this long. */
const STATUS_LASTS_MS = 120_000;

export function createNotices(changes: Changes, now: () => number): Notices {
  const current = new Map<string, ThreadStatus>();
  const views: OpenView[] = [];
  const ephemerals: Ephemeral[] = [];
  const statuses: ThreadStatus[] = [];
  return {
    ephemerals,
    statuses,
    views,
    addEphemeral(ephemeral) {
      ephemerals.push(ephemeral);
      changes.notify();
    },
    addStatus(status) {
      statuses.push(status);
      current.set(`${status.channel}:${status.threadTs}`, status);
      changes.notify();
    },
    addView(view) {
      views.push(view);
      changes.notify();
    },
    closeView(id) {
      const at = views.findIndex((view) => view.id === id);
      if (at >= 0) views.splice(at, 1);
      changes.notify();
    },
    currentStatus(channel, threadTs) {
      const status = current.get(`${channel}:${threadTs}`);
      return status && status.at + STATUS_LASTS_MS > now() ? status.status || null : null;
    },
    clearStatus(channel, threadTs) {
      if (current.delete(`${channel}:${threadTs}`)) changes.notify();
    },
  };
}
