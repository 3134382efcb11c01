-- Campaigns: groups of similar messages, formed as reports are analyzed.
set local citus.multi_shard_modify_mode to 'sequential';

-- A campaign is represented by its first message: other messages are compared with that one, so
-- that the campaign does not drift. Rows never change. The time inside the id is when its first
-- report was analyzed.
create table campaigns (
  id uuid not null,
  shard smallint not null,
  first_report_id uuid not null,
  -- As computed by the analysis; compared by the program.
  fingerprints jsonb not null,
  constraint campaigns_pkey primary key (id, shard)
) partition by range (id);
select distribute('campaigns', 'shard');

-- Index of the fingerprints: similar messages share at least one key, and each key has few
-- campaigns. The keys of a campaign that continues are written to the present generation (two
-- weeks), so that those of ended campaigns are dropped whole, like old counters.
create table campaign_keys (
  key bigint not null,
  generation integer not null,
  campaign_id uuid not null,
  constraint campaign_keys_pkey primary key (key, generation, campaign_id)
) partition by range (generation);
select distribute('campaign_keys', 'key');

-- The number of reports of a campaign by day (UTC, of their receipt), for its history and to find
-- the largest campaigns. Rows are written in the order of their keys, at the end of transactions.
create table campaign_days (
  campaign_id uuid not null,
  shard smallint not null,
  day date not null,
  reports integer not null,
  constraint campaign_days_pkey primary key (campaign_id, day, shard)
) partition by range (campaign_id);
create index campaign_days_largest_idx on campaign_days (day, reports desc, campaign_id);
select distribute('campaign_days', 'shard');

-- The first 32 reporters of a campaign and the kinds they reported, packed, with 16 bits of a hash
-- of their mail domains: shows which independent reporters agree. Deleted in small steps when the
-- campaign is no longer reported.
create table campaign_witnesses (
  campaign_id uuid not null,
  day date not null,
  content bytea not null,
  constraint campaign_witnesses_pkey primary key (campaign_id)
);
create index campaign_witnesses_day_idx on campaign_witnesses (day);
alter table campaign_witnesses alter column content set storage external;
select distribute('campaign_witnesses', 'campaign_id');
