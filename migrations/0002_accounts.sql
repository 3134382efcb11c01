-- Who may report and who may administer. Passwords are argon2id hashes; tokens are kept as their
-- SHA-256 only (they are 256 random bits, so a fast hash is enough).
set local citus.multi_shard_modify_mode to 'sequential';

create table reporters (
  id uuid not null,
  email text not null,
  password_hash text,
  is_admin boolean not null,
  created_at timestamptz not null,
  constraint reporters_pkey primary key (id),
  constraint reporters_email_unique unique (email),
  constraint reporters_email_lower check (email = lower(email))
);
select reference('reporters');

create table tokens (
  token_hash bytea not null,
  reporter_id uuid not null,
  name text not null,
  created_at timestamptz not null,
  constraint tokens_pkey primary key (token_hash),
  constraint tokens_reporter_fkey foreign key (reporter_id) references reporters (id)
    on delete cascade
);
create index tokens_reporter_idx on tokens (reporter_id);
select reference('tokens');

-- Browser sessions: the shape connect-pg-simple expects.
create table sessions (
  sid varchar not null,
  sess json not null,
  expire timestamp(6) not null,
  constraint sessions_pkey primary key (sid)
);
create index sessions_expire_idx on sessions (expire);
select keep_local('sessions');
