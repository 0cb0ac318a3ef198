import type { Log } from "../core/ports.ts";

/** What was opened, to be closed in reverse: what came last stands on what came first. */
export function createClosing(log: Log) {
  const opened: { name: string; close: () => Promise<unknown> }[] = [];
  let closed: Promise<void> | null = null;

  async function closeAll(): Promise<void> {
    for (const { name, close } of opened.reverse()) {
      try {
        await close();
      } catch (error) {
        log.error({ err: error, part: name }, "a part did not close");
      }
    }
  }

  return {
    push(name: string, close: () => Promise<unknown>): void {
      opened.push({ name, close });
    },
    close: (): Promise<void> => {
      closed ??= closeAll();
      return closed;
    },
  };
}

export type Closing = ReturnType<typeof createClosing>;
