-- The pages to which phishing messages lead, one row for each page, and the reports that lead
-- there.
set local citus.multi_shard_modify_mode to 'sequential';

create table pages (
  id uuid not null,
  -- Host and path, with placeholders for what differs between recipients.
  key text collate "C" not null,
  -- As a recipient got it: the one that independent reporters share, otherwise the latest.
  url text not null,
  host text collate "C" not null,
  -- What is accused: the host, or host and path because others have pages on the host, too.
  scope text not null,
  type text not null,
  state text not null,
  -- What an operator said about the page itself; it holds whatever is reported.
  decision text,
  confirmed_by text,
  -- Since when it is confirmed, or when it last was.
  confirmed_at timestamptz,
  cleared_at timestamptz,
  -- The name of the brand that the messages pretend to come from.
  imitates text,
  -- Hosts of redirectors whose addresses contain the page.
  through text[] not null,
  -- Whether three independent reporters received exactly this URL, so that it is nobody's token.
  shared boolean not null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  reports integer not null,
  constraint pages_pkey primary key (id),
  constraint pages_key_unique unique (key),
  constraint pages_length check (length(key) <= 500 and length(url) <= 2000),
  constraint pages_scope_known check (scope in ('host', 'path')),
  constraint pages_type_known check (type in ('phishing', 'malware')),
  constraint pages_state_known check (state in ('seen', 'confirmed', 'cleared')),
  constraint pages_decision_known check (decision in ('phishing', 'malware', 'cleared')),
  constraint pages_confirmed_by_known check (confirmed_by in ('person', 'reporters')),
  constraint pages_confirmed_whole check ((state = 'confirmed') = (confirmed_by is not null)
    and (state <> 'confirmed' or confirmed_at is not null)),
  constraint pages_cleared_whole check ((state = 'cleared') = (cleared_at is not null))
);
create index pages_state_idx on pages (state, id);
create index pages_host_idx on pages (host, id);
create index pages_last_seen_idx on pages (last_seen);
select keep_local('pages');

create table page_reports (
  page_id uuid not null,
  report_id uuid not null,
  url text not null,
  seen_at timestamptz not null,
  campaign_id uuid,
  -- What shows whether reporters are independent of each other, as for karma.
  reporter_id uuid not null,
  is_vouched boolean not null,
  is_proven boolean not null,
  is_young boolean not null,
  circle integer not null,
  -- A hash of the address that received the message.
  recipient bytea not null,
  -- Whether the reporter called the message phishing, and whether its content supports that.
  is_accusing boolean not null,
  is_supported boolean not null,
  -- What a person of the site said about this report.
  decision text,
  -- What in the message speaks for and against a phishing page, for operators.
  signs text[] not null,
  constraint page_reports_pkey primary key (page_id, report_id),
  constraint page_reports_page_fkey foreign key (page_id)
    references pages (id) on delete cascade,
  constraint page_reports_recipient_length check (length(recipient) = 8),
  constraint page_reports_decision_known check (decision in ('phishing', 'malware', 'other'))
);
create index page_reports_report_idx on page_reports (report_id);
create index page_reports_reporter_idx on page_reports (reporter_id);
create index page_reports_campaign_idx on page_reports (campaign_id);
create index page_reports_seen_idx on page_reports (page_id, seen_at);
select keep_local('page_reports');
