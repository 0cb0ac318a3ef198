import type { Pool } from "../db/pool.ts";
import type { IdSource } from "../domain/ids.ts";
import type { ChatProvider } from "../domain/message.ts";
import type { ChatSender, Directory, Log, ModelPort, RuntimePort, ToolProvider, Wake } from "../ports.ts";
import type { HeadKey } from "../record/headKey.ts";
import type { SchemaCheck } from "../tools/schema.ts";
import type { Leases } from "./leases.ts";

/** What every flow stands on. */
export interface Core {
  readonly pool: Pool;
  readonly ids: IdSource;
  readonly log: Log;
  /** Who is who on each platform; without one, groups of that platform let nobody decide. */
  readonly directories?: Readonly<Partial<Record<ChatProvider, Directory>>>;
}

/** What the flows of a worker need besides. */
export interface WorkerCore extends Core {
  readonly leases: Leases;
  readonly model: ModelPort;
  readonly runtime: RuntimePort;
  readonly chats: Readonly<Partial<Record<ChatProvider, ChatSender>>>;
  readonly check: SchemaCheck;
  /** Tools of the gateway that agents may select. */
  readonly providers: readonly ToolProvider[];
  /** Vouches for the decision record. */
  readonly headKey: HeadKey;
  /** Rings after a commit; never throws: what is not heard the sweeper rings again. */
  readonly ring: (wakes: readonly Wake[]) => Promise<void>;
  /** In [0, 1), for the spread of retries. */
  readonly random: () => number;
  readonly limits: WorkerLimits;
}

export interface WorkerLimits {
  /** A claim that was not renewed for this long is lost. */
  readonly leaseMs: number;
  /** One call of `run` or `preview` at most. */
  readonly toolTimeoutMs: number;
}

/** 20 s: a crash is taken up well within the 60 s promised, and a worker that is merely slow keeps its work. */
export const DEFAULT_WORKER_LIMITS: WorkerLimits = { leaseMs: 20_000, toolTimeoutMs: 600_000 };
