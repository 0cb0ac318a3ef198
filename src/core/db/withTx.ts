import { codeOf, isCut } from "./outage.ts";
import type { Client, Pool } from "./pool.ts";

/** serialization_failure and deadlock_detected: PostgreSQL undid everything, so the same work may be done again. */
const UNDONE = new Set(["40001", "40P01"]);
const RETRIES = 3;

/**
 * Runs `work` in one transaction: commits what it returns, rolls back what it throws. A transaction that PostgreSQL
 * undid for the sake of another is run again up to three times, so `work` must have no effect outside the database.
 * One whose connection is lost is not: it may have been committed. Whoever calls again looks at the row first, and every
 * write of ours names the state it leaves, so that the second one changes nothing.
 */
export const withTx = <T>(pool: Pool, work: (client: Client) => Promise<T>): Promise<T> =>
  again(() => once(pool, "begin", work));

/** The same for a single statement, which is a transaction of its own. */
export async function again<T>(statement: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await statement();
    } catch (error) {
      if (attempt >= RETRIES || !UNDONE.has(codeOf(error))) throw error;
    }
  }
}

/** Runs reads on one snapshot: what they answer together was true at one moment. */
export const withSnapshot = <T>(pool: Pool, read: (client: Client) => Promise<T>): Promise<T> =>
  once(pool, "begin isolation level repeatable read read only", read);

async function once<T>(pool: Pool, begin: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const lost = (error: Error) => {
    broken = error;
  };
  client.on("error", lost);
  try {
    await client.query(begin);
    const result = await work(client);
    const { command } = await client.query("commit");
    // PostgreSQL answers so, and not with an error, where a statement failed and `work` went on as if it had not.
    if (command !== "COMMIT") throw new Error(`the transaction was not committed but ended in ${command}`);
    return result;
  } catch (error) {
    // A server that did not answer will not answer this either; without its connection it rolls back by itself.
    if (error instanceof Error && isCut(error)) lost(error);
    else await client.query("rollback").catch(lost);
    throw error;
  } finally {
    client.off("error", lost);
    client.release(broken);
  }
}
