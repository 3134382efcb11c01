-- What the program knows about its own state.
set local citus.multi_shard_modify_mode to 'sequential';

-- The clock of the database, by which processes on several machines are compared.
create function database_clock() returns timestamptz language sql parallel safe as $$
  select clock_timestamp()
$$;

-- The heartbeats of the running processes: a process updates its row every five seconds, and
-- deletes it when it stops. The row of a process that ended otherwise is deleted after a day.
create table processes (
  id uuid not null,
  host text not null,
  name text not null,
  version text not null,
  started_at timestamptz not null,
  -- By the clock of the database.
  seen_at timestamptz not null,
  -- How far the clock of the process is ahead of that of the database; negative if behind.
  clock_ahead_seconds real not null,
  -- What only this process knows: its disk, its certificate, its name servers.
  facts jsonb not null,
  constraint processes_pkey primary key (id)
);
select keep_local('processes');

-- What operators set about a condition of health. Null: the bound of the program applies.
create table health_settings (
  code text not null,
  warning double precision,
  critical double precision,
  silenced_until timestamptz,
  silence_reason text,
  -- When an operator stated that it was done, for a condition that the program cannot observe.
  done_at timestamptz,
  constraint health_settings_pkey primary key (code)
);
select keep_local('health_settings');

-- The size of the database on each of the last days.
create table database_sizes (
  day date not null,
  bytes bigint not null,
  constraint database_sizes_pkey primary key (day)
);
select keep_local('database_sizes');

-- One row: which process evaluates the conditions and sends alarms, and what it has sent.
create table alarm_watch (
  is_only boolean not null,
  -- The process that evaluates until `held_until`, by the clock of the database.
  holder uuid,
  held_until timestamptz,
  evaluated_at timestamptz,
  state jsonb,
  constraint alarm_watch_pkey primary key (is_only),
  constraint alarm_watch_once check (is_only)
);
insert into alarm_watch (is_only) values (true);
select keep_local('alarm_watch');
