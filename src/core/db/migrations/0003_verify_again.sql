-- A target that is away when `verify` looks says nothing about the write: it is looked at again, ever more slowly.

-- When `verify` looks next; null: at once if it never did (verified_at), else not again.
alter table decisions add column verify_due_at timestamptz, add column verify_looks integer not null default 0;

drop index decisions_unverified;
create index decisions_unverified on decisions (verify_due_at, updated_at)
  where status = 'unconfirmed' and (verified_at is null or verify_due_at is not null);
