import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Pids of processes that work in the folder or were started with its name; seen on Linux alone. */
export function livingIn(folder: string): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter(
      (pid) =>
        seen(() => readlinkSync(`/proc/${pid}/cwd`)).startsWith(folder) ||
        seen(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")).includes(folder),
    )
    .map(Number);
}

/** Empty once the process is gone. */
function seen(look: () => string): string {
  try {
    return look();
  } catch {
    return "";
  }
}
