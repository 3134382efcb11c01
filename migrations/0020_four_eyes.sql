-- Deletions of messages or reports that a second person must confirm.
set local citus.multi_shard_modify_mode to 'sequential';

create table proposed_deletions (
  id uuid not null,
  -- The name of the action, and the fields with which it runs when it is confirmed.
  action text not null,
  given jsonb not null,
  -- What it would do, as it will be in the audit log.
  detail text not null,
  -- Null: proposed at the command line.
  proposed_by uuid,
  proposed_at timestamptz not null,
  expires_at timestamptz not null,
  constraint proposed_deletions_pkey primary key (id)
);
select keep_local('proposed_deletions');
