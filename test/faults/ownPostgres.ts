import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmbeddedPostgres } from "../../src/gateway/embeddedPostgres.ts";
import { findPostgresBinaries } from "../../src/gateway/postgresBinaries.ts";
import { silentLog } from "../helpers/log.ts";
import { makeTemplate } from "../setup.ts";

export interface OwnPostgres {
  readonly url: string;
  close(): Promise<void>;
}

/** Two lanes of two dozen runs, each with the connections of a process that dies and of the one that takes over. */
const CONNECTIONS = 400;

/** A PostgreSQL made for this sweep, with the migrated template in it. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-faults-"));
  await chmod(folder, 0o755); // Its server may be another user.
  const binaries = await findPostgresBinaries(join(folder, "lib"));
  // The embedded one is made for a gateway and takes 100 connections; of two settings of one name the last one counts.
  const postgres = join(folder, "postgres.sh");
  await writeFile(postgres, `#!/bin/sh\nexec '${binaries.postgres}' "$@" -c max_connections=${CONNECTIONS}\n`);
  await chmod(postgres, 0o755);
  const server = createEmbeddedPostgres({
    dataDir: join(folder, "cluster"),
    log: silentLog,
    sync: false,
    binaries: { ...binaries, postgres },
  });
  const close = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await server.start();
    await makeTemplate(server.url);
    return { url: server.url, close };
  } catch (error) {
    await close();
    throw error;
  }
}
