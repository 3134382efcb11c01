-- A report and its raw message: two tables under one id, so that lists never touch the bytes. Both
-- are partitioned by the time inside the version 7 id: retention drops partitions.
set local citus.multi_shard_modify_mode to 'sequential';

create table reports (
  id uuid not null,
  reporter_id uuid not null,
  channel text not null,
  kind text not null,
  state text not null,
  received_at timestamptz not null,
  message_bytes integer not null,
  author text,
  subject text,
  message_id text,
  dated_at timestamptz,
  comment text,
  -- Relays of the reporter's provider, as the reporter named them.
  received_via cidr[] not null,
  constraint reports_pkey primary key (id),
  constraint reports_channel_known check (channel in ('api', 'signaler', 'form', 'mail', 'import')),
  constraint reports_kind_known check (kind in ('spam', 'phishing', 'not-spam')),
  constraint reports_state_known
    check (state in ('received', 'analyzed', 'forwarded', 'kept', 'retracted', 'failed'))
) partition by range (id);
create index reports_state_idx on reports (state, id);
create index reports_reporter_idx on reports (reporter_id, id);
create index reports_author_idx on reports (author, id) where author is not null;
select distribute('reports', 'id');

-- zstd makes half of the original; EXTERNAL keeps PostgreSQL from compressing it a second time.
-- (PostgreSQL 15 cannot say so in create table; once a table is distributed it is too late.)
create table raw_messages (
  id uuid not null,
  encoding text not null,
  content bytea not null,
  constraint raw_messages_pkey primary key (id),
  constraint raw_messages_encoding_known check (encoding in ('identity', 'zstd'))
) partition by range (id);
alter table raw_messages alter column content set storage external;
select distribute('raw_messages', 'id');

-- The same bytes from the same reporter are the same report. Keyed by the content, because a
-- partitioned reports table cannot hold this uniqueness.
create table report_keys (
  content_hash bytea not null,
  reporter_id uuid not null,
  report_id uuid not null,
  constraint report_keys_pkey primary key (content_hash, reporter_id)
);
create index report_keys_report_idx on report_keys (report_id);
select distribute('report_keys', 'content_hash');

-- What a client's Idempotency-Key was used for, so that another body under it is refused.
create table idempotency_keys (
  key_hash bytea not null,
  body_hash bytea not null,
  created_at timestamptz not null,
  constraint idempotency_keys_pkey primary key (key_hash)
);
create index idempotency_keys_created_idx on idempotency_keys (created_at);
select distribute('idempotency_keys', 'key_hash');

-- What the analysis found: inserted once, never changed, so its indexes are paid once. `content` is
-- the whole of it (hops, links, attachments, the explanation of the origin) as JSON: 4 KB that zstd
-- makes 1.3 KB of, where jsonb would be compressed by PostgreSQL at ten times the cost.
create table analyses (
  id uuid not null,
  analyzed_at timestamptz not null,
  origin_ip inet,
  origin_confidence real,
  network_cidr cidr,
  network_asn bigint,
  network_name text,
  network_country text,
  network_abuse text,
  verdict_class text not null,
  verdict_score real not null,
  subject_words tsvector,
  judgment jsonb not null,
  encoding text not null,
  content bytea not null,
  constraint analyses_pkey primary key (id),
  constraint analyses_encoding_known check (encoding in ('identity', 'zstd')),
  constraint analyses_confidence_range check (origin_confidence between 0 and 1)
) partition by range (id);
create index analyses_origin_idx on analyses (origin_ip, id) where origin_ip is not null;
create index analyses_subject_idx on analyses using gin (subject_words);
alter table analyses alter column content set storage external;
select distribute('analyses', 'id');

-- The story of a report, one line an event, in the order of the ids.
create table report_events (
  report_id uuid not null,
  id uuid not null,
  at timestamptz not null,
  event text not null,
  detail text not null,
  constraint report_events_pkey primary key (report_id, id)
) partition by range (report_id);
select distribute('report_events', 'report_id');
