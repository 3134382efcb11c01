-- Addresses whose every mail becomes a report: spam traps, and feedback loops that others send.
set local citus.multi_shard_modify_mode to 'sequential';

create table mail_sources (
  -- The reporter whose reports these are.
  id uuid not null,
  -- In lower case: an address, or @ and a domain.
  address text not null,
  kind text not null,
  note text not null,
  created_at timestamptz not null,
  constraint mail_sources_pkey primary key (id),
  constraint mail_sources_address_unique unique (address),
  constraint mail_sources_kind_known check (kind in ('trap', 'feedback-loop'))
);
select reference('mail_sources');

create table mail_source_days (
  source_id uuid not null,
  day date not null,
  -- Mails; those that became reports; those of a campaign that was reported that day; those that
  -- are no reports; those above the limits, which were only counted.
  received bigint not null,
  reported bigint not null,
  repeated bigint not null,
  refused bigint not null,
  dropped bigint not null,
  constraint mail_source_days_pkey primary key (source_id, day)
);
select keep_local('mail_source_days');

create table mail_source_campaigns (
  source_id uuid not null,
  campaign_id uuid not null,
  reported_on date not null,
  constraint mail_source_campaigns_pkey primary key (source_id, campaign_id)
);
create index mail_source_campaigns_day_idx on mail_source_campaigns (reported_on);
select keep_local('mail_source_campaigns');

alter table reports drop constraint reports_channel_known;
alter table reports add constraint reports_channel_known check (channel in
  ('api', 'signaler', 'form', 'mail', 'import', 'learn', 'trap', 'feedback-loop'));
alter table inbound_mails drop constraint inbound_mails_purpose_known;
alter table inbound_mails add constraint inbound_mails_purpose_known check (purpose in
  ('feedback-bounce', 'feedback-answer', 'letter-bounce', 'letter-answer', 'mail-in', 'other',
  'trap', 'feedback-loop'));
