-- Who can stop a page, and the notices to them: one row for each page and contact.
set local citus.multi_shard_modify_mode to 'sequential';

create table page_notices (
  page_id uuid not null,
  -- A mail address, or the address of a form.
  contact text collate "C" not null,
  role text not null,
  -- The name of the network, registrar or platform.
  name text not null,
  -- The addresses of the host in the network.
  ips inet[] not null,
  -- `spare`: the next one, if one before it is not responsible. `barred`: answered about another
  -- page of the host that it is not responsible.
  -- `shown`: a form, or an address that nobody confirmed; operators write there themselves.
  -- `queued`: the feedback report tells what became of it.
  state text not null,
  -- The order in which they are asked.
  place smallint not null,
  found_at timestamptz not null,
  queued_at timestamptz,
  report_id uuid,
  number smallint,
  -- Further feedback about the same report: with the exact address, and the withdrawal.
  exact_number smallint,
  withdrawal_number smallint,
  -- When the recipient answered that it is not responsible.
  disowned_at timestamptz,
  constraint page_notices_pkey primary key (page_id, contact),
  constraint page_notices_page_fkey foreign key (page_id) references pages (id) on delete cascade,
  constraint page_notices_role_known
    check (role in ('platform', 'redirector', 'host', 'cdn', 'registrar')),
  constraint page_notices_state_known check (state in ('spare', 'barred', 'shown', 'queued')),
  constraint page_notices_queued_whole check ((state = 'queued') = (report_id is not null)
    and (report_id is null) = (number is null) and (report_id is null) = (queued_at is null))
);
create index page_notices_feedback_idx on page_notices (report_id, number);
create index page_notices_queued_idx on page_notices (queued_at);
select keep_local('page_notices');

alter table feedback_reports drop constraint feedback_reports_told_as_known;
alter table feedback_reports add constraint feedback_reports_told_as_known
  check (told_as in ('network', 'cfbl', 'marketer', 'domain', 'page'));
