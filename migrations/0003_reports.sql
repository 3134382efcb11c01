-- Reports, their analyses and histories, and what is known about a reporter from them. A report and
-- its raw message are in two tables under one id, so that lists do not read the bytes. Tables with
-- the id of a report are partitioned by the time inside the version 7 id: retention drops
-- partitions.
set local citus.multi_shard_modify_mode to 'sequential';

create table reports (
  id uuid not null,
  shard smallint not null,
  reporter_id uuid not null,
  -- `learn`: a mail server learned the message; its network is not notified.
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
  -- Relays of the reporter's provider, as named by the reporter.
  received_via cidr[] not null,
  -- The format from which the message was rebuilt: Outlook (.msg) keeps the header as received, but
  -- not the body, so signatures of such a message prove nothing. Null for a message as received.
  rebuilt_from text,
  -- Null: the report has an effect on others. `held`, `dropped`: it has none, because its reporter
  -- is shadow-banned. `released`: it has an effect as soon as a job has counted it.
  shadow text,
  -- Whether the reporter was asked, and confirmed that the message is unwanted.
  is_confirmed boolean not null default false,
  -- The class of the verdict as an operator corrected it. Null: the rules and the model decide.
  corrected_as text,
  constraint reports_pkey primary key (id, shard),
  constraint reports_channel_known
    check (channel in ('api', 'signaler', 'form', 'mail', 'import', 'learn')),
  constraint reports_kind_known check (kind in ('spam', 'phishing', 'not-spam')),
  constraint reports_state_known
    check (state in ('received', 'analyzed', 'forwarded', 'kept', 'retracted', 'failed')),
  constraint reports_rebuilt_from_known check (rebuilt_from in ('msg')),
  constraint reports_shadow_known check (shadow in ('held', 'dropped', 'released')),
  constraint reports_corrected_as_known
    check (corrected_as in ('spam', 'phishing', 'malware', 'marketing', 'legitimate'))
) partition by range (id);
create index reports_state_idx on reports (state, id);
create index reports_reporter_idx on reports (reporter_id, id);
-- Wanted mail is rarely reported, so this costs little. It shows the reporter's correspondents.
create index reports_wanted_idx on reports (reporter_id, author) where kind = 'not-spam';
create index reports_shadow_idx on reports (shadow, id) where shadow is not null;
select distribute('reports', 'shard');

-- zstd halves a message; EXTERNAL keeps PostgreSQL from compressing it again. The storage is set
-- before the table is distributed: PostgreSQL 15 cannot set it in `create table`, and Citus cannot
-- set it later.
create table raw_messages (
  id uuid not null,
  shard smallint not null,
  encoding text not null,
  content bytea not null,
  constraint raw_messages_pkey primary key (id, shard),
  constraint raw_messages_encoding_known check (encoding in ('identity', 'zstd'))
) partition by range (id);
alter table raw_messages alter column content set storage external;
select distribute('raw_messages', 'shard');

-- The same bytes from the same reporter are the same report. Keyed by the content, because a unique
-- constraint of the partitioned table `reports` would have to contain the id.
create table report_keys (
  content_hash bytea not null,
  reporter_id uuid not null,
  report_id uuid not null,
  constraint report_keys_pkey primary key (content_hash, reporter_id)
);
create index report_keys_report_idx on report_keys (report_id);
select distribute('report_keys', 'content_hash');

-- The request for which a client used an Idempotency-Key, so that another body under the same key
-- is refused, and the response to it, so that a repeated request gets the same one.
create table idempotency_keys (
  key_hash bytea not null,
  body_hash bytea not null,
  created_at timestamptz not null,
  -- The HTTP status and body of the response; null until the first response is known. A request
  -- repeated before then is answered anew, and the first response is kept. The body contains ids,
  -- states and problems, but no content of messages.
  answer_status integer,
  answer_body text,
  constraint idempotency_keys_pkey primary key (key_hash)
);
create index idempotency_keys_created_idx on idempotency_keys (created_at);
select distribute('idempotency_keys', 'key_hash');

-- The results of the analysis: inserted once, so its indexes are written once. `content` is the
-- complete analysis (hops, links, attachments, the explanation of the origin) as JSON: 4 KB, which
-- zstd compresses to 1.3 KB. PostgreSQL would compress jsonb at ten times the cost.
create table analyses (
  id uuid not null,
  shard smallint not null,
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
  judgment jsonb not null,
  -- The facts on which the verdict was based, as they were known then, as sparse JSON: see
  -- verdict/facts/packed-facts.ts. New rules are tried on them, and models learn from them.
  facts bytea not null,
  encoding text not null,
  content bytea not null,
  constraint analyses_pkey primary key (id, shard),
  constraint analyses_encoding_known check (encoding in ('identity', 'zstd')),
  constraint analyses_confidence_range check (origin_confidence between 0 and 1)
) partition by range (id);
alter table analyses alter column content set storage external;
select distribute('analyses', 'shard');

-- The history of a report, one row per event, in the order of the ids. `phrases` are codes with
-- parameters, see phrase.ts.
create table report_events (
  report_id uuid not null,
  shard smallint not null,
  id uuid not null,
  at timestamptz not null,
  event text not null,
  phrases jsonb not null,
  constraint report_events_pkey primary key (report_id, id, shard)
) partition by range (report_id);
select distribute('report_events', 'shard');

-- Reports whose history changed, one row per statement that added events: the days on which they
-- were received are counted again. Rows are only appended and deleted, so no writer waits for
-- another one.
create table report_news (
  id uuid not null,
  report_ids uuid[] not null,
  constraint report_news_pkey primary key (id)
);
-- Every transaction that stores reports, an analysis or an outcome writes here.
select keep_local_in_step('report_news');

-- The results of a reporter's reports by day (UTC, of their receipt), so that a page of statistics
-- reads one row per day. A day is counted completely from the reports, and again when one of them
-- changes: a row may be late, but it cannot drift.
create table reporter_days (
  reporter_id uuid not null,
  day date not null,
  -- When the day is counted again; null if nothing changed.
  due_at timestamptz,
  counted_at timestamptz,
  -- Reports that were not retracted, by kind.
  spam integer not null default 0,
  phishing integer not null default 0,
  not_spam integer not null default 0,
  -- Reports that were not retracted, by result: a network or consumer was notified; kept; kept with
  -- a question to the reporter. All others are in progress.
  told integer not null default 0,
  kept integer not null default 0,
  asked integer not null default 0,
  retracted integer not null default 0,
  -- Feedback reports that were sent, alone or merged into others, and reports that were answered.
  mails integer not null default 0,
  answered integer not null default 0,
  -- [{asn, name, country, reports}], the most frequent first, and {country: reports}.
  networks jsonb not null default '[]',
  countries jsonb not null default '{}',
  constraint reporter_days_pkey primary key (reporter_id, day)
);
create index reporter_days_due_idx on reporter_days (due_at) where due_at is not null;
create index reporter_days_day_idx on reporter_days (day);
select distribute('reporter_days', 'reporter_id');

-- Relays of a reporter's mail provider: named by the reporter, learned from earlier reports, or
-- refused by the reporter, so that they are not proposed or learned again.
create table reporter_relays (
  reporter_id uuid not null,
  cidr cidr not null,
  how text not null,
  -- The name in the Received fields; shown to people, never compared.
  name text,
  -- The number of reports that contain the relay; 0 if the reporter named or refused it.
  evidence integer not null,
  since timestamptz not null,
  constraint reporter_relays_pkey primary key (reporter_id, cidr),
  constraint reporter_relays_owner_fkey foreign key (reporter_id) references reporters (id)
    on delete cascade,
  constraint reporter_relays_how_known check (how in ('set', 'learned', 'proposed', 'refused')),
  constraint reporter_relays_evidence_positive check (evidence >= 0)
);
select distribute('reporter_relays', 'reporter_id');

-- When relays were last learned from a reporter's reports, so that all reporters take turns.
create table relay_lessons (
  reporter_id uuid not null,
  learned_at timestamptz not null,
  constraint relay_lessons_pkey primary key (reporter_id),
  constraint relay_lessons_owner_fkey foreign key (reporter_id) references reporters (id)
    on delete cascade
);
select distribute('relay_lessons', 'reporter_id');
