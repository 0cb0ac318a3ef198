import type { Ask } from "./contestant.ts";
import { countStatements } from "./statements.ts";

export interface Serving {
  readonly url: string;
  close(): Promise<unknown>;
}

/** The other side of `startContestant`: serves until told to stop, or until the bench is gone. */
export async function serve<Settings>(start: (settings: Settings) => Promise<Serving>): Promise<void> {
  const statements = countStatements();
  const serving = await start(JSON.parse(process.argv[2] ?? "{}"));
  const stop = async () => {
    await serving.close();
    process.exit();
  };
  process.once("disconnect", stop);
  process.on("message", (ask: Ask) => {
    switch (ask) {
      case "count":
        return process.send?.(statements.start());
      case "costs":
        return process.send?.(statements.read());
      case "cpu": {
        const { user, system } = process.cpuUsage();
        return process.send?.((user + system) / 1000);
      }
      case "stop":
        return void stop();
    }
  });
  process.send?.({ url: serving.url });
}
