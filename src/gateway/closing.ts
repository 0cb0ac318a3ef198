import type { Log } from "../core/ports.ts";

interface Part {
  readonly name: string;
  readonly close: () => Promise<unknown>;
}

/**
 * An end in two phases. First everything that takes in or carries out work stops taking, all of it at once, and finishes
 * or hands back what it has. Only then what they stand on is closed, in reverse: what came last stands on what came first.
 */
export function createClosing(log: Log) {
  const draining: Part[] = [];
  const opened: Part[] = [];
  let closed: Promise<void> | null = null;

  async function end({ name, close }: Part): Promise<void> {
    try {
      await close();
    } catch (error) {
      log.error({ err: error, part: name }, "a part did not close");
    }
  }

  async function closeAll(): Promise<void> {
    await Promise.all(draining.map(end));
    for (const part of opened.reverse()) await end(part);
  }

  return {
    /** Stops taking at once; resolves when nothing is under way any more. */
    drain(name: string, close: Part["close"]): void {
      draining.push({ name, close });
    },
    push(name: string, close: Part["close"]): void {
      opened.push({ name, close });
    },
    close: (): Promise<void> => {
      closed ??= closeAll();
      return closed;
    },
  };
}

export type Closing = ReturnType<typeof createClosing>;
