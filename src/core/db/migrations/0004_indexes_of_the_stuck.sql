-- What operators look at is rare among what is done: counting it must not read everything.
create index deliveries_stuck on deliveries (created_at) where status in ('unknown', 'dead');
create index decisions_unconfirmed on decisions (updated_at) where status = 'unconfirmed';
