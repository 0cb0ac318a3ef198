import type { Db } from "../db/pool.ts";

/** How the server keeps what it says it has committed. */
export interface Server {
  /** `18.1`. */
  readonly version: string;
  readonly readOnly: boolean;
  readonly fsync: boolean;
  readonly synchronousCommit: string;
  /** Names a commit waits for; empty: for none. */
  readonly synchronousStandbys: string;
  /** Connected now. */
  readonly standbys: number;
  /** Its clock, milliseconds since the epoch. */
  readonly now: number;
}

export async function readServer(db: Db): Promise<Server> {
  const { rows } = await db.query<Server>(
    `select current_setting('server_version') as version,
       current_setting('transaction_read_only') = 'on' as "readOnly",
       current_setting('fsync') = 'on' as fsync,
       current_setting('synchronous_commit') as "synchronousCommit",
       current_setting('synchronous_standby_names') as "synchronousStandbys",
       (select count(*) from pg_stat_replication)::int as standbys,
       (extract(epoch from clock_timestamp()) * 1000)::double precision as now`,
  );
  const [server] = rows;
  if (!server) throw new Error("a statement that returns one row returned none");
  return server;
}
