import { text } from "node:stream/consumers";
import { type Config, loadConfig } from "../../core/config.ts";
import { CountersignError } from "../../core/domain/errors.ts";
import { checkSecretName } from "../../core/egress/secretBox.ts";
import { removeSecret as deleteSecret, listSecrets } from "../../core/store/secrets.ts";
import { loadOrCreateMasterKey } from "../keys.ts";
import { createLog } from "../log.ts";
import { createSecrets } from "../secrets.ts";
import { withDatabase } from "../withDatabase.ts";

export interface SecretFlags {
  readonly scope?: string;
  readonly data?: string;
}

/** `countersign secrets set NAME`: the value comes from standard input, so that no shell history keeps it. */
export async function setSecret(
  name: string,
  flags: SecretFlags,
  environment: NodeJS.ProcessEnv,
  input: NodeJS.ReadableStream & { readonly isTTY?: boolean } = process.stdin,
): Promise<void> {
  checkSecretName(name);
  if (input.isTTY) process.stderr.write(`Type the value of ${name}, then Enter and Ctrl-D.\n`);
  const value = (await text(input)).replace(/\r?\n$/, "");
  if (value === "") throw new CountersignError("bad_request", `Write the value of ${name} to standard input.`);
  const config = configOf(flags, environment);
  const masterKey = await loadOrCreateMasterKey(config);
  await withDatabase(config, createLog(config.logLevel), (pool) =>
    createSecrets(pool, masterKey, config.masterKeyPrevious, {}).write(name, value, flags.scope),
  );
  print(`${name} is set`);
}

/** `countersign secrets list`: names and times, never values. */
export async function listSecretNames(flags: SecretFlags, environment: NodeJS.ProcessEnv): Promise<void> {
  const config = configOf(flags, environment);
  const secrets = await withDatabase(config, createLog(config.logLevel), listSecrets);
  for (const { name, scope, updatedAt } of secrets) print([name, scope, updatedAt].filter(Boolean).join("  "));
}

/** `countersign secrets remove NAME`. */
export async function removeSecret(name: string, flags: SecretFlags, environment: NodeJS.ProcessEnv): Promise<void> {
  const config = configOf(flags, environment);
  const removed = await withDatabase(config, createLog(config.logLevel), (pool) =>
    deleteSecret(pool, name, flags.scope ?? ""),
  );
  if (!removed) {
    const of = flags.scope ? ` of scope ${flags.scope}` : "";
    throw new CountersignError("not_found", `There is no secret ${name}${of}.`);
  }
  print(`${name} is removed`);
}

const configOf = ({ data }: SecretFlags, env: NodeJS.ProcessEnv): Config =>
  loadConfig({ env, flags: { ...(data && { data }) } });

const print = (line: string): void => void process.stdout.write(`${line}\n`);
