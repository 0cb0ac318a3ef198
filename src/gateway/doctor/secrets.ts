import type { Pool } from "../../core/db/pool.ts";
import type { Manifest } from "../../core/domain/manifest.ts";
import { findActiveDeployment } from "../../core/store/deployments.ts";
import { createSecrets, type Secrets } from "../secrets.ts";
import { type Finding, findingsAbout } from "./finding.ts";

const secrets = findingsAbout("secrets");

export interface SecretsToCheck {
  readonly pool: Pool;
  readonly masterKey: string;
  readonly previousKeys: readonly string[];
  /** What stands in for secrets that were not set. */
  readonly local: Readonly<Record<string, string>>;
}

/** Every secret that the active deployment's connections send: is it there, and does it open? */
export async function checkSecrets({ pool, masterKey, previousKeys, local }: SecretsToCheck): Promise<Finding[]> {
  const active = await findActiveDeployment(pool);
  if (!active) return [secrets.ok("Nothing is deployed yet, so no secret is needed.")];
  const declared = declaredSecrets(active.manifest);
  const store = createSecrets(pool, masterKey, previousKeys, local);
  const found = await Promise.all(declared.map((secret) => check(store, secret)));
  const wrong = found.filter((finding) => finding !== null);
  if (wrong.length > 0) return wrong;
  return [
    secrets.ok(
      declared.length === 0 ? "The active deployment needs none." : `Set: ${declared.map(placeOf).join(", ")}.`,
    ),
  ];
}

interface Declared {
  readonly name: string;
  readonly scope?: string;
}

async function check(store: Secrets, secret: Declared): Promise<Finding | null> {
  const { name, scope } = secret;
  const flag = scope === undefined ? "" : ` --scope ${scope}`;
  try {
    if ((await store.read(name, scope)) !== null) return null;
    return secrets.warning(
      `${placeOf(secret)} is not set, and the requests that need it fail; run countersign secrets set ${name}${flag}.`,
    );
  } catch {
    return secrets.problem(
      `${placeOf(secret)} does not open with this master key; put the key it was set under into COUNTERSIGN_MASTER_KEY_PREVIOUS, or run countersign secrets set ${name}${flag} again.`,
    );
  }
}

const placeOf = ({ name, scope }: Declared): string => (scope === undefined ? name : `${name} of scope ${scope}`);

function declaredSecrets({ agents }: Manifest): Declared[] {
  const headers = agents.flatMap(({ connections }) => connections.flatMap((connection) => connection.headers));
  const declared = headers.flatMap((header): Declared[] =>
    "secret" in header ? [{ name: header.secret, ...(header.scope !== undefined && { scope: header.scope }) }] : [],
  );
  return [...new Map(declared.map((secret) => [placeOf(secret), secret])).values()];
}
