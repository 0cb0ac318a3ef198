import type { Db } from "../db/pool.ts";
import type { Deployment, DeploymentFile, Manifest } from "../domain/manifest.ts";

/** Keeps a deployment; the same content again is the same row (B4). */
export async function insertDeployment(db: Db, deployment: Deployment): Promise<void> {
  await db.query(
    `with kept as (
       insert into deployments (id, manifest, agents) values ($1, $2::json, $5::text[]) on conflict (id) do nothing
     )
     insert into deployment_files (deployment_id, path, content)
     select $1, f.path, f.content from unnest($3::text[], $4::bytea[]) as f (path, content)
     on conflict do nothing`,
    [
      deployment.id,
      JSON.stringify(deployment.manifest),
      deployment.files.map((f) => f.path),
      deployment.files.map((f) => Buffer.from(f.content)),
      deployment.manifest.agents.map((a) => a.id),
    ],
  );
}

/** Makes a kept deployment the one new sessions open on. */
export async function activateDeployment(db: Db, id: string): Promise<void> {
  await db.query(
    `insert into activation (deployment_id) values ($1)
     on conflict (only_row) do update set deployment_id = excluded.deployment_id, activated_at = countersign_now()
     where activation.deployment_id <> excluded.deployment_id`,
    [id],
  );
}

export interface DeploymentRow {
  readonly id: string;
  readonly manifest: Manifest;
}

export async function findActiveDeployment(db: Db): Promise<DeploymentRow | null> {
  const { rows } = await db.query<DeploymentRow>(
    "select d.id, d.manifest from activation a join deployments d on d.id = a.deployment_id",
  );
  return rows[0] ?? null;
}

export async function findDeployment(db: Db, id: string): Promise<DeploymentRow | null> {
  const { rows } = await db.query<DeploymentRow>("select id, manifest from deployments where id = $1", [id]);
  return rows[0] ?? null;
}

export async function readDeploymentFiles(db: Db, id: string): Promise<DeploymentFile[]> {
  const { rows } = await db.query<{ path: string; content: Buffer }>(
    "select path, content from deployment_files where deployment_id = $1 order by path",
    [id],
  );
  return rows;
}
