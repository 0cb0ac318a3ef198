import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * When a process started, as a word to compare: with its pid it names one process for good, which the pid alone does
 * not (in a container the same small numbers come back at every start). Null: no such process, or only its zombie.
 */
export function processStart(pid: number): string | null {
  if (process.platform !== "linux") {
    const line = ps("stat=,lstart=", pid);
    return line === "" || line.startsWith("Z") ? null : line.replace(/^\S+\s+/, "");
  }
  const stat = proc(pid, "stat");
  // The name, in parentheses, may hold spaces and parentheses; state is the first field after it, start the 20th.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
}

/** The words a process was started with, one space between them; empty for a zombie and where there is none. */
export const processCommand = (pid: number): string =>
  process.platform === "linux" ? proc(pid, "cmdline").replaceAll("\0", " ") : ps("command=", pid);

function proc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

function ps(columns: string, pid: number): string {
  try {
    return execFileSync("ps", ["-ww", "-o", columns, "-p", String(pid)], { encoding: "utf8" }).trim();
  } catch {
    return "";
  }
}
