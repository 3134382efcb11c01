-- The sets of rules that judge messages. What is applied becomes a version that never changes; the
-- newest acts in every process, and going back is a new version too.
set local citus.multi_shard_modify_mode to 'sequential';

create table rule_sets (
  -- From 1. Before the first, and where the content is null, the rules that the program brings act.
  version integer not null,
  content text,
  note text not null,
  applied_at timestamptz not null,
  -- Null: at the command line.
  applied_by uuid,
  constraint rule_sets_pkey primary key (version),
  constraint rule_sets_version_counts check (version > 0)
);
select reference('rule_sets');

-- Which version acts in each process that judges, and how its rules do there. A process writes its
-- row again and again while it runs, and takes it away when it ends; old rows are of the dead.
create table rule_processes (
  id uuid not null,
  name text not null,
  version integer not null,
  -- Why a newer version does not act there.
  fault text,
  -- Cost, errors and cut-offs by rule.
  health jsonb not null,
  seen_at timestamptz not null,
  constraint rule_processes_pkey primary key (id)
);
select keep_local('rule_processes');
