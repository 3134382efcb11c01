-- When actions on many reports end for good, and how their reports ended.
set local citus.multi_shard_modify_mode to 'sequential';

-- When an action became final; null: its records may still exist. Actions of earlier versions have
-- no records.
alter table mass_actions add column settled_at timestamptz;
update mass_actions set settled_at = coalesce(ended_at, started_at) where state <> 'running';
-- Who undid it; null: nobody, or someone at the command line.
alter table mass_actions add column undone_by uuid;
create index mass_actions_open_idx on mass_actions (started_at) where settled_at is null;

-- What the action changed besides the report: the address of an origin, or the id of a reporter.
alter table mass_action_items add column subject text;
-- `notified`: undone, but a desk was notified before. `overtaken`: a later action decides about the
-- report. `gone`: the report was deleted.
alter table mass_action_items drop constraint mass_action_items_outcome_known;
alter table mass_action_items add constraint mass_action_items_outcome_known
  check (outcome in ('changed', 'unchanged', 'undone', 'notified', 'overtaken', 'gone'));
