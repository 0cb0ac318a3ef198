import { access, constants, mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import closeWithGrace from "close-with-grace";
import { buildProject } from "../../core/build/buildProject.ts";
import { findProject } from "../../core/build/project.ts";
import { type Config, loadConfig } from "../../core/config.ts";
import { CountersignError } from "../../core/domain/errors.ts";
import { packageRoot } from "../../core/packageRoot.ts";
import type { DeploymentRow } from "../../core/store/deployments.ts";
import { startGateway } from "../compose.ts";
import { startExample } from "../example.ts";
import { loadOrCreateKeys } from "../keys.ts";
import { createLog } from "../log.ts";
import { readLocalValues } from "../projectEnv.ts";
import type { Served } from "../served.ts";

export interface StartFlags {
  readonly project?: string;
  readonly role?: string;
  readonly port?: string;
  readonly adminPort?: string;
  readonly data?: string;
}

/** `countersign start`: serves until it is told to stop, then drains. */
export async function start(flags: StartFlags, environment: NodeJS.ProcessEnv): Promise<void> {
  const config = loadConfig({ env: environment, flags });
  const log = createLog(config.logLevel);
  await makeDataFolder(config.dataDir);
  const keys = await loadOrCreateKeys(config);
  const gateway = await startGateway({
    config,
    keys,
    log,
    environment,
    serve: (active) => chooseProject(flags, config, active),
  });

  for (const part of gateway.parts) print(`  ${part}`);
  if (keys.createdApiKey) print(`  api key    ${keys.apiKey} (shown once; kept in ${join(config.dataDir, "keys")})`);
  print(`  admin      ${gateway.adminUrl}/health/ready`);
  print(`ready ${gateway.url ?? gateway.adminUrl}`);
  if (gateway.simulator) {
    print(`\nTry it: open ${gateway.simulator.url} and write, as Ada in #general,`);
    print('  "@countersign Move customer cus_42 to the team plan", then answer, and approve the card.');
  }

  // No time limit of its own: an apply has one, which the project chose, and everything else under way a shorter one.
  // Who cannot wait for that sends a second signal, or SIGKILL, as service managers do.
  closeWithGrace({ delay: false, logger: false }, async ({ err }) => {
    if (err) log.error({ err }, "the process cannot go on and closes");
    await gateway.close();
  });
}

const EXAMPLE = join(packageRoot(), "examples/support");

/** Throws `config_invalid` where it cannot be made or written. */
async function makeDataFolder(dir: string): Promise<void> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await access(dir, constants.W_OK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const message = `The data folder ${dir} cannot be written (${code}); make it writable for this user, or name another with --data.`;
    throw new CountersignError("config_invalid", message, { cause });
  }
}

/**
 * The project that was named, else the one here, else what is active, else the example this package brings. The example
 * comes with its billing server, also when it is what was active.
 */
async function chooseProject(flags: StartFlags, config: Config, active: DeploymentRow | null): Promise<Served> {
  const named = flags.project ?? (hasProject(".") ? "." : null);
  if (named !== null && resolve(named) !== EXAMPLE) {
    const folder = findProject(named);
    const deployment = await buildProject({ dir: named, allowLoopback: !config.production });
    for (const warning of deployment.manifest.warnings) print(`  warning    ${warning}`);
    return { deployment, folder, values: await readLocalValues(folder) };
  }
  const none = { deployment: null, folder: null, values: {} };
  if (config.production || config.role === "worker") return none;
  const deployment = await buildProject({ dir: EXAMPLE, allowLoopback: true });
  if (named === null && active && active.manifest.project !== deployment.manifest.project) return none;
  const example = await startExample(config.dataDir);
  const companion = { part: `billing    the example's billing server: ${example.url}`, close: example.stop };
  return { deployment, folder: findProject(EXAMPLE), values: example.values, companion };
}

function hasProject(dir: string): boolean {
  try {
    findProject(dir);
    return true;
  } catch {
    return false;
  }
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
