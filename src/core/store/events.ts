import type { Db } from "../db/pool.ts";
import { type EventData, type EventType, eventId, type NewEvent, type SessionEvent } from "../domain/event.ts";
import type { SessionStatus } from "../domain/session.ts";

interface EventRow {
  session_id: string;
  seq: number;
  turn_id: string | null;
  type: EventType;
  data: EventData;
  created_at: Date;
}

const toEvent = (row: EventRow): SessionEvent => ({
  seq: Number(row.seq),
  id: eventId(row.session_id, Number(row.seq)),
  timestamp: row.created_at.toISOString(),
  sessionId: row.session_id,
  ...(row.turn_id !== null && { turnId: row.turn_id }),
  type: row.type,
  data: row.data,
});

export interface Append {
  readonly sessionId: string;
  readonly events: readonly NewEvent[];
  /** Also set the session's status. */
  readonly status?: SessionStatus;
  /** Only while this turn runs under this fence. */
  readonly heldBy?: { readonly turnId: string; readonly fence: number };
}

/** Appends to the log in one round trip (S5). False: the fence is lost and nothing was written. */
export async function appendEvents(db: Db, { sessionId, events, status, heldBy }: Append): Promise<boolean> {
  const { rows } = await db.query<{ last: number | null }>({
    name: "append-events",
    text: "select append_events($1, $2, $3::bigint, $4, $5::text[], $6::text[], $7::text[]) as last",
    values: [
      sessionId,
      heldBy?.turnId ?? null,
      heldBy?.fence ?? null,
      status ?? null,
      events.map((e) => e.turnId ?? null),
      events.map((e) => e.type),
      events.map((e) => JSON.stringify(e.data)),
    ],
  });
  return rows[0]?.last !== null && rows[0] !== undefined;
}

/** Ascending, from the first after `after`. */
export async function readEvents(db: Db, sessionId: string, after: number, limit: number): Promise<SessionEvent[]> {
  const { rows } = await db.query<EventRow>({
    name: "read-events",
    text: `select session_id, seq, turn_id, type, data, created_at from events
           where session_id = $1 and seq > $2::bigint order by seq limit $3::bigint`,
    values: [sessionId, after, limit],
  });
  return rows.map(toEvent);
}

/** The whole log, for folding; 500 events a round trip. */
export async function readAllEvents(db: Db, sessionId: string): Promise<SessionEvent[]> {
  const all: SessionEvent[] = [];
  for (;;) {
    const page = await readEvents(db, sessionId, all.at(-1)?.seq ?? 0, 500);
    all.push(...page);
    if (page.length < 500) return all;
  }
}
