-- Activity over time, in fixed space: rates, levels and durations at five resolutions.
set local citus.multi_shard_modify_mode to 'sequential';

-- The names of the series. A point contains the id, which is below 65,536.
create table activity_series (
  id integer not null,
  name text collate "C" not null,
  used_on date not null,
  constraint activity_series_pkey primary key (id),
  constraint activity_series_name_unique unique (name),
  constraint activity_series_id_short check (id between 1 and 65535)
);
select keep_local('activity_series');

-- The points of one family of series in one slot of time. A slot of level 0 is ten seconds; see
-- src/activity/slots.ts. `ticks` counts the slots of level 0 inside.
create table activity_slots (
  level smallint not null,
  at timestamptz not null,
  family text collate "C" not null,
  ticks smallint not null,
  content bytea not null,
  constraint activity_slots_pkey primary key (level, at, family),
  constraint activity_slots_level_known check (level between 0 and 4)
);
alter table activity_slots alter content set storage external;
select keep_local('activity_slots');

-- What each process did in ten seconds, until it is added to the slots.
create table activity_samples (
  process_id uuid not null,
  at timestamptz not null,
  content jsonb not null,
  constraint activity_samples_pkey primary key (at, process_id)
);
select keep_local('activity_samples');

-- How far the slots are written.
create table activity_progress (
  is_only boolean not null,
  written_until timestamptz,
  mail_totals jsonb not null default '{}',
  constraint activity_progress_pkey primary key (is_only),
  constraint activity_progress_once check (is_only)
);
select keep_local('activity_progress');
insert into activity_progress (is_only) values (true);

-- Marked on the graphs: a changed version of the program, and times without any process.
create table activity_marks (
  at timestamptz not null,
  kind text not null,
  detail text not null,
  constraint activity_marks_pkey primary key (at, kind),
  constraint activity_marks_kind_known check (kind in ('version', 'outage'))
);
select keep_local('activity_marks');
