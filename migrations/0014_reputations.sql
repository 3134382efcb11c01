-- What is known of those a message can be blamed on, and of those who report. Evidence is appended
-- in the transaction that keeps an analysis and folded later by one owner a shard, so that nobody
-- waits for a row that everybody touches, and each piece of evidence counts exactly once.
set local citus.multi_shard_modify_mode to 'sequential';

-- Evidence not yet folded, packed, many subjects to a row; the last shard has what tells of
-- reporters. A row is taken by deleting it, like `counter_deltas`.
create table reputation_evidence (
  shard bigint not null,
  id uuid not null,
  content bytea not null,
  constraint reputation_evidence_pkey primary key (shard, id)
) with (
  toast_tuple_target = 8160,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000
);
alter table reputation_evidence alter column content set storage external;
select distribute('reputation_evidence', 'shard');

-- What each report is evidence of, so that its opposite can be appended to the digit. Whoever takes
-- the row away does so in the same transaction; so nothing is taken back twice.
create table reported_evidence (
  id uuid not null,
  content bytea not null,
  constraint reported_evidence_pkey primary key (id)
) partition by range (id);
alter table reported_evidence alter column content set storage external;
select distribute('reported_evidence', 'id');

-- The base part, which most questions read alone, with amounts as of `folded_at`; and in `detail`,
-- packed, who says so and how it behaved day by day. The key is the hash of kind and name; both are
-- kept for people. Small: what was silent for long is forgotten in small steps. Only the name has
-- an index, so that rows change in place.
create table reputations (
  key bigint not null,
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
  constraint reputations_pkey primary key (key)
) with (fillfactor = 80, toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.05);
create index reputations_name_idx on reputations (name text_pattern_ops);
alter table reputations alter column detail set storage external;
select distribute('reputations', 'key');

-- What administrators say by hand, and until when.
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
select distribute('reputation_marks', 'key');

-- How far a reporter is believed. Amounts grow instead of decaying, see reputation/karma.ts; the
-- counts beside them are for people.
create table karmas (
  reporter_id uuid not null,
  is_vouched boolean not null,
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
insert into karmas (reporter_id, is_vouched, updated_at)
select id, true, created_at from reporters;

-- Who reported a campaign as what, the first 32, packed: by that they are found to agree or not.
-- Dropped in small steps once nobody reports it any more.
create table campaign_witnesses (
  campaign_id uuid not null,
  day date not null,
  content bytea not null,
  constraint campaign_witnesses_pkey primary key (campaign_id)
);
create index campaign_witnesses_day_idx on campaign_witnesses (day);
alter table campaign_witnesses alter column content set storage external;
select distribute('campaign_witnesses', 'campaign_id');
