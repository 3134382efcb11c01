-- Marketers that declare their bulk mail: how their mail is recognized, the advice to its
-- recipients, and what we unsubscribed for reporters. Also signers of bulk mail that an
-- administrator may want to declare.
set local citus.multi_shard_modify_mode to 'sequential';

-- `key` identifies a marketer in files and links. A marketer has an effect while it is confirmed.
-- If there are List-Ids or authors, a message must have one of them besides a signer or range.
-- A `service` sends for many marketers. A row with the key of a shipped service replaces it.
create table marketers (
  key text collate "C" not null,
  kind text not null,
  name text not null,
  state text not null,
  -- Signing domains; a leading `*.` stands for all subdomains.
  signers text[] not null,
  ranges cidr[] not null,
  list_ids text[] not null,
  authors text[] not null,
  -- Domains of links, bounces and the website, which prove nothing.
  hosts text[] not null,
  practice text not null,
  website text,
  -- How to unsubscribe, by language.
  advice jsonb not null,
  contact text,
  -- The address for complaints about its mail, besides the network's; null: none.
  feedback text,
  -- The public pages that state its domains, each with the day on which it was read.
  sources jsonb not null,
  changed_at timestamptz not null,
  constraint marketers_pkey primary key (key),
  constraint marketers_kind_known check (kind in ('marketer', 'service')),
  constraint marketers_state_known check (state in ('declared', 'confirmed', 'suspended'))
);
select reference('marketers');

-- Incremented by each change, so that processes see by one number whether their copy is up to date.
create table marketer_registry (
  is_only boolean not null,
  version integer not null,
  constraint marketer_registry_pkey primary key (is_only),
  constraint marketer_registry_once check (is_only)
);
select reference('marketer_registry');
insert into marketer_registry (is_only, version) values (true, 0);

-- One mail of advice per reporter, marketer and week. `about` is `marketer KEY` or `signer DOMAIN`.
create table advices (
  reporter_id uuid not null,
  about text not null,
  -- The Monday with which the week begins.
  week date not null,
  report_id uuid not null,
  advised_at timestamptz not null,
  constraint advices_pkey primary key (reporter_id, about, week)
);
create index advices_week_idx on advices (week);
select distribute('advices', 'reporter_id');

-- Requests to a sender to unsubscribe a reporter by one click (RFC 8058): at most one per report,
-- whatever its result. `under-way`: the POST may have been sent.
create table unsubscribe_requests (
  report_id uuid not null,
  shard smallint not null,
  reporter_id uuid not null,
  state text not null,
  host text not null,
  asked_at timestamptz not null,
  begun_at timestamptz,
  finished_at timestamptz,
  constraint unsubscribe_requests_pkey primary key (report_id, shard),
  constraint unsubscribe_requests_state_known
    check (state in ('queued', 'under-way', 'done', 'doubtful', 'refused', 'failed', 'unknown'))
) partition by range (report_id);
create index unsubscribe_requests_state_idx on unsubscribe_requests (state, report_id)
  where state in ('queued', 'under-way');
select distribute('unsubscribe_requests', 'shard');

-- Signers of legitimate bulk mail that no marketer declares. A dismissed proposal stays dismissed;
-- proposals that were not seen for long are deleted.
create table marketer_proposals (
  signer text collate "C" not null,
  -- Empty for mail without a List-Id.
  list_id text collate "C" not null,
  state text not null,
  author text not null,
  name text not null,
  messages integer not null,
  -- Rounded; the exact number is not shown.
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
