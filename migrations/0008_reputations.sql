-- Reputations of addresses, authors, links and files, and karma of reporters. Evidence is appended
-- in the transaction that stores an analysis and added to the reputations later, by one process per
-- shard: no writer waits for a row that is updated often, and each piece of evidence counts exactly
-- once.
set local citus.multi_shard_modify_mode to 'sequential';

-- Evidence that is not added to the reputations yet, packed, many subjects per row, in the shard of
-- the reports that it comes from. A row is claimed by deleting it, as in `counter_deltas`.
create table reputation_evidence (
  -- 0 to 15: about the subjects of one shard; 16: about reporters; 17: about all of these.
  part smallint not null,
  id uuid not null,
  shard smallint not null,
  content bytea not null,
  constraint reputation_evidence_pkey primary key (part, id, shard)
) with (
  toast_tuple_target = 8160,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000
);
alter table reputation_evidence alter column content set storage external;
select distribute('reputation_evidence', 'shard');

-- One row per part of the evidence that is folded on its own, in the shard of its subjects. A fold
-- updates the version first, as a roll-up does in `counter_shards`.
create table evidence_parts (
  part smallint not null,
  shard smallint not null,
  version bigint not null,
  constraint evidence_parts_pkey primary key (part, shard)
);
insert into evidence_parts (part, shard, version)
select part, part % 16, 0 from generate_series(0, 16) as part;
select distribute('evidence_parts', 'shard');

-- The evidence of each report, so that its exact opposite can be appended. The transaction that
-- deletes the row appends it, so nothing is taken back twice.
create table reported_evidence (
  id uuid not null,
  shard smallint not null,
  content bytea not null,
  constraint reported_evidence_pkey primary key (id, shard)
) partition by range (id);
alter table reported_evidence alter column content set storage external;
select distribute('reported_evidence', 'shard');

-- The key is the hash of kind and name; both are stored for people. Its four highest bits are the
-- shard. Most queries read only the base part, whose amounts are those at `folded_at`. `detail`
-- contains, packed, who reported the subject and its activity by day. Subjects without recent
-- activity are deleted in small steps. Besides the key, only the name has an index, so that rows
-- are updated in place.
create table reputations (
  key bigint not null,
  shard smallint not null,
  kind text not null,
  name text not null,
  good real not null,
  bad real not null,
  recent_good real not null,
  recent_bad real not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  woke_at timestamptz,
  jumped_at timestamptz,
  folded_at timestamptz not null,
  detail bytea not null,
  constraint reputations_pkey primary key (key, shard)
) with (fillfactor = 80, toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.05);
create index reputations_name_idx on reputations (name text_pattern_ops);
alter table reputations alter column detail set storage external;
select distribute('reputations', 'shard');

-- Overrides by administrators, and until when they hold.
create table reputation_marks (
  key bigint not null,
  kind text not null,
  name text not null,
  mark text not null,
  reason text not null,
  reporter_id uuid,
  set_at timestamptz not null,
  until_at timestamptz,
  constraint reputation_marks_pkey primary key (key),
  constraint reputation_marks_mark_known check (mark in ('listed', 'welcome', 'exempt'))
);
select keep_local('reputation_marks');

-- Alerts that a user of the mail server seems to send spam, one per user and day. The name is
-- stored for operators only; the job keep-house deletes alerts after 30 days.
create table sender_alerts (
  id uuid not null,
  -- The hash of the user, as in the counters.
  key bigint not null,
  day date not null,
  system text not null,
  user_name text not null,
  cause text not null,
  counts jsonb not null,
  messages jsonb not null,
  closed_at timestamptz,
  constraint sender_alerts_pkey primary key (id),
  constraint sender_alerts_key_day_unique unique (key, day),
  constraint sender_alerts_cause_known check (cause in ('unwanted', 'complaints', 'bounces'))
);
select keep_local('sender_alerts');

-- How much the reports of a reporter count. Amounts grow instead of decaying, see
-- verdict/reputation/karma.ts; the counts are for people.
create table karmas (
  reporter_id uuid not null,
  is_vouched boolean not null,
  -- All mailbox users of one provider count as one source: the provider.
  provider_id uuid,
  agreed double precision not null default 0,
  disagreed double precision not null default 0,
  agreements integer not null default 0,
  retractions integer not null default 0,
  wanted_mail integer not null default 0,
  contradictions integer not null default 0,
  overrulings integer not null default 0,
  agreed_on date,
  updated_at timestamptz not null,
  constraint karmas_pkey primary key (reporter_id)
);
select distribute('karmas', 'reporter_id');
