import { join } from "node:path";
import { text } from "node:stream/consumers";
import { loadConfig } from "../../core/config.ts";
import { migrate } from "../../core/db/migrate.ts";
import { createPool, type Pool } from "../../core/db/pool.ts";
import { CountersignError } from "../../core/domain/errors.ts";
import { removeSecret as deleteSecret, listSecrets } from "../../core/store/secrets.ts";
import { createEmbeddedPostgres } from "../embeddedPostgres.ts";
import { type Keys, loadOrCreateKeys } from "../keys.ts";
import { createLog } from "../log.ts";
import { createSecrets } from "../secrets.ts";

export interface SecretFlags {
  readonly scope?: string;
  readonly data?: string;
}

interface Store {
  readonly pool: Pool;
  readonly keys: Keys;
  readonly previous: readonly string[];
}

/** `countersign secrets set NAME`: the value comes from standard input, so that no shell history keeps it. */
export async function setSecret(name: string, flags: SecretFlags, environment: NodeJS.ProcessEnv): Promise<void> {
  const value = (await text(process.stdin)).replace(/\r?\n$/, "");
  if (value === "") throw new CountersignError("bad_request", `Write the value of ${name} to standard input.`);
  await withStore(flags, environment, ({ pool, keys, previous }) =>
    createSecrets(pool, keys.masterKey, previous, {}).write(name, value, flags.scope),
  );
  print(`${name} is set`);
}

/** `countersign secrets list`: names and times, never values. */
export function listSecretNames(flags: SecretFlags, environment: NodeJS.ProcessEnv): Promise<void> {
  return withStore(flags, environment, async ({ pool }) => {
    for (const { name, scope, updatedAt } of await listSecrets(pool))
      print([name, scope, updatedAt].filter(Boolean).join("  "));
  });
}

/** `countersign secrets remove NAME`. */
export async function removeSecret(name: string, flags: SecretFlags, environment: NodeJS.ProcessEnv): Promise<void> {
  const removed = await withStore(flags, environment, ({ pool }) => deleteSecret(pool, name, flags.scope ?? ""));
  if (!removed)
    throw new CountersignError(
      "not_found",
      `There is no secret ${name}${flags.scope ? ` of scope ${flags.scope}` : ""}.`,
    );
  print(`${name} is removed`);
}

/** The database of DATABASE_URL, else the embedded one, started for as long as it takes. */
async function withStore<T>(
  flags: SecretFlags,
  environment: NodeJS.ProcessEnv,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const config = loadConfig({ env: environment, flags: { ...(flags.data && { data: flags.data }) } });
  const log = createLog(config.logLevel);
  const keys = await loadOrCreateKeys(config);
  const embedded = config.databaseUrl
    ? null
    : createEmbeddedPostgres({ dataDir: join(config.dataDir, "postgres"), log });
  await embedded?.start();
  try {
    const url = config.databaseUrl ?? embedded?.url ?? "";
    await migrate(url);
    const pool = createPool({ url, max: 1, applicationName: "countersign-secrets", log });
    try {
      return await work({ pool, keys, previous: config.masterKeyPrevious });
    } finally {
      await pool.end();
    }
  } finally {
    await embedded?.stop();
  }
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
