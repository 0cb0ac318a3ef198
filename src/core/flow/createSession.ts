import type { Db } from "../db/pool.ts";
import { withTx } from "../db/withTx.ts";
import { digest } from "../digest.ts";
import { CountersignError } from "../domain/errors.ts";
import { newId } from "../domain/ids.ts";
import type { InputSource } from "../domain/input.ts";
import type { Session } from "../domain/session.ts";
import { findReceived, recordReceived } from "../store/inbox.ts";
import { findSession, insertSession, lockSession, setLabels } from "../store/sessions.ts";
import type { Core } from "./core.ts";

export interface CreateSession {
  readonly agentId: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly source?: InputSource;
  readonly idempotencyKey?: string | null;
}

/**
 * POST /sessions: a session of its own, in no chat. For as long as the inbox remembers (72 h), the same key with the
 * same request is the session it made (`duplicate`), with another one `idempotency_conflict`. Throws `agent_unknown`.
 */
export function createSession(core: Core, create: CreateSession): Promise<{ session: Session; duplicate: boolean }> {
  const { agentId, labels = {}, source = "user", idempotencyKey = null } = create;
  return withTx(core.pool, async (db) => {
    const id = newId(core.ids, "ses");
    const before =
      idempotencyKey === null ? null : await findRepeated(db, id, idempotencyKey, [agentId, labels, source]);
    if (before) return { session: before, duplicate: true };
    if (!(await insertSession(db, { id, agentId, source, conversation: null })))
      throw new CountersignError("agent_unknown");
    const session = await lockSession(db, id);
    if (!session) throw new CountersignError("internal");
    if (Object.keys(labels).length > 0) await setLabels(db, id, labels);
    return { session, duplicate: false };
  });
}

/** The session that this key made; null: the key is new, and now stands for `id`. */
async function findRepeated(db: Db, id: string, idempotencyKey: string, request: unknown): Promise<Session | null> {
  const key = `api:session:${digest(idempotencyKey)}`;
  // Recorded beside the key itself: it alone tells whether the request was the same.
  const keyAndRequest = `${key}:${digest(JSON.stringify(request))}`;
  if (await recordReceived(db, [key, keyAndRequest], id)) return null;
  const made = await findReceived(db, key);
  if (made === null || made !== (await findReceived(db, keyAndRequest))) {
    throw new CountersignError("idempotency_conflict");
  }
  return findSession(db, made);
}
