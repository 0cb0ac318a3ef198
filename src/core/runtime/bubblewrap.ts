import type { Mount } from "./view.ts";

const over = ({ kind, path }: Mount): string[] => {
  switch (kind) {
    case "hide":
      // 256 MiB, as under unshare: memory is not to be filled through /tmp.
      return ["--size", String(256 * 1024 * 1024), "--tmpfs", path];
    case "readOnly":
      return ["--ro-bind", path, path];
    case "writable":
      return ["--bind", path, path];
  }
};

/** The command line that runs `command` under bubblewrap: the machine read-only, then the view's mounts over it. */
export function bubblewrapCommand(mounts: readonly Mount[], workspace: string, command: readonly string[]): string[] {
  return [
    ...["bwrap", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--cap-drop", "ALL"],
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/sys"],
    ...mounts.flatMap(over),
    ...["--chdir", workspace, "--", ...command],
  ];
}
