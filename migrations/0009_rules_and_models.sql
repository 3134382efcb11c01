-- The sets of rules and the models that judge messages.
set local citus.multi_shard_modify_mode to 'sequential';

-- An applied set becomes a version that never changes. The newest version is used by every process;
-- going back to an earlier set makes a new version.
create table rule_sets (
  -- From 1. Before version 1, and where the content is null, the rules shipped with the program are
  -- used.
  version integer not null,
  content text,
  note text not null,
  applied_at timestamptz not null,
  -- Null at the command line.
  applied_by uuid,
  constraint rule_sets_pkey primary key (version),
  constraint rule_sets_version_counts check (version > 0)
);
select reference('rule_sets');

-- The version used by each process that judges, and the state of its rules. A process updates its
-- row regularly and deletes it when it ends; old rows belong to processes that were killed.
create table rule_processes (
  id uuid not null,
  name text not null,
  version integer not null,
  -- The model that it uses; null without one.
  model_version integer,
  -- Why the process does not use a newer version.
  fault text,
  -- Cost, errors and timeouts by rule.
  health jsonb not null,
  seen_at timestamptz not null,
  constraint rule_processes_pkey primary key (id)
);
select keep_local('rule_processes');

-- Versions of the model that has the last part in a verdict. A version is used only after an
-- administrator promoted it, and an administrator can roll back to the one promoted before.
create table models (
  version integer not null,
  format text not null,
  -- As trained or imported; never changed.
  content bytea not null,
  -- Slope and intercept that turn the output of the model into a probability.
  calibration jsonb not null,
  -- Measured on messages that were not used for training; null for an imported model.
  report jsonb,
  -- How many reports of each day it agreed with, as of the last night that it was active.
  agreement jsonb not null default '[]',
  origin text not null,
  state text not null,
  trained_at timestamptz not null,
  -- When it was last promoted, and by whom.
  promoted_at timestamptz,
  promoted_by uuid,
  constraint models_pkey primary key (version),
  constraint models_version_positive check (version > 0),
  constraint models_format_known check (format in ('linear', 'catboost')),
  constraint models_state_known check (state in ('candidate', 'active', 'retired')),
  constraint models_promoted check ((state = 'candidate') = (promoted_at is null))
);
-- At most one is active.
create unique index models_active_idx on models (state) where state = 'active';
select keep_local('models');
