-- Who mails in bulk and says so: how they are recognized, and what their readers are told. With it
-- what we advised, what we unsubscribed for others, and whom we might ask an administrator about.
set local citus.multi_shard_modify_mode to 'sequential';

-- Found by `key` in files and links. A marketer acts while it is confirmed. List-Ids and authors
-- narrow: where there are some, a message must have one of them besides its signer or range.
create table marketers (
  key text collate "C" not null,
  name text not null,
  state text not null,
  -- Domains that sign; `*.` in front stands for every name below.
  signers text[] not null,
  ranges cidr[] not null,
  list_ids text[] not null,
  authors text[] not null,
  practice text not null,
  website text,
  -- How to unsubscribe, by language.
  advice jsonb not null,
  contact text,
  -- Where complaints about its mail go besides the network; null: nowhere.
  feedback text,
  changed_at timestamptz not null,
  constraint marketers_pkey primary key (key),
  constraint marketers_state_known check (state in ('declared', 'confirmed', 'suspended'))
);
select reference('marketers');

-- Raised with each change, so that processes see by one number whether they have the present ones.
create table marketer_registry (
  is_only boolean not null,
  version integer not null,
  constraint marketer_registry_pkey primary key (is_only),
  constraint marketer_registry_once check (is_only)
);
select reference('marketer_registry');
insert into marketer_registry (is_only, version) values (true, 0);

-- One mail of advice a reporter, marketer and week. `about` is `marketer KEY` or `signer DOMAIN`.
create table advices (
  reporter_id uuid not null,
  about text not null,
  -- The Monday it begins with.
  week date not null,
  report_id uuid not null,
  advised_at timestamptz not null,
  constraint advices_pkey primary key (reporter_id, about, week)
);
create index advices_week_idx on advices (week);
select distribute('advices', 'reporter_id');

-- What we asked a sender to do for a reporter, by one click (RFC 8058): once for a report, whatever
-- became of it. `under-way` says that the POST may have left.
create table unsubscribe_requests (
  report_id uuid not null,
  reporter_id uuid not null,
  state text not null,
  host text not null,
  asked_at timestamptz not null,
  begun_at timestamptz,
  finished_at timestamptz,
  -- What became of it, as a sentence.
  outcome text,
  constraint unsubscribe_requests_pkey primary key (report_id),
  constraint unsubscribe_requests_state_known
    check (state in ('queued', 'under-way', 'done', 'doubtful', 'refused', 'failed', 'unknown'))
) partition by range (report_id);
create index unsubscribe_requests_state_idx on unsubscribe_requests (state, report_id)
  where state in ('queued', 'under-way');
select distribute('unsubscribe_requests', 'report_id');

-- Signers seen on honest bulk mail that no marketer declares. What is dismissed stays so; what was
-- not seen for long is forgotten.
create table marketer_proposals (
  signer text collate "C" not null,
  -- Empty: without one.
  list_id text collate "C" not null,
  state text not null,
  author text not null,
  name text not null,
  messages integer not null,
  -- A round number; the exact one is nobody's business.
  reporters_at_least integer not null,
  subjects jsonb not null,
  unsubscribe_host text,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  decided_at timestamptz,
  decided_by uuid,
  constraint marketer_proposals_pkey primary key (signer, list_id),
  constraint marketer_proposals_state_known check (state in ('open', 'dismissed', 'taken'))
);
create index marketer_proposals_state_idx on marketer_proposals (state, messages);
select keep_local('marketer_proposals');

-- Whether a reporter wants advice by mail.
alter table reporters add column wants_advice boolean not null default true;
