-- The record of every decision: an append-only chain, written by triggers in the transaction that moves a decision, so
-- that no arrow, of this code or of a hand at psql, is without its entry, and none is taken where none can be written.

create table decision_record (
  seq bigint primary key,
  decision_id text not null,
  -- JSON on one line, {seq, previous, at, decision, event, details}. Text, because its bytes are what is hashed, and
  -- an export is these lines as they are: anybody with sha256sum can follow the chain.
  entry text not null check (position(e'\n' in entry) = 0),
  -- SHA-256 of the entry in hex. The next entry has it as `previous`; the first one's `previous` is zeros.
  hash text not null
);
create index decision_record_of_decision on decision_record (decision_id, seq);

-- The end of the chain. Its lock puts entries in order; it is always the last one a transaction takes.
create table decision_record_head (
  only_row boolean primary key default true check (only_row),
  seq bigint not null,
  hash text not null
);
insert into decision_record_head values (true, 0, repeat('0', 64));

-- A signed head vouches for every entry up to it.
create table decision_record_signatures (
  seq bigint not null references decision_record (seq),
  hash text not null,
  signed_at timestamptz not null,
  -- The public key, as it is given to whoever verifies.
  key text not null,
  signature text not null,
  primary key (seq, key)
);

create function refuse_rewriting() returns trigger language plpgsql as $$
begin
  raise exception '% is only ever appended to', tg_table_name using errcode = 'restrict_violation';
end
$$;

create trigger only_appended before update or delete or truncate on decision_record
  for each statement execute function refuse_rewriting();
create trigger only_appended before update or delete or truncate on decision_record_signatures
  for each statement execute function refuse_rewriting();

create function iso8601(t timestamptz) returns text language sql immutable as $$
  select to_char(t at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

create function digest_of(p_text text) returns text language sql immutable as $$
  select encode(sha256(convert_to(p_text, 'UTF8')), 'hex')
$$;

create function append_decision_record(p_decision text, p_event text, p_details json)
returns decision_record_head language plpgsql as $$
declare
  v_head decision_record_head;
  v_entry text;
begin
  select * into v_head from decision_record_head for update;
  v_head.seq := v_head.seq + 1;
  -- Read behind the lock: entries are timed in the order they stand in. A line break in JSON is never part of a value.
  v_entry := translate(json_build_object(
    'seq', v_head.seq,
    'previous', v_head.hash,
    'at', iso8601((select clock_timestamp() + shift from clock)),
    'decision', p_decision,
    'event', p_event,
    'details', p_details
  )::text, e'\n\r', '  ');
  v_head.hash := digest_of(v_entry);
  insert into decision_record (seq, decision_id, entry, hash) values (v_head.seq, p_decision, v_entry, v_head.hash);
  update decision_record_head set seq = v_head.seq, hash = v_head.hash;
  return v_head;
end
$$;

-- The newest entry about a decision, for its card: chat is a witness outside of this database.
alter table decisions add column record_seq bigint, add column record_hash text;
-- By which right the last word on it (approve, reject, run again) was given.
alter table decisions add column word_right json;

create function record_proposal() returns trigger language plpgsql as $$
begin
  perform append_decision_record(new.id, 'proposed', json_build_object(
    'sessionId', new.session_id, 'callId', new.call_id, 'agentId', new.agent_id, 'deploymentId', new.deployment_id,
    'tool', new.tool, 'toolDigest', new.tool_digest, 'inputDigest', new.input_digest, 'cardDigest', new.card_digest,
    'requester', new.person, 'rule', new.rule
  ));
  return null;
end
$$;

-- After, not before: a call that is proposed twice inserts no second row, and is no second entry.
create trigger record_proposal after insert on decisions for each row execute function record_proposal();

create function record_change() returns trigger language plpgsql as $$
declare
  v_event text;
  v_details json;
  v_head decision_record_head;
begin
  v_event := case
    when new.status <> old.status then new.status
    when old.again_by is null and new.again_by is not null then 'run_again'
    when old.again_by is not null and new.again_by is null then 'refused'
    when new.expires_at is distinct from old.expires_at then 'shown'
  end;
  if v_event is null then
    return new;
  end if;
  v_details := case
    when v_event = 'shown' then json_build_object('deliveryId', new.delivery_id, 'expiresAt', iso8601(new.expires_at))
    when v_event in ('approved', 'rejected') then json_build_object(
      'by', new.decided_by, 'right', new.word_right, 'reason', new.reason, 'inputDigest', new.input_digest,
      'cardDigest', new.card_digest)
    when v_event = 'run_again' then json_build_object(
      'by', new.again_by, 'right', new.word_right, 'attempt', new.attempt)
    when v_event = 'applying' then json_build_object(
      'by', coalesce(old.again_by, new.decided_by), 'attempt', new.attempt, 'deploymentId', new.deployment_id,
      'toolDigest', new.tool_digest, 'inputDigest', new.input_digest)
    when v_event = 'expired' then json_build_object('expiresAt', iso8601(new.expires_at))
    else json_build_object(
      'attempt', new.attempt, 'code', new.error_code, 'resultDigest', digest_of(new.result::text))
  end;
  v_head := append_decision_record(new.id, v_event, v_details);
  new.record_seq := v_head.seq;
  new.record_hash := v_head.hash;
  return new;
end
$$;

-- Before, so that the row that comes back names its own entry. Renewed leases are not in the list.
create trigger record_change before update of status, again_by, expires_at on decisions
  for each row execute function record_change();

create function record_evidence() returns trigger language plpgsql as $$
begin
  perform append_decision_record(
    new.decision_id, 'evidence', json_build_object('attempt', new.attempt, 'evidence', new.evidence));
  return null;
end
$$;

create trigger record_evidence after update of evidence on decision_attempts
  for each row when (new.evidence is not null) execute function record_evidence();

-- What was decided before there was a record enters it as it stands.
select append_decision_record(id, 'imported', json_build_object(
  'status', status, 'attempt', attempt, 'by', decided_by, 'againBy', again_by,
  'deploymentId', deployment_id, 'tool', tool, 'toolDigest', tool_digest,
  'inputDigest', input_digest, 'cardDigest', card_digest
))
from (select * from decisions order by created_at, id) as known;
