-- How often each piece of a message was seen. A key is a shingle with its type in 64 bits. All
-- counts of a key in two weeks are one packed row: a row per bucket takes 110 bytes, a packed
-- bucket about 4. The shard of a key is its four highest bits; all that a roll-up of a shard reads
-- and writes is in that shard.
set local citus.multi_shard_modify_mode to 'sequential';

-- The reports that wait to be counted as `counted_reports` says, in the shard of the report. A row
-- is inserted in the transaction that stores an analysis, and deleted either by the roll-up that
-- counts the report, or by a retraction before that: so a report counts exactly once.
create table reports_to_count (
  id uuid not null,
  -- The ten-minute slot in which the report counts, from 1 January 1970 UTC.
  slot integer not null,
  shard smallint not null,
  waiting_since timestamptz not null,
  constraint reports_to_count_pkey primary key (id, shard)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
select distribute('reports_to_count', 'shard');

-- Increments of the keys of a shard that are not rolled up yet, many per row: those of checked
-- traffic, of retractions, and of reports that were not counted at once. They are appended in the
-- transaction that causes them; frequent keys cause no waits, because no row is updated. A row is
-- claimed by deleting it, not by its position: rows may commit out of order.
create table counter_deltas (
  shard smallint not null,
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

-- One row per shard of keys. A roll-up updates the version first, so that no two run at once on one
-- shard, not even after a crash that left one of them prepared on a node, and a process recognizes
-- remembered data of an earlier version as outdated.
create table counter_shards (
  shard smallint not null,
  -- The number of roll-ups.
  version bigint not null,
  -- The number of increments rolled up, and of keys that the gate passed and held back.
  deltas bigint not null default 0,
  gate_passed bigint not null default 0,
  gate_held_back bigint not null default 0,
  -- The share of unseen keys that the gate takes for seen, at the last roll-up.
  gate_false_positives real not null default 0,
  -- The share of the present filter that is in use, when the filter was begun, and the number of
  -- filters before it.
  gate_fill real not null default 0,
  gate_began_at timestamptz,
  gate_turnovers bigint not null default 0,
  constraint counter_shards_pkey primary key (shard)
);
insert into counter_shards (shard, version)
values (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0),
  (8, 0), (9, 0), (10, 0), (11, 0), (12, 0), (13, 0), (14, 0), (15, 0);
select distribute('counter_shards', 'shard');

-- A generation is two weeks. A key that is counted is written to the present generation, so that an
-- old one can be dropped whole when two weeks have passed without a change. If a key has two rows,
-- the newer generation contains everything.
create table counters (
  shingle bigint not null,
  generation integer not null,
  shard smallint not null,
  content bytea not null,
  constraint counters_pkey primary key (shingle, generation, shard)
) partition by range (generation);
alter table counters alter column content set storage external;
select distribute('counters', 'shard');

-- The members already counted as unique, for keys with too many of them for their row: packed
-- chunks of about 60 members, so that adding one rewrites a chunk and not the set.
create table counter_members (
  shingle bigint not null,
  day integer not null,
  prefix smallint not null,
  chunk integer not null,
  shard smallint not null,
  content bytea not null,
  constraint counter_members_pkey primary key (shingle, day, prefix, chunk, shard)
) partition by range (day);
alter table counter_members alter column content set storage external;
select distribute('counter_members', 'shard');

-- The keys without a counter that the gate of a shard has seen: at times the complete filter, and
-- at each roll-up in between the keys that it held back. Written in the transaction of the roll-up,
-- so that no key is seen twice or forgotten.
create table counter_gates (
  shard smallint not null,
  version bigint not null,
  is_whole boolean not null,
  content bytea not null,
  constraint counter_gates_pkey primary key (shard, version)
);
alter table counter_gates alter column content set storage external;
select distribute('counter_gates', 'shard');

-- What each report adds to the counters (packed: amounts, and the shingles they were added to), so
-- that it can be taken back exactly, and the campaign that it was found to belong to. The
-- transaction that deletes the row appends the opposite, so nothing is taken back twice.
create table counted_reports (
  id uuid not null,
  shard smallint not null,
  campaign_id uuid,
  content bytea not null,
  constraint counted_reports_pkey primary key (id, shard)
) partition by range (id);
create index counted_reports_campaign_idx on counted_reports (campaign_id, id)
  where campaign_id is not null;
alter table counted_reports alter column content set storage external;
select distribute('counted_reports', 'shard');
