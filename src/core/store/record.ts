import type { Db } from "../db/pool.ts";

/** The end of the decision record. */
export interface RecordHead {
  /** 0: there is no entry yet. */
  readonly seq: number;
  /** 64 hex digits. */
  readonly hash: string;
}

export interface RecordSignature extends RecordHead {
  /** ISO 8601, UTC. */
  readonly signedAt: string;
  readonly key: string;
  readonly signature: string;
}

export interface RecordEnd {
  readonly head: RecordHead;
  /** The newest signature; null: nothing was ever signed. */
  readonly signed: RecordSignature | null;
  /** ISO 8601, UTC, on the database's clock. */
  readonly now: string;
}

/** Where the record ends, and how far it is signed; one round trip. */
export async function readRecordEnd(db: Db): Promise<RecordEnd> {
  const { rows } = await db.query<{
    seq: number;
    hash: string;
    now: Date;
    signed_seq: number | null;
    signed_hash: string;
    signed_at: Date;
    key: string;
    signature: string;
  }>(
    `select h.seq, h.hash, countersign_now() as now,
       s.seq as signed_seq, s.hash as signed_hash, s.signed_at, s.key, s.signature
     from decision_record_head h
     left join lateral (
       select * from decision_record_signatures order by seq desc, signed_at desc limit 1
     ) s on true`,
  );
  const row = rows[0];
  if (!row) throw new Error("decision_record_head has no row");
  return {
    head: { seq: row.seq, hash: row.hash },
    signed:
      row.signed_seq === null
        ? null
        : {
            seq: row.signed_seq,
            hash: row.signed_hash,
            signedAt: row.signed_at.toISOString(),
            key: row.key,
            signature: row.signature,
          },
    now: row.now.toISOString(),
  };
}

/** Keeps a signature; one of the same key and place stands as it is. */
export async function insertSignature(db: Db, s: RecordSignature): Promise<void> {
  await db.query(
    `insert into decision_record_signatures (seq, hash, signed_at, key, signature)
     values ($1::bigint, $2, $3::timestamptz, $4, $5) on conflict do nothing`,
    [s.seq, s.hash, s.signedAt, s.key, s.signature],
  );
}

export interface RecordLine {
  readonly seq: number;
  /** The entry's JSON, on one line, byte for byte. */
  readonly entry: string;
  /** Made when the record ended here. */
  readonly signatures: readonly RecordSignature[];
}

/** Ascending, from the first after `after`, up to and with `last`. */
export async function readRecord(db: Db, after: number, last: number, limit: number): Promise<RecordLine[]> {
  const { rows } = await db.query<{ seq: number; entry: string; signatures: RecordSignature[] | null }>(
    `select r.seq, r.entry, (
       select json_agg(json_build_object('seq', s.seq, 'hash', s.hash, 'signedAt', iso8601(s.signed_at), 'key', s.key,
         'signature', s.signature) order by s.signed_at)
       from decision_record_signatures s where s.seq = r.seq
     ) as signatures
     from decision_record r
     where r.seq > $1::bigint and r.seq <= $2::bigint
     order by r.seq limit $3::bigint`,
    [after, last, limit],
  );
  return rows.map((r) => ({ seq: r.seq, entry: r.entry, signatures: r.signatures ?? [] }));
}

/**
 * Ids of decisions that are not what their newest entry says: somebody moved them past the triggers. The event is read
 * out of the text, where no quote inside of a value stands without its backslash: an operator on json fails where a
 * \u0000 stands anywhere in it.
 */
export async function listUnrecorded(db: Db, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select d.id from decisions d
     left join lateral (
       select e.event from decision_record r, substring(r.entry from '"event" : "(\\w+)"') as e (event)
       where r.decision_id = d.id and e.event not in ('evidence', 'refused', 'run_again', 'shown')
       order by r.seq desc limit 1
     ) last on true
     where case last.event when 'proposed' then 'pending' when 'imported' then d.status else last.event end
       is distinct from d.status
     order by d.created_at, d.id limit $1`,
    [limit],
  );
  return rows.map((r) => r.id);
}

/** Whether the chain's end is where its head says. */
export async function endsAtItsHead(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ whole: boolean }>(
    `select h.seq = coalesce(last.seq, 0) and h.hash = coalesce(last.hash, repeat('0', 64)) as whole
     from decision_record_head h left join lateral (
       select seq, hash from decision_record order by seq desc limit 1
     ) last on true`,
  );
  return rows[0]?.whole ?? false;
}
