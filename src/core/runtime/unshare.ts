import type { Mount } from "./view.ts";

/**
 * Makes the view with mount(8), then becomes the command. /sys, which no agent needs, is the stage: what has to stay
 * visible is bound there before anything is hidden, and moved to its place after. Root without capabilities still
 * owns root's files, so the machine is made read-only, /proc too (`/proc/sys` asks for the user id alone), and /dev
 * gets the harmless devices only (a disk's node belongs to root).
 */
const SCRIPT = `
set -eu
workspace=$1
shift
mount -nt tmpfs -o mode=755 tmpfs /sys
each() {
  step=$1
  n=0
  shift
  while [ "$1" != -- ]; do
    n=$((n + 1))
    "$step" "$1" "$2" "$3"
    shift 3
  done
}
stage() {
  case $1 in readOnly | writable)
    mkdir "/sys/$n"
    mount -n --rbind "$2" "/sys/$n"
  esac
}
place() {
  [ -d "$2" ] || mkdir -p "$2"
  case $1 in
    hide) mount -nt tmpfs -o mode=1777,size=256m tmpfs "$2" ;;
    readOnly | writable) mount -n --move "/sys/$n" "$2" ;;
  esac
  case $1 in freeze | readOnly) mount -no "remount,bind,$3,ro" "$2" ; esac
}
each stage "$@"
mkdir /sys/dev
mount -nt tmpfs -o mode=755 tmpfs /sys/dev
for device in null zero random urandom; do
  : > "/sys/dev/$device"
  mount -n --bind "/dev/$device" "/sys/dev/$device"
done
ln -s /proc/self/fd /sys/dev/fd
mkdir -m 1777 /sys/dev/shm
mount -n --move /sys/dev /dev
each place "$@"
mount -no remount,ro /proc
while [ "$1" != -- ]; do shift; done
shift
cd "$workspace"
exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all "$@"
`;

/**
 * The command line that runs `command` in namespaces of its own with nothing but util-linux and a shell. `asRoot`: the
 * gateway is root; anybody else needs a user namespace for the rest.
 */
export function unshareCommand(
  asRoot: boolean,
  mounts: readonly Mount[],
  frozen: readonly Mount[],
  workspace: string,
  command: readonly string[],
): string[] {
  const steps = [
    ...frozen.map(({ path, flags }) => ["freeze", path, flags]),
    ...mounts.map((m) => [m.kind, m.path, m.flags]),
  ];
  return [
    // unshare ignores SIGTERM and outlives its parent: the kernel ends it, and it ends the child (--kill-child).
    ...["setpriv", "--pdeathsig", "KILL", "unshare", ...(asRoot ? [] : ["--user", "--map-root-user"])],
    ...["--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child=SIGKILL", "--mount-proc"],
    ...["/bin/sh", "-c", SCRIPT, "countersign", workspace, ...steps.flat(), "--", ...command],
  ];
}
