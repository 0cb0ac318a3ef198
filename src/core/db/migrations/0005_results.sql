-- What the result tool reported, every time (T9); the newest stands on the session as well. A call reports once.
create table session_results (
  id text primary key,
  session_id text not null references sessions (id),
  turn_id text not null references turns (id),
  call_id text not null,
  data json not null,
  data_digest text not null,
  reported_at timestamptz not null default countersign_now(),
  unique (session_id, call_id)
);
create index session_results_newest on session_results (session_id, reported_at desc, id desc);
