-- The changes of the secret of the installation, and what still needs a previous one.
set local citus.multi_shard_modify_mode to 'sequential';

create table secrets (
  number integer not null,
  -- Derived from the secret; reveals nothing about it.
  name text not null,
  in_force_at timestamptz not null,
  -- From then on it is accepted no more, because it is lost or others know it.
  ended_at timestamptz,
  -- How far "secret rotate" has come with encrypting again what is stored.
  progress jsonb,
  converted_at timestamptz,
  constraint secrets_pkey primary key (number),
  constraint secrets_name_unique unique (name)
);
select keep_local('secrets');

-- When something was last accepted with a previous secret.
create table secret_uses (
  name text not null,
  purpose text not null,
  last_at timestamptz not null,
  constraint secret_uses_pkey primary key (name, purpose)
);
select keep_local('secret_uses');
