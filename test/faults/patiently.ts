import { isOutage } from "../../src/core/db/outage.ts";

/** Of the 2.5 s that a pool waits for a connection, or the 10 s of a query. */
const TRIES = 10;

/** What the harness itself asks of the database, which a busy machine may keep waiting: it may be asked twice. */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries === TRIES || !isOutage(error)) throw error;
    }
  }
}
