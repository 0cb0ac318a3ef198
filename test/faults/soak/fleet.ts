import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createProcesses, type GatewayProcess } from "../../helpers/gatewayProcess.ts";

type Role = "gateway" | "worker";

/** One place in the fleet; whatever process fills it. */
export interface Member {
  readonly name: string;
  readonly role: Role;
  /** Null while none runs. */
  process: GatewayProcess | null;
  paused: boolean;
}

/** Gateways and workers as processes of their own, over one database and one queue. */
export interface Fleet {
  readonly members: readonly Member[];
  /** Ports of the gateways that were not killed. */
  ports(): number[];
  /** Starts what does not run. */
  revive(member: Member): Promise<void>;
  kill(member: Member): Promise<void>;
  pause(member: Member): void;
  resume(member: Member): void;
  /** Lines of the log at level error and above, of every process that ever ran. */
  errors(): string[];
  close(): Promise<void>;
}

export interface FleetOptions {
  readonly folder: string;
  readonly projectDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly gateways: number;
  readonly workers: number;
}

export async function startFleet({ folder, projectDir, env, gateways, workers }: FleetOptions): Promise<Fleet> {
  const processes = createProcesses();
  const cwd = join(folder, "elsewhere");
  await mkdir(cwd);
  const place = (role: Role, n: number): Member => ({ name: `${role}-${n}`, role, process: null, paused: false });
  const members = [
    ...Array.from({ length: gateways }, (_, n) => place("gateway", n + 1)),
    ...Array.from({ length: workers }, (_, n) => place("worker", n + 1)),
  ];

  async function revive(member: Member): Promise<void> {
    if (member.process) return;
    const where = ["--role", member.role, "--project", projectDir, "--data", join(folder, member.name)];
    member.process = await processes.start([...where, "--port", "0", "--admin-port", "0"], { cwd, env });
  }
  const signal = (member: Member, name: "SIGSTOP" | "SIGCONT") => {
    if (member.process) process.kill(member.process.pid, name);
    member.paused = name === "SIGSTOP";
  };

  const fleet: Fleet = {
    members,
    ports: () =>
      members.flatMap(({ role, process: running }) =>
        role === "gateway" && running ? [Number(new URL(running.url).port)] : [],
      ),
    revive,
    async kill(member) {
      const running = member.process;
      member.process = null;
      member.paused = false;
      await running?.kill();
    },
    pause: (member) => signal(member, "SIGSTOP"),
    resume: (member) => signal(member, "SIGCONT"),
    errors: () =>
      processes
        .output()
        .split("\n")
        .filter((line) => /"level":[56]0/.test(line)),
    close: () => processes.killAll(),
  };
  // The first deploys; the others find what is deployed.
  const [first, ...others] = members;
  try {
    if (first) await revive(first);
    await Promise.all(others.map(revive));
  } catch (error) {
    await fleet.close();
    throw error;
  }
  return fleet;
}
