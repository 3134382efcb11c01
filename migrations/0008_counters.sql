-- How often everything was seen. A key is a shingle with its type in 64 bits; all that was counted
-- of it in two weeks is one packed row: a row a bucket costs 110 bytes, a packed bucket some 4.
set local citus.multi_shard_modify_mode to 'sequential';

-- Increments not yet rolled up, many to a row. Appended in the transaction that keeps an analysis,
-- so a report counts exactly once; hot keys do no harm, because nobody updates anything. A row is
-- taken by deleting it, never by "after the last one": rows may commit out of order.
create table counter_deltas (
  shard bigint not null,
  id uuid not null,
  content bytea not null,
  constraint counter_deltas_pkey primary key (shard, id)
) with (
  toast_tuple_target = 8160,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000
);
alter table counter_deltas alter column content set storage external;
select distribute('counter_deltas', 'shard');

-- One row a shard of keys: how many roll-ups it has had, and what they did. Whoever rolls up writes
-- it first, so that two cannot do it at once, and what somebody remembers from an earlier version
-- is stale.
create table counter_shards (
  shard bigint not null,
  version bigint not null,
  deltas bigint not null default 0,
  gate_passed bigint not null default 0,
  gate_held_back bigint not null default 0,
  -- Of keys never seen, the share that the gate takes for seen, at the last roll-up.
  gate_false_positives real not null default 0,
  constraint counter_shards_pkey primary key (shard)
);
insert into counter_shards (shard, version)
values (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0),
  (8, 0), (9, 0), (10, 0), (11, 0), (12, 0), (13, 0), (14, 0), (15, 0);
select keep_local('counter_shards');

-- A generation is two weeks. A key that is counted is written into the present generation, so that
-- an old one can be dropped whole when two weeks have passed without a touch. Of two rows of a key
-- the newer generation holds everything.
create table counters (
  shingle bigint not null,
  generation integer not null,
  content bytea not null,
  constraint counters_pkey primary key (shingle, generation)
) partition by range (generation);
alter table counters alter column content set storage external;
select distribute('counters', 'shingle');

-- Who was counted as unique, where they are too many for the row of their key: packed chunks of
-- some sixty members each, so that one more costs a chunk and not the set.
create table counter_members (
  shingle bigint not null,
  day integer not null,
  prefix smallint not null,
  chunk integer not null,
  content bytea not null,
  constraint counter_members_pkey primary key (shingle, day, prefix, chunk)
) partition by range (day);
alter table counter_members alter column content set storage external;
select distribute('counter_members', 'shingle');

-- What the gate of a shard has seen of keys that have no counter yet: now and then the whole of its
-- filter, and between, at each roll-up, the keys that it held back. Written with what it decided,
-- so that nothing is seen twice or forgotten.
create table counter_gates (
  shard bigint not null,
  version bigint not null,
  is_whole boolean not null,
  content bytea not null,
  constraint counter_gates_pkey primary key (shard, version)
);
alter table counter_gates alter column content set storage external;
select distribute('counter_gates', 'shard');
