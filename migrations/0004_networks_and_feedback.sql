-- Who answers for an address, who is told, and what was told to them.
set local citus.multi_shard_modify_mode to 'sequential';

-- Ranges are kept as CIDR blocks, so that the longest prefix is found by equality on the primary
-- key: an address has at most 33 (IPv4) or 129 (IPv6) candidates.
create table networks (
  cidr cidr not null,
  source text not null,
  asn bigint,
  name text,
  country text,
  abuse text,
  imported_at timestamptz not null,
  constraint networks_pkey primary key (cidr, source),
  constraint networks_country_two_letters check (country ~ '^[A-Z]{2}$')
);
select reference('networks');

create table consumers (
  id uuid not null,
  address text not null,
  state text not null,
  created_at timestamptz not null,
  constraint consumers_pkey primary key (id),
  constraint consumers_address_unique unique (address),
  constraint consumers_state_known check (state in ('found', 'enrolled', 'paused'))
);
select reference('consumers');

-- One row per report and consumer; `number` counts the consumers of one report, and with the
-- report's id it makes the VERP token.
create table feedback_reports (
  report_id uuid not null,
  number smallint not null,
  consumer_id uuid not null,
  state text not null,
  address text not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  message_id text,
  reply text,
  bounced_at timestamptz,
  bounce_status text,
  bounce_reason text,
  constraint feedback_reports_pkey primary key (report_id, number),
  constraint feedback_reports_consumer_unique unique (report_id, consumer_id),
  constraint feedback_reports_consumer_fkey foreign key (consumer_id) references consumers (id),
  constraint feedback_reports_number_positive check (number between 1 and 255),
  constraint feedback_reports_state_known
    check (state in ('queued', 'held', 'sent', 'bounced', 'refused', 'withdrawn'))
) partition by range (report_id);
create index feedback_reports_state_idx on feedback_reports (state, report_id);
select distribute('feedback_reports', 'report_id');

-- The exact copy that left, or that is held.
create table feedback_messages (
  report_id uuid not null,
  number smallint not null,
  encoding text not null,
  content bytea not null,
  constraint feedback_messages_pkey primary key (report_id, number),
  constraint feedback_messages_encoding_known check (encoding in ('identity', 'zstd'))
) partition by range (report_id);
alter table feedback_messages alter column content set storage external;
select distribute('feedback_messages', 'report_id');

-- Mail that came back: bounces first. Kept before it is acknowledged to the peer.
create table inbound_mails (
  id uuid not null,
  received_at timestamptz not null,
  mail_from text not null,
  rcpt_to text not null,
  report_id uuid,
  number smallint,
  state text not null,
  kind text,
  encoding text not null,
  content bytea not null,
  constraint inbound_mails_pkey primary key (id),
  constraint inbound_mails_state_known check (state in ('received', 'handled', 'failed')),
  constraint inbound_mails_encoding_known check (encoding in ('identity', 'zstd'))
) partition by range (id);
create index inbound_mails_state_idx on inbound_mails (state, id);
alter table inbound_mails alter column content set storage external;
select distribute('inbound_mails', 'id');

-- What administrators did.
create table audit_log (
  id uuid not null,
  at timestamptz not null,
  reporter_id uuid not null,
  action text not null,
  detail text not null,
  constraint audit_log_pkey primary key (id)
) partition by range (id);
select distribute('audit_log', 'id');
