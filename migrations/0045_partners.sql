-- Organizations that learn of all confirmed pages.
set local citus.multi_shard_modify_mode to 'sequential';

-- The partners that operators enabled; their templates are in `src/phishing/partners.json`.
create table partners (
  key text collate "C" not null,
  -- The address of those who get mail.
  contact text collate "C",
  -- Pages that were confirmed earlier are not sent.
  enabled_at timestamptz not null,
  constraint partners_pkey primary key (key)
);
select keep_local('partners');

alter table page_notices drop constraint page_notices_role_known;
alter table page_notices add constraint page_notices_role_known
  check (role in ('platform', 'redirector', 'host', 'cdn', 'registrar', 'partner'));
