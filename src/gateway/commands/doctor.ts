import { join } from "node:path";
import { findProject } from "../../core/build/project.ts";
import { type Config, loadConfig } from "../../core/config.ts";
import { createPool, type Pool } from "../../core/db/pool.ts";
import { CountersignError } from "../../core/domain/errors.ts";
import { checkDatabase } from "../doctor/database.ts";
import { checkDataFolder } from "../doctor/dataFolder.ts";
import { type Finding, findingsAbout } from "../doctor/finding.ts";
import { checkIsolation } from "../doctor/isolation.ts";
import { checkQueue } from "../doctor/queue.ts";
import { checkRecord } from "../doctor/record.ts";
import { checkSecrets } from "../doctor/secrets.ts";
import { EXAMPLE_SECRETS } from "../example.ts";
import { createLog } from "../log.ts";
import { readLocalValues } from "../projectEnv.ts";
import { findRunning } from "../runningPostgres.ts";

export interface DoctorFlags {
  readonly project?: string;
  readonly data?: string;
}

/**
 * `countersign doctor`: looks at everything a gateway stands on, starts and changes nothing, and says what to do. Exit
 * code 1 where something is a problem; warnings, and what could not be looked at, are none.
 */
export async function doctor(flags: DoctorFlags, environment: NodeJS.ProcessEnv): Promise<void> {
  const findings = await examine(flags, environment);
  for (const { level, about, says } of findings) print(`${level.padEnd(8)} ${about.padEnd(13)} ${says}`);
  if (findings.some(({ level }) => level === "problem")) process.exitCode = 1;
}

async function examine({ project, data }: DoctorFlags, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const configuration = findingsAbout("configuration");
  let config: Config;
  try {
    config = loadConfig({ env, flags: { ...(data && { data }) } });
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error;
    return error.message.split("\n").map(configuration.problem);
  }
  const folder = await checkDataFolder(config);
  return [
    configuration.ok("Every variable that is set can be used."),
    ...folder.findings,
    ...(await examineDatabase(config, folder.masterKey, project)),
    ...(await checkQueue(config.redisUrl)),
    await checkIsolation(config),
  ];
}

async function examineDatabase(config: Config, masterKey: string | null, project?: string): Promise<Finding[]> {
  const url = config.databaseUrl ?? (await findRunning(join(config.dataDir, "postgres")));
  if (url === null) {
    return [
      findingsAbout("database").warning(
        "The embedded PostgreSQL does not run, so nothing in it was looked at; run doctor again beside a started gateway.",
      ),
    ];
  }
  const pool = createPool({ url, max: 2, applicationName: "countersign-doctor", log: createLog(config.logLevel) });
  try {
    const findings = await checkDatabase(pool);
    const usable = findings.every(({ about, level }) => about !== "database" || level === "ok");
    const migrated = findings.some(({ about, level }) => about === "schema" && level === "ok");
    return usable && migrated ? [...findings, ...(await examineRows(config, pool, masterKey, project))] : findings;
  } finally {
    await pool.end();
  }
}

/** What only the master key can judge. */
async function examineRows(
  { production, masterKeyPrevious }: Config,
  pool: Pool,
  masterKey: string | null,
  project?: string,
): Promise<Finding[]> {
  if (masterKey === null)
    return [findingsAbout("secrets").warning("Without the master key, secrets and the record were not looked at.")];
  const local = production ? {} : await localValues(project);
  return [
    ...(await checkSecrets({ pool, masterKey, previousKeys: masterKeyPrevious, local })),
    await checkRecord(pool, masterKey),
  ];
}

/** As `start` finds them: of the project that is named, else of the one here, else of the example. */
async function localValues(project?: string): Promise<Record<string, string>> {
  if (project !== undefined) return readLocalValues(findProject(project));
  try {
    return await readLocalValues(findProject("."));
  } catch {
    return Object.fromEntries(EXAMPLE_SECRETS.map((name) => [name, "brought by start"]));
  }
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
