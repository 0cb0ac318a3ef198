import type { Pool } from "../core/db/pool.ts";
import { checkSecretName, createKeyRing, openSecret, sealSecret } from "../core/egress/secretBox.ts";
import { readSecret, writeSecret } from "../core/store/secrets.ts";

export interface Secrets {
  /** The value under this scope, else under none; null: there is no such secret. */
  read(name: string, scope?: string): Promise<string | null>;
  write(name: string, value: string, scope?: string): Promise<void>;
}

/**
 * Secrets at rest, opened by the keys of this process alone (C3). `local` are values of a project's `.env.local`:
 * they stand in for what was not set, in development.
 */
export function createSecrets(
  pool: Pool,
  masterKey: string,
  previousKeys: readonly string[],
  local: Readonly<Record<string, string>>,
): Secrets {
  const ring = createKeyRing(masterKey, previousKeys);
  return {
    async read(name, scope = "") {
      const kept = await readSecret(pool, name, scope);
      if (!kept) return local[name] ?? null;
      return openSecret(ring, { name, ...(kept.scope !== "" && { scope: kept.scope }) }, kept.box);
    },
    async write(name, value, scope = "") {
      checkSecretName(name);
      await writeSecret(pool, name, scope, sealSecret(ring, { name, ...(scope !== "" && { scope }) }, value));
    },
  };
}
