-- What operators set while the service runs.
set local citus.multi_shard_modify_mode to 'sequential';

-- Queues that operators paused, or whose number of parallel batches they changed. The row `*` is
-- for all queues.
create table queue_controls (
  queue text not null,
  -- Null: not paused.
  paused_at timestamptz,
  -- Null for a pause at the command line.
  paused_by uuid,
  reason text,
  -- Batches that a process handles at the same time; null: as in the program.
  concurrency integer,
  constraint queue_controls_pkey primary key (queue),
  constraint queue_controls_concurrency_sane check (concurrency between 1 and 64)
);
select keep_local('queue_controls');

-- The last run of each scheduled queue.
create table chore_runs (
  queue text not null,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  -- Null: the run succeeded.
  fault text,
  constraint chore_runs_pkey primary key (queue)
);
select keep_local('chore_runs');

-- Seals of the audit log, one an hour: an HMAC over the entries since the seal before, and over
-- that seal. A removed, added or changed entry or seal shows.
create table audit_seals (
  number bigint not null,
  -- Seals the entries with ids from `from_id` (inclusive) to `until_id` (exclusive).
  from_id uuid not null,
  until_id uuid not null,
  entries integer not null,
  sealed_at timestamptz not null,
  seal bytea not null,
  -- The seal before; null for the first.
  previous bytea,
  constraint audit_seals_pkey primary key (number)
);
select keep_local('audit_seals');

-- Entries are only added; old ones disappear with their partitions. The owner can grant these
-- rights again, and a superuser needs none; the seals show what such a person does.
revoke update, delete, truncate on audit_log from current_user;
