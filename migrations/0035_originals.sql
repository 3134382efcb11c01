-- The parts of links in the reports of a campaign that may identify their recipients, as hashes of
-- 8 bytes, with what shows whether their reporters are independent. What three of them share may
-- leave. Bounded for each campaign; deleted after two weeks.
set local citus.multi_shard_modify_mode to 'sequential';
create table campaign_link_parts (
  campaign_id uuid not null,
  -- The latest reporters have the slots of the oldest.
  slot smallint not null,
  reporter_id uuid not null,
  -- Whether an operator created the account, and 16 bits of a hash of its mail domain.
  is_vouched boolean not null,
  circle integer not null,
  -- A hash of the address that received the message.
  recipient bytea not null,
  parts bytea not null,
  seen_on date not null,
  constraint campaign_link_parts_pkey primary key (campaign_id, slot),
  constraint campaign_link_parts_bound check (slot between 0 and 31 and length(parts) <= 256
    and length(recipient) = 8)
);
create index campaign_link_parts_reporter_idx on campaign_link_parts (reporter_id);
create index campaign_link_parts_seen_idx on campaign_link_parts (seen_on);
select distribute('campaign_link_parts', 'campaign_id');

-- The hashes of the parts of links that are not replaced by codes, as they were shared when the
-- feedback report was created; it is composed alike whenever it is composed.
alter table feedback_reports add column shared_parts bytea;

-- Originals: the message as it was received, for a desk whose operator has a contract, or to whose
-- request the reporter agreed.
alter table feedback_reports add column has_original boolean not null default false;
alter table feedback_reports drop constraint feedback_reports_kind_known;
alter table feedback_reports add constraint feedback_reports_kind_known
  check (kind in ('complaint', 'redeemed', 'original'));

-- The contract of a consumer: from when and until when it gets originals, and why.
alter table consumers add column originals_since timestamptz;
alter table consumers add column originals_until timestamptz;
alter table consumers add column originals_reason text;
alter table consumers add constraint consumers_originals_whole
  check ((originals_since is null) = (originals_reason is null));

-- Requests of desks for the original of a report, one for each report. The reporter decides until
-- the request ends.
create table original_requests (
  report_id uuid not null,
  number smallint not null,
  consumer_id uuid not null,
  reporter_id uuid not null,
  asked_at timestamptz not null,
  ends_at timestamptz not null,
  -- Null until the reporter decides.
  is_granted boolean,
  decided_at timestamptz,
  constraint original_requests_pkey primary key (report_id),
  constraint original_requests_decided check ((is_granted is null) = (decided_at is null))
);
create index original_requests_consumer_idx on original_requests (consumer_id, asked_at);
create index original_requests_reporter_idx on original_requests (reporter_id, asked_at);
select distribute('original_requests', 'report_id');

alter table feedback_answers drop constraint feedback_answers_answer_known;
alter table feedback_answers add constraint feedback_answers_answer_known
  check (answer in ('resolved', 'not-ours', 'wrong', 'stop', 'original'));
alter table inbound_mails drop constraint inbound_mails_answer_known;
alter table inbound_mails add constraint inbound_mails_answer_known
  check (answer in ('resolved', 'not-ours', 'wrong', 'stop', 'original'));
alter table reporter_news drop constraint reporter_news_kind_known;
alter table reporter_news add constraint reporter_news_kind_known
  check (kind in ('question', 'resolved', 'not-ours', 'wrong', 'stop', 'original'));
