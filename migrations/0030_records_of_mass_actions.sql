-- What actions on many reports changed, so that undoing an action restores exactly this.
set local citus.multi_shard_modify_mode to 'sequential';

-- A report as it was before an action changed it. Deleted when the action is undone, and when it
-- can no longer be undone.
create table mass_action_records (
  action_id uuid not null,
  report_id uuid not null,
  shard smallint not null,
  taken_at timestamptz not null,
  state text not null,
  kind text not null,
  is_confirmed boolean not null,
  shadow text,
  corrected_as text,
  -- The row in `analyses` without its bytes, which follow; null: the report had none.
  analysis jsonb,
  facts bytea,
  content bytea,
  -- The row in `counted_reports`.
  campaign_id uuid,
  counted bytea,
  -- Like the content in `reported_evidence`, with the names of the subjects.
  evidence bytea,
  -- Its feedback reports, and those that were merged into them.
  feedback jsonb not null,
  -- The reports whose feedback waits again, because a feedback report that represented it was
  -- withdrawn.
  members uuid[],
  -- What was counted as redeemed since then, and when.
  redeemed bytea,
  redeemed_at timestamptz,
  -- What was testified about its reporter since then. It changes karma when the action can no
  -- longer be undone.
  testimonies bytea not null default '',
  constraint mass_action_records_pkey primary key (report_id, action_id, shard)
);
alter table mass_action_records alter column facts set storage external;
alter table mass_action_records alter column content set storage external;
alter table mass_action_records alter column counted set storage external;
create index mass_action_records_action_idx on mass_action_records (action_id, report_id);
create index mass_action_records_members_idx on mass_action_records (action_id)
  where members is not null;
select distribute('mass_action_records', 'shard');
