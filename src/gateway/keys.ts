import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../core/config.ts";
import { CountersignError } from "../core/domain/errors.ts";

export interface Keys {
  /** 32 bytes in base64; seals the secrets at rest. */
  readonly masterKey: string;
  readonly apiKey: string;
  /** The API key was made by this call: show it now, nobody else will. */
  readonly createdApiKey: boolean;
}

/**
 * The keys that were configured; what was not is made at the first start and kept in `keys` in the data folder, for
 * its owner's eyes only. Two processes that start together agree on one.
 */
export async function loadOrCreateKeys(config: Pick<Config, "dataDir" | "masterKey" | "apiKey">): Promise<Keys> {
  const masterKey = await loadOrCreateMasterKey(config);
  if (config.apiKey) return { masterKey, apiKey: config.apiKey, createdApiKey: false };
  const api = await keep(keysFolder(config), "api", `csk_${randomBytes(24).toString("base64url")}`);
  return { masterKey, apiKey: api.value, createdApiKey: api.created };
}

/** The one key of the two that a command needs: an API key that it made would never be shown. */
export async function loadOrCreateMasterKey(config: Pick<Config, "dataDir" | "masterKey">): Promise<string> {
  return config.masterKey ?? (await keep(keysFolder(config), "master", randomBytes(32).toString("base64"))).value;
}

/** For commands that speak of what is there: one made now would vouch for a record that it never signed. */
export async function loadMasterKey(config: Pick<Config, "dataDir" | "masterKey">): Promise<string> {
  if (config.masterKey) return config.masterKey;
  const path = join(keysFolder(config), "master");
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (cause) {
    const message = `${path} cannot be read (${codeOf(cause)}); name the gateway's data folder with --data, or give its COUNTERSIGN_MASTER_KEY.`;
    throw new CountersignError("config_invalid", message, { cause });
  }
}

const keysFolder = ({ dataDir }: Pick<Config, "dataDir">): string => join(dataDir, "keys");

/** The kept value, or `fresh` once it is kept. A link puts the whole file there, or finds another's. */
async function keep(folder: string, name: string, fresh: string): Promise<{ value: string; created: boolean }> {
  const path = join(folder, name);
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    return { value: (await readFile(path, "utf8")).trim(), created: false };
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  await writeFile(draft, `${fresh}\n`, { mode: 0o600 });
  try {
    await link(draft, path);
    return { value: fresh, created: true };
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    return { value: (await readFile(path, "utf8")).trim(), created: false };
  } finally {
    await rm(draft, { force: true });
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);
