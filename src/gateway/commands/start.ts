import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import closeWithGrace from "close-with-grace";
import { buildProject } from "../../core/build/buildProject.ts";
import { findProject } from "../../core/build/project.ts";
import { type Config, loadConfig } from "../../core/config.ts";
import type { Deployment } from "../../core/domain/manifest.ts";
import { packageRoot } from "../../core/packageRoot.ts";
import { startGateway } from "../compose.ts";
import { type Example, startExample } from "../example.ts";
import { loadOrCreateKeys } from "../keys.ts";
import { createLog } from "../log.ts";
import { readLocalValues } from "../projectEnv.ts";

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
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  const keys = await loadOrCreateKeys(config);
  const served = await chooseProject(flags, config);
  const gateway = await startGateway({
    config,
    keys,
    log,
    deployment: served.deployment,
    localSecrets: config.production ? {} : served.values,
    variables: { ...environment, ...served.values },
  }).catch(async (error) => {
    await served.example?.stop();
    throw error;
  });

  for (const part of gateway.parts) print(`  ${part}`);
  if (served.example) print(`  billing    the example's billing server: ${served.example.url}`);
  if (keys.createdApiKey) print(`  api key    ${keys.apiKey} (shown once; kept in ${join(config.dataDir, "keys")})`);
  print(`  admin      ${gateway.adminUrl}/health/ready`);
  print(`ready ${gateway.url ?? gateway.adminUrl}`);
  if (gateway.simulator) {
    print(`\nTry it: open ${gateway.simulator.url} and write, as Ada in #general,`);
    print('  "@countersign Move customer cus_42 to the team plan", then answer, and approve the card.');
  }

  // Longer than the longest apply (60 s unless a project says otherwise) and the steps of turns that end before it.
  closeWithGrace({ delay: 90_000, logger: false }, async ({ err }) => {
    if (err) log.error({ err }, "the process cannot go on and closes");
    await gateway.close();
    await served.example?.stop();
  });
}

interface Served {
  readonly deployment: Deployment | null;
  readonly values: Readonly<Record<string, string>>;
  readonly example: Example | null;
}

/** The project that was named, else `./opencomputer` where there is one, else the example this package brings. */
async function chooseProject(flags: StartFlags, config: Config): Promise<Served> {
  const exampleDir = join(packageRoot(), "examples/support");
  const dir = resolve(flags.project ?? (hasProject(".") ? "." : exampleDir));
  const build = { dir, allowLoopback: !config.production };
  if (resolve(dir) === exampleDir && config.role !== "worker" && !config.production) {
    const example = await startExample(config.dataDir);
    return { deployment: await buildProject(build), values: example.values, example };
  }
  return { deployment: await buildProject(build), values: await readLocalValues(findProject(dir)), example: null };
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
