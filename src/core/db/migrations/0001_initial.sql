-- JSON that came from people, models or tools is `json`, never `jsonb`: jsonb refuses \u0000 and lone surrogates and
-- reorders keys, and what was approved must stay byte-identical.

-- ------------------------------------------------------------------------------------------------------------ clock
-- The one source of stored time. A test shifts it for its database: update clock set shift = '25 hours'.
-- Whole milliseconds: a time that went out as JSON and came back in a cursor is still equal.

create table clock (
  only_row boolean primary key default true check (only_row),
  shift interval not null default interval '0'
);
insert into clock default values;

create function countersign_now() returns timestamptz language sql stable as $$
  select date_trunc('milliseconds', statement_timestamp()) + shift from clock
$$;

-- Fences order the claims on a row: a report with an older one is evidence, not a result.
create sequence fences;

-- ------------------------------------------------------------------------------------------------------ deployments

create table deployments (
  id text primary key,
  manifest json not null,
  -- Its agents in the manifest's order, beside it: every session that opens asks for them.
  agents text[] not null default '{}',
  created_at timestamptz not null default countersign_now()
);

create table deployment_files (
  deployment_id text not null references deployments (id),
  path text not null,
  content bytea not null,
  primary key (deployment_id, path)
);

create table activation (
  only_row boolean primary key default true check (only_row),
  deployment_id text not null references deployments (id),
  activated_at timestamptz not null default countersign_now()
);

create table secrets (
  name text not null,
  scope text not null default '',
  box text not null,
  updated_at timestamptz not null default countersign_now(),
  primary key (name, scope)
);

-- --------------------------------------------------------------------------------------------------------- sessions

create table sessions (
  id text primary key,
  agent_id text not null,
  deployment_id text not null references deployments (id),
  source text not null,
  status text not null default 'idle' check (status in ('idle', 'running', 'stopping', 'ended', 'failed')),
  conversation json,
  thread_key text,
  data json not null default '{}',
  result json,
  last_seq bigint not null default 0,
  created_at timestamptz not null default countersign_now(),
  updated_at timestamptz not null default countersign_now()
);

create unique index sessions_open_thread on sessions (thread_key) where status in ('idle', 'running', 'stopping');
create index sessions_newest on sessions (created_at desc, id desc);

create table session_labels (
  session_id text not null references sessions (id),
  key text not null,
  value text not null,
  primary key (session_id, key)
);
create index session_labels_value on session_labels (key, value, session_id);

-- Who already talks with the agent in a session: their posts count without a mention.
create table session_people (
  session_id text not null references sessions (id),
  person_key text not null,
  primary key (session_id, person_key)
);

create table events (
  session_id text not null references sessions (id),
  seq bigint not null,
  turn_id text,
  type text not null,
  data json not null,
  created_at timestamptz not null default countersign_now(),
  primary key (session_id, seq)
);

-- ------------------------------------------------------------------------------------------------------------ turns

create table turns (
  id text primary key,
  session_id text not null references sessions (id),
  position bigint not null,
  status text not null check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
  outcome text check (outcome in ('text', 'question')),
  mode text not null default 'queue' check (mode in ('queue', 'steer', 'interrupt')),
  -- The turn that carries the answer goes before what was queued while the question stood open.
  answers boolean not null default false,
  -- Beside the input and not read out of it: an operator on json fails where a \u0000 stands anywhere in it.
  source text not null,
  input json not null,
  person json,
  idempotency_key text,
  input_digest text not null,
  attempt integer not null default 0,
  fence bigint,
  lease_until timestamptz,
  cancel_requested boolean not null default false,
  error_code text,
  created_at timestamptz not null default countersign_now(),
  settled_at timestamptz,
  unique (session_id, position),
  unique (session_id, idempotency_key),
  check ((status = 'running') = (lease_until is not null))
);

create unique index turns_one_running on turns (session_id) where status = 'running';
create index turns_queued on turns (session_id, answers desc, position) where status = 'queued';
create index turns_leased on turns (lease_until) where status = 'running';

create table questions (
  id text primary key,
  session_id text not null references sessions (id),
  turn_id text not null references turns (id),
  call_id text not null,
  -- A json string: text refuses NUL, and a model may write one.
  text json not null,
  options json not null,
  -- Whose answer counts: the person the session was talking to. Null: only the API's.
  person json,
  -- What was written before the question was posted; goes with the answer.
  steering json not null default '[]',
  delivery_id uuid,
  status text not null check (status in ('open', 'answered', 'closed')),
  reason text,
  answer json,
  asked_at timestamptz not null default countersign_now(),
  settled_at timestamptz
);

create unique index questions_one_open on questions (session_id) where status = 'open';

-- -------------------------------------------------------------------------------------------------------- decisions

create table decisions (
  id text primary key,
  session_id text not null references sessions (id),
  turn_id text not null references turns (id),
  call_id text not null,
  message_id text not null,
  agent_id text not null,
  deployment_id text not null references deployments (id),
  tool text not null,
  tool_digest text not null,
  -- The arguments exactly as the model sent them; json keeps the text as it is.
  input json not null,
  input_digest text not null,
  preview json not null,
  card_digest text not null,
  person json,
  rule json not null,
  delivery_id uuid,
  status text not null check (status in
    ('pending', 'approved', 'rejected', 'expired', 'applying', 'applied', 'failed', 'unconfirmed')),
  expires_at timestamptz,
  decided_at timestamptz,
  decided_by json,
  -- A json string, as a question's text.
  reason json,
  -- Who asked to run an unconfirmed write again; until it starts.
  again_by json,
  attempt integer not null default 0,
  fence bigint,
  lease_until timestamptz,
  error_code text,
  result json,
  -- When the tool's `verify` last looked at an unconfirmed write, and what it said to people.
  verified_at timestamptz,
  verify_note json,
  created_at timestamptz not null default countersign_now(),
  updated_at timestamptz not null default countersign_now(),
  unique (session_id, call_id),
  check ((status = 'applying') = (lease_until is not null)),
  check ((status in ('pending', 'expired')) = (decided_at is null))
);

create index decisions_pending on decisions (expires_at) where status = 'pending';
create index decisions_waiting on decisions (updated_at)
  where status = 'approved' or (status = 'unconfirmed' and again_by is not null);
create index decisions_unverified on decisions (updated_at) where status = 'unconfirmed' and verified_at is null;
create index decisions_leased on decisions (lease_until) where status = 'applying';
create index decisions_newest on decisions (created_at desc, id desc);

-- One row per start. It is committed before `apply` is called and never rewritten once it ended; a late report stands
-- in `evidence`.
create table decision_attempts (
  decision_id text not null references decisions (id),
  attempt integer not null,
  fence bigint not null,
  authorised_by json,
  started_at timestamptz not null default countersign_now(),
  ended_at timestamptz,
  outcome text check (outcome in ('applied', 'failed', 'unconfirmed')),
  evidence json,
  primary key (decision_id, attempt)
);

-- -------------------------------------------------------------------------------------------------- inbox and outbox

-- Every key under which something was received. A row lives at least 48 hours: platforms redeliver for a day.
create table inbox (
  key text primary key,
  session_id text,
  received_at timestamptz not null default countersign_now()
);
create index inbox_age on inbox (received_at);

create table deliveries (
  id uuid primary key,
  -- Deliveries of one lane go out one after another: a session's id, or the delivery's own for a private note.
  lane text not null,
  position bigint generated always as identity,
  session_id text references sessions (id),
  decision_id text references decisions (id),
  conversation json not null,
  message json not null,
  edits uuid references deliveries (id),
  status text not null check (status in ('queued', 'sending', 'sent', 'unknown', 'dead')),
  attempt integer not null default 0,
  fence bigint,
  lease_until timestamptz,
  due_at timestamptz not null default countersign_now(),
  ref text,
  error_code text,
  created_at timestamptz not null default countersign_now(),
  sent_at timestamptz,
  check ((status = 'sent') = (sent_at is not null))
);

create index deliveries_lane on deliveries (lane, position) where status in ('queued', 'sending', 'unknown');
create index deliveries_due on deliveries (due_at) where status in ('queued', 'unknown');
create index deliveries_leased on deliveries (lease_until) where status = 'sending';
create index deliveries_ref on deliveries (ref) where ref is not null;

-- --------------------------------------------------------------------------------------------------------- functions

-- Appends events to a session's log and, where `p_status` is given, sets its status; one round trip. With `p_turn` it
-- does so only while that turn is running under `p_fence`. Returns the last seq, or null when the fence is lost.
-- A function and not one statement: after waiting for the session's lock, each statement of it sees what the lock's
-- holder committed, which a sub-select of a single statement would not.
create function append_events(
  p_session text, p_turn text, p_fence bigint, p_status text, p_turns text[], p_types text[], p_data text[]
) returns bigint language plpgsql as $$
declare
  v_last bigint;
  v_new integer := coalesce(array_length(p_types, 1), 0);
begin
  select last_seq into v_last from sessions where id = p_session for update;
  if p_fence is not null and not exists (
    select 1 from turns where id = p_turn and fence = p_fence and status = 'running'
  ) then
    return null;
  end if;
  insert into events (session_id, seq, turn_id, type, data, created_at)
  select p_session, v_last + e.n, e.turn_id, e.type, e.data::json, countersign_now()
  from unnest(p_turns, p_types, p_data) with ordinality as e (turn_id, type, data, n);
  update sessions
  set last_seq = v_last + v_new, status = coalesce(p_status, status), updated_at = countersign_now()
  where id = p_session;
  return v_last + v_new;
end
$$;

-- Opens a session on the active deployment, with the agent named or else the project's first (S1). False: there is no
-- such agent. A thread that got a session in the meantime undoes the transaction: done again, the caller finds it.
create function open_session(p_session text, p_agent text, p_source text, p_conversation text, p_thread text)
returns boolean language plpgsql as $$
declare
  v_deployment text;
  v_agent text;
begin
  select d.id, coalesce(p_agent, d.agents[1]) into v_deployment, v_agent
  from activation a join deployments d on d.id = a.deployment_id
  where p_agent is null or p_agent = any (d.agents);
  if v_agent is null then
    return false;
  end if;
  insert into sessions (id, agent_id, deployment_id, source, conversation, thread_key, last_seq)
  values (p_session, v_agent, v_deployment, p_source, p_conversation::json, p_thread, 1)
  on conflict (thread_key) where status in ('idle', 'running', 'stopping') do nothing;
  if not found then
    raise serialization_failure using message = 'the thread got a session in the meantime';
  end if;
  insert into events (session_id, seq, type, data)
  values (p_session, 1, 'session.created',
    json_build_object('agentId', v_agent, 'deploymentId', v_deployment, 'source', p_source));
  return true;
end
$$;

-- Puts a turn at the end of a locked session's queue, and into its log what was received.
create function queue_turn(
  p_session text, p_turn text, p_mode text, p_answers boolean, p_source text, p_input text, p_digest text,
  p_person text, p_key text, p_received text
) returns turns language plpgsql as $$
declare
  v_turn turns;
begin
  insert into turns (id, session_id, position, status, mode, answers, source, input, input_digest, person, idempotency_key)
  select p_turn, p_session, coalesce(max(position), 0) + 1, 'queued', p_mode, p_answers, p_source, p_input::json,
    p_digest, p_person::json, p_key
  from turns where session_id = p_session
  returning * into v_turn;
  perform append_events(
    p_session, null, null, null,
    array[p_turn, p_turn],
    array['message.received', 'turn.queued'],
    array[p_received, json_build_object('position', v_turn.position, 'mode', p_mode)::text]
  );
  return v_turn;
end
$$;

-- Takes in one message of a thread, a whole transaction in one round trip. By outcome:
--   queued     it is a turn now, in the thread's session or, unless it is a follow-up, in a new one
--   duplicate  one of its keys was here before (G3)
--   unbound, stranger   a follow-up in a thread without a session, or by somebody who does not talk in it (G4)
--   question   a question stands open in the session; whether this answers it is the caller's to say
-- Nothing is written but by the first two.
create function take_message(
  p_keys text[], p_thread text, p_person_key text, p_follow_up boolean,
  p_session text, p_conversation text, p_turn text, p_input text, p_digest text, p_person text, p_received text,
  out outcome text, out session text
) language plpgsql as $$
declare
  v_talks boolean;
  v_new bigint;
begin
  select id into session from sessions
  where thread_key = p_thread and status in ('idle', 'running', 'stopping')
  for update;
  v_talks := exists (select 1 from session_people where session_id = session and person_key = p_person_key);
  if p_follow_up and not v_talks then
    outcome := case when session is null then 'unbound' else 'stranger' end;
    return;
  end if;
  if exists (select 1 from questions where session_id = session and status = 'open') then
    outcome := 'question';
    return;
  end if;

  -- Sorted, so that two deliveries of one post take the same locks in the same order.
  insert into inbox (key, session_id)
  select k, coalesce(session, p_session) from unnest(p_keys) as k order by k
  on conflict do nothing;
  get diagnostics v_new = row_count;
  if v_new < cardinality(p_keys) then
    outcome := 'duplicate';
    return;
  end if;

  if session is null then
    if not open_session(p_session, null, 'channel', p_conversation, p_thread) then
      raise exception 'no deployment is active';
    end if;
    session := p_session;
  end if;
  if not v_talks then
    insert into session_people (session_id, person_key) values (session, p_person_key);
  end if;
  perform queue_turn(session, p_turn, 'queue', false, 'channel', p_input, p_digest, p_person, null, p_received);
  outcome := 'queued';
end
$$;

-- queued → running for a session's next turn, and so in its log: an answer first, else the oldest; none while a
-- question is open, another turn runs, or the session has ended. Returns no row where there is nothing to start.
create function claim_turn(p_session text, p_lease interval) returns setof turns language plpgsql as $$
declare
  v_next turns;
  v_turn turns;
begin
  perform from sessions where id = p_session and status in ('idle', 'running', 'stopping') for update;
  if not found then
    return;
  end if;
  select * into v_next from turns t
  where t.session_id = p_session and t.status = 'queued'
    and not exists (select 1 from turns r where r.session_id = p_session and r.status = 'running')
    and not exists (select 1 from questions q where q.session_id = p_session and q.status = 'open')
  order by t.answers desc, t.position limit 1;
  update turns
  set status = 'running', fence = nextval('fences'), attempt = attempt + 1, lease_until = countersign_now() + p_lease
  where id = v_next.id and status = 'queued'
  returning * into v_turn;
  if not found then
    return;
  end if;
  perform append_events(
    p_session, null, null, 'running',
    array[v_turn.id, null],
    -- It had a fence before: another claim ran it, and it goes on behind the last step that was committed.
    array[case when v_next.fence is null then 'turn.started' else 'runtime.resumed' end, 'session.status_changed'],
    array[case when v_next.fence is null then '{}' else json_build_object('attempt', v_turn.attempt)::text end,
      '{"status":"running"}']
  );
  return next v_turn;
end
$$;
