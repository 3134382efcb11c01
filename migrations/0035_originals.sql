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
