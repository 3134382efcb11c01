-- Searching reports.
set local citus.multi_shard_modify_mode to 'sequential';

-- Hashes of everything by which a report can be found: see search/terms.ts. A job writes them some
-- seconds after the report changed, so that accepting reports does not wait for the index.
create table report_terms (
  id uuid not null,
  shard smallint not null,
  terms bigint[] not null,
  constraint report_terms_pkey primary key (id, shard)
) partition by range (id);
create index report_terms_terms_idx on report_terms using gin (terms)
  with (gin_pending_list_limit = 1024);
alter table report_terms alter column terms set storage external;
select distribute('report_terms', 'shard');

-- Reports whose terms must be written again, one row per note.
create table search_news (
  id uuid not null,
  report_ids uuid[] not null,
  constraint search_news_pkey primary key (id)
);
select keep_local('search_news');

-- Searches that an operator saved under a name.
create table saved_searches (
  reporter_id uuid not null,
  name text not null,
  query text not null,
  saved_at timestamptz not null,
  constraint saved_searches_pkey primary key (reporter_id, name),
  constraint saved_searches_owner_fkey foreign key (reporter_id) references reporters (id)
    on delete cascade
);
select keep_local('saved_searches');

-- Actions of operators on many reports. The reports are fixed when the action starts.
create table mass_actions (
  id uuid not null,
  reporter_id uuid,
  kind text not null,
  -- The search by which the reports were found; null if they were selected one by one.
  query text,
  reason text not null,
  state text not null,
  per_minute integer not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  constraint mass_actions_pkey primary key (id),
  constraint mass_actions_state_known
    check (state in ('running', 'stopped', 'done', 'undoing', 'undone')),
  constraint mass_actions_speed_positive check (per_minute > 0)
);
select keep_local_in_step('mass_actions');

-- The reports of an action. `outcome` is null until the action has reached the report.
create table mass_action_items (
  action_id uuid not null,
  report_id uuid not null,
  outcome text,
  constraint mass_action_items_pkey primary key (action_id, report_id),
  constraint mass_action_items_action_fkey foreign key (action_id) references mass_actions (id)
    on delete cascade,
  constraint mass_action_items_outcome_known check (outcome in ('changed', 'unchanged', 'undone'))
);
create index mass_action_items_outcome_idx on mass_action_items (action_id, outcome, report_id);
select keep_local_in_step('mass_action_items');
