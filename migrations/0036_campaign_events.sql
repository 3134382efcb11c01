-- Campaigns about which more is known: their kept reports are judged again, in steps. One row for
-- each campaign; its deletion ends the work.
set local citus.multi_shard_modify_mode to 'sequential';
create table campaign_events (
  campaign_id uuid not null,
  noted_at timestamptz not null,
  -- Reports below this id are reopened; null before the first step.
  until_id uuid,
  -- The last report that was looked at.
  after_id uuid,
  constraint campaign_events_pkey primary key (campaign_id)
);
create index campaign_events_noted_idx on campaign_events (noted_at);
select keep_local_in_step('campaign_events');

-- The highest number of independent complainants about a campaign so far, at most three: each
-- number is an event once.
alter table campaign_witnesses add column complainants smallint not null default 0;

-- What is decided about whole campaigns. `about` is empty for the word of an operator; the word of
-- an abuse desk holds for the network block of the report that it resolved.
create table campaign_decisions (
  campaign_id uuid not null,
  about text not null,
  says text not null,
  reason text not null,
  decided_at timestamptz not null,
  -- Null for a desk, and for an operator at the command line.
  decided_by uuid,
  constraint campaign_decisions_pkey primary key (campaign_id, about),
  constraint campaign_decisions_says_known
    check (says in ('spam', 'phishing', 'malware', 'marketing', 'legitimate', 'resolved'))
);
create index campaign_decisions_decided_idx on campaign_decisions (decided_at);
select reference('campaign_decisions');
