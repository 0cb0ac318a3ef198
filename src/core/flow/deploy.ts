import { withTx } from "../db/withTx.ts";
import type { Deployment } from "../domain/manifest.ts";
import { activateDeployment, findDeployment, insertDeployment, readDeploymentFiles } from "../store/deployments.ts";
import type { Core } from "./core.ts";

/** Keeps a deployment and makes it the one new sessions open on; sessions that run stay on theirs (S1). */
export function deploy(core: Pick<Core, "pool">, deployment: Deployment): Promise<void> {
  return withTx(core.pool, async (db) => {
    await insertDeployment(db, deployment);
    await activateDeployment(db, deployment.id);
  });
}

/** A kept deployment with its files; null: it is gone. */
export async function loadDeployment(core: Pick<Core, "pool">, id: string): Promise<Deployment | null> {
  const row = await findDeployment(core.pool, id);
  return row && { ...row, files: await readDeploymentFiles(core.pool, id) };
}
