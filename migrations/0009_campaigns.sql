-- What each report was counted as, so that it can be taken back to the digit, and the campaigns
-- into which reported messages are grouped as they come.
set local citus.multi_shard_modify_mode to 'sequential';

-- Once for each report that counts: what it added (packed: amounts, and the shingles they were
-- added to) and the campaign it was found to be of. Whoever takes the row away appends the opposite
-- in the same transaction, so nothing is taken back twice.
create table counted_reports (
  id uuid not null,
  campaign_id uuid,
  content bytea not null,
  constraint counted_reports_pkey primary key (id)
) partition by range (id);
create index counted_reports_campaign_idx on counted_reports (campaign_id, id)
  where campaign_id is not null;
alter table counted_reports alter column content set storage external;
select distribute('counted_reports', 'id');

-- A campaign is its first message: others are compared with that one, so that it does not wander.
-- Never changed. The time inside the id is when the first report of it was analyzed.
create table campaigns (
  id uuid not null,
  first_report_id uuid not null,
  -- As the analysis made them; compared by the program.
  fingerprints jsonb not null,
  constraint campaigns_pkey primary key (id)
) partition by range (id);
select distribute('campaigns', 'id');

-- Where the neighbors of a message are looked for: equal keys are few, and similar messages share
-- at least one. Written into the present generation (two weeks) of a campaign that goes on, so that
-- those of campaigns that ended are dropped whole, like old counters.
create table campaign_keys (
  key bigint not null,
  generation integer not null,
  campaign_id uuid not null,
  constraint campaign_keys_pkey primary key (key, generation, campaign_id)
) partition by range (generation);
select distribute('campaign_keys', 'key');

-- How many reports of a campaign came on a day (UTC, of their receipt), for its history and to find
-- the largest. Rows are written in the order of their keys, last in their transactions.
create table campaign_days (
  campaign_id uuid not null,
  day date not null,
  reports integer not null,
  constraint campaign_days_pkey primary key (campaign_id, day)
) partition by range (campaign_id);
create index campaign_days_largest_idx on campaign_days (day, reports desc, campaign_id);
select distribute('campaign_days', 'campaign_id');
