-- The place of a process among those of the same kind on its host: a process that starts takes the
-- place of one that ended, so that the row of a crashed process does not stay.
set local citus.multi_shard_modify_mode to 'sequential';

-- What a process does, if processes of its name differ, such as its queues; null for processes of
-- earlier versions. Its place has been taken since `place_since`, by itself or its predecessors.
alter table processes add column duty text, add column place_since timestamptz;

-- Processes that stopped in an orderly way within the last day, and left their places.
create table stopped_processes (
  id uuid not null,
  host text not null,
  name text not null,
  duty text,
  place_since timestamptz,
  seen_at timestamptz not null,
  constraint stopped_processes_pkey primary key (id)
);
select keep_local('stopped_processes');
