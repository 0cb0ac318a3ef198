import { readFile, realpath } from "node:fs/promises";

/** What one child is to see of the file system. All paths absolute; those that do not exist are left out. */
export interface View {
  /** Gone for the child: the data folder and whatever else the operator keeps from agents. */
  readonly hidden: readonly string[];
  /** Readable even where a hidden folder contains it: the bundle, Node, this package. */
  readonly readable: readonly string[];
  /** Writable, the working directory; the only such place besides a private /tmp. */
  readonly workspace: string;
}

/** Outermost first; a deeper mount covers what a shallower one shows. `flags` are those of the mount it is taken from. */
export interface Mount {
  readonly kind: "hide" | "readOnly" | "writable";
  readonly path: string;
  readonly flags: string;
}

/** /tmp holds sockets and files of other programs. The rest of the list says what a child never needs of a kernel. */
const ALWAYS_HIDDEN = ["/tmp"];
const KERNEL = ["/proc", "/sys", "/dev"];

/**
 * The mounts that make a view. A readable folder is mounted only where something hides it: the rest of the machine
 * stays visible as it is, read-only, so that node, git and certificates are found wherever they are installed.
 */
export async function planMounts(view: View): Promise<Mount[]> {
  const [hidden, readable, [workspace]] = await Promise.all([
    existing([...ALWAYS_HIDDEN, ...view.hidden]),
    existing(view.readable),
    existing([view.workspace]),
  ]);
  if (workspace === undefined) throw new Error("the workspace does not exist");
  const table = await mountTable();
  const covered = readable.filter((path) => hidden.some((above) => isWithin(path, above)));
  const mount = (kind: Mount["kind"]) => (path: string) => ({ kind, path, flags: table.flagsOf(path) });
  const mounts = [...hidden.map(mount("hide")), ...covered.map(mount("readOnly")), mount("writable")(workspace)];
  // A stable sort: of two mounts on one path, what is shown comes after what hides.
  return mounts.sort((a, b) => depth(a.path) - depth(b.path));
}

/** Writable mounts of the machine that a child would otherwise write to with the gateway's own user id. */
export async function mountsToFreeze(mounts: readonly Mount[]): Promise<Mount[]> {
  const { entries } = await mountTable();
  const skipped = [...KERNEL, ...mounts.filter((m) => m.kind === "hide").map((m) => m.path)];
  return entries
    .filter((entry) => entry.flags.split(",").includes("rw") && !skipped.some((above) => isWithin(entry.path, above)))
    .map(({ path, flags }) => ({ kind: "readOnly", path, flags }));
}

async function mountTable(): Promise<{ entries: { path: string; flags: string }[]; flagsOf(path: string): string }> {
  const entries = (await readFile("/proc/self/mountinfo", "utf8"))
    .split("\n")
    .map((line) => line.split(" "))
    .flatMap(([, , , , path, flags]) =>
      path !== undefined && flags !== undefined ? [{ path: withoutOctal(path), flags }] : [],
    );
  const flagsOf = (path: string) =>
    entries.reduce(
      (best, entry) => (isWithin(path, entry.path) && entry.path.length >= best.path.length ? entry : best),
      {
        path: "",
        flags: "rw",
      },
    ).flags;
  return { entries, flagsOf };
}

/** mountinfo writes blanks and backslashes as three octal digits. */
const withoutOctal = (path: string) =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

const isWithin = (path: string, above: string) => above === "/" || path === above || path.startsWith(`${above}/`);

const depth = (path: string) => path.split("/").filter(Boolean).length;

async function existing(paths: readonly string[]): Promise<string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => null)));
  return [...new Set(real.filter((path) => path !== null))];
}
