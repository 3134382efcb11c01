-- Organizations that learn of all confirmed pages.
set local citus.multi_shard_modify_mode to 'sequential';

-- The partners that operators enabled; their templates are in `src/phishing/partners.json`.
create table partners (
  key text collate "C" not null,
  -- The address of those who get mail.
  contact text collate "C",
  -- The key of our account at a partner, encrypted (`sealed-bytes.ts`).
  sealed_key bytea,
  -- Pages that were confirmed earlier are not sent.
  enabled_at timestamptz not null,
  constraint partners_pkey primary key (key)
);
select keep_local('partners');

-- The pages that are sent to partners over HTTP: one row for each page and partner.
create table page_submissions (
  page_id uuid not null,
  partner text collate "C" not null,
  -- `dropped`: the page was no longer to be sent; it waits again if it is confirmed again.
  state text not null,
  tries integer not null,
  created_at timestamptz not null,
  tried_at timestamptz,
  -- The last HTTP status; null if there was no answer.
  status integer,
  constraint page_submissions_pkey primary key (page_id, partner),
  constraint page_submissions_page_fkey foreign key (page_id) references pages (id)
    on delete cascade,
  constraint page_submissions_state_known
    check (state in ('waiting', 'accepted', 'duplicate', 'refused', 'given-up', 'dropped'))
);
create index page_submissions_tried_idx on page_submissions (partner, tried_at);
select keep_local('page_submissions');

alter table page_notices drop constraint page_notices_role_known;
alter table page_notices add constraint page_notices_role_known
  check (role in ('platform', 'redirector', 'host', 'cdn', 'registrar', 'partner'));
