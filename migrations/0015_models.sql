-- Versions of the model that has the last word of a verdict. None acts before an administrator
-- promotes it, and the one before it is a step away.
set local citus.multi_shard_modify_mode to 'sequential';

create table models (
  version integer not null,
  format text not null,
  -- As it was trained or imported; never changed.
  content bytea not null,
  -- What makes probabilities of what its trees say: slope and intercept.
  calibration jsonb not null,
  -- What was measured on messages it never saw; null of models from elsewhere.
  report jsonb,
  origin text not null,
  state text not null,
  trained_at timestamptz not null,
  -- When it was last promoted, and by whom; who rolls back goes to the one promoted before.
  promoted_at timestamptz,
  promoted_by uuid,
  constraint models_pkey primary key (version),
  constraint models_version_positive check (version > 0),
  constraint models_format_known check (format in ('ydf', 'catboost')),
  constraint models_state_known check (state in ('candidate', 'active', 'retired')),
  constraint models_promoted check ((state = 'candidate') = (promoted_at is null))
);
-- At most one acts.
create unique index models_active_idx on models (state) where state = 'active';
select keep_local('models');
