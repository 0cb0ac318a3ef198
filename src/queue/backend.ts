import type { Processor, Queue, Worker } from "bullmq";
import type { Wake } from "../core/ports.ts";

/** What a job carries: which row to look at, and nothing about it. */
export type WakeData = Pick<Wake, "kind" | "id">;

export type WakeQueue = Pick<Queue<WakeData>, "addBulk" | "getJobCounts" | "isPaused" | "waitUntilReady" | "close"> & {
  on(event: "error", listener: (error: Error) => void): unknown;
};

export type WakeWorker = Pick<Worker<WakeData>, "waitUntilReady"> & {
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "stalled", listener: (jobId: string) => void): unknown;
  close(force?: boolean): Promise<void>;
};

export interface WorkerSettings {
  readonly concurrency: number;
  /** What BullMQ does with a job whose worker stopped renewing its lock: 0, it fails it instead of running it again. */
  readonly maxStalledCount: 0;
}

/** Where BullMQ keeps its jobs. Only these two files per backend decide what is dialed. */
export interface Backend {
  openQueue(name: string): WakeQueue;
  openWorker(name: string, process: Processor<WakeData, void>, settings: WorkerSettings): WakeWorker;
  /** Closes what the queues and workers share; they are closed before. */
  close(): void;
}
