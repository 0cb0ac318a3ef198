import { spawn } from "node:child_process";
import { access, mkdir, mkdtemp, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bubblewrapCommand } from "./bubblewrap.ts";
import { unshareCommand } from "./unshare.ts";
import { mountsToFreeze, planMounts, type View } from "./view.ts";

/** How agent code is kept apart from the gateway (C1). `reason` is a sentence for `start` and `doctor`. */
export interface Isolation {
  readonly kind: "bubblewrap" | "unshare" | "none";
  readonly reason: string;
}

/** Where programs are looked for: Node's own folder first, so that tools find the same node. */
export const programPath = (): string =>
  [
    process.execPath.slice(0, process.execPath.lastIndexOf("/")),
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
  ].join(":");

/**
 * The command line that runs `command` in its view; without isolation, where it can be had, in a process that gains
 * no privileges and ends with its parent even when it is too busy to notice.
 */
export async function isolate(kind: Isolation["kind"], view: View, command: readonly string[]): Promise<string[]> {
  if (kind === "none") return [...((await isInstalled("setpriv")) ? MODEST : []), ...command];
  const mounts = await planMounts(view);
  if (kind === "bubblewrap") return bubblewrapCommand(mounts, view.workspace, command);
  return unshareCommand(process.getuid?.() === 0, mounts, await mountsToFreeze(mounts), view.workspace, command);
}

const MODEST = ["setpriv", "--pdeathsig", "KILL", "--no-new-privs"];

const isInstalled = async (program: string): Promise<boolean> => {
  const found = await Promise.all(
    programPath()
      .split(":")
      .map((folder) => access(join(folder, program)).then(yes, no)),
  );
  return found.includes(true);
};
const yes = () => true;
const no = () => false;

/**
 * Tries what this machine allows by running it: a process that has to find itself in another PID namespace, the
 * hidden file gone, its workspace writable, and the channel open. Takes some 50 ms; ask once.
 */
export async function detectIsolation(): Promise<Isolation> {
  if (process.platform !== "linux")
    return { kind: "none", reason: `namespaces are Linux's; this is ${process.platform}` };
  const bubblewrap = await whyNot("bubblewrap");
  if (bubblewrap === null) return { kind: "bubblewrap", reason: "bubblewrap is installed and works" };
  const unshare = await whyNot("unshare");
  if (unshare === null) return { kind: "unshare", reason: "util-linux unshare works" };
  return { kind: "none", reason: `bubblewrap: ${bubblewrap}; unshare: ${unshare}` };
}

const PROBE = `
test ! -e "$1/hidden/file" && : > "$1/workspace/written" && test "$(readlink /proc/self/ns/pid)" != "$2" && echo works >&3`;

/** Null when it works here, else what is in the way. */
export async function whyNot(kind: "bubblewrap" | "unshare"): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-probe-"));
  try {
    const view: View = { hidden: [join(folder, "hidden")], readable: [], workspace: join(folder, "workspace") };
    await Promise.all([mkdir(join(folder, "hidden")), mkdir(view.workspace)]);
    await writeFile(join(folder, "hidden", "file"), "");
    const pidNamespace = await readlink("/proc/self/ns/pid");
    return await tryRun(
      await isolate(kind, view, ["/bin/sh", "-c", PROBE, "probe", folder, pidNamespace]),
      view.workspace,
    );
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function tryRun([file = "", ...args]: string[], cwd: string): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      env: { PATH: programPath() },
      stdio: ["ignore", "ignore", "pipe", "pipe"],
      // Not `timeout`: where the program is not there, spawn forgets that timer, and the process waits for it to end.
      signal: AbortSignal.timeout(10_000),
      killSignal: "SIGKILL",
    });
    let said = "";
    let complaint = "";
    child.stdio[3]?.on("data", (chunk) => (said += chunk));
    child.stderr?.on("data", (chunk) => (complaint += chunk));
    child.on("error", (error: NodeJS.ErrnoException) =>
      resolve(error.code === "ENOENT" ? "not installed" : error.message),
    );
    child.on("close", (code, signal) => {
      if (code === 0 && said === "works\n") return resolve(null);
      resolve(complaint.trim().split("\n").at(-1)?.slice(0, 300) || `the probe ended with ${signal ?? `code ${code}`}`);
    });
  });
}
