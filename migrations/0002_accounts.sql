-- Accounts of reporters and administrators: sign-in, tokens, sessions, consent, erasure, and the
-- log of what administrators do. Passwords are stored as argon2id hashes. Tokens and secrets of
-- links are stored as SHA-256 hashes: they have 256 random bits, so a fast hash is enough.
set local citus.multi_shard_modify_mode to 'sequential';

create table reporters (
  id uuid not null,
  email text not null,
  password_hash text,
  -- The secret of the second factor, encrypted with a key derived from SECRET, so that a copy of
  -- the database does not produce codes.
  totp_secret bytea,
  -- The last period of 30 seconds whose code was accepted, so that no code is accepted twice.
  totp_step bigint,
  -- Null: a reporter. Each role includes the ones before it.
  role text,
  -- A disabled account can do nothing; `erasing` cannot be undone.
  state text not null default 'active',
  -- The language of the mail to this reporter.
  language text,
  -- Whether answers of abuse desks are sent to the reporter by mail.
  wants_answers boolean not null default false,
  -- Whether advice about marketers is sent to the reporter by mail.
  wants_advice boolean not null default true,
  -- The account of the mail provider that reports for this mailbox user. Such an account has no
  -- password, no token and no address that receives mail; a keyed hash names the user.
  provider_id uuid,
  created_at timestamptz not null,
  constraint reporters_pkey primary key (id),
  constraint reporters_email_unique unique (email),
  constraint reporters_provider_fkey foreign key (provider_id) references reporters (id)
    on delete set null,
  constraint reporters_email_lower check (email = lower(email)),
  constraint reporters_language_known check (language in ('en', 'fr', 'ru')),
  constraint reporters_role_known
    check (role in ('viewer', 'analyst', 'operator', 'administrator')),
  constraint reporters_state_known check (state in ('active', 'disabled', 'erasing'))
);
-- The few people with a role.
create index reporters_role_idx on reporters (role) where role is not null;
create index reporters_provider_idx on reporters (provider_id) where provider_id is not null;
-- Lists accounts, and searches them by the beginning of their addresses.
create index reporters_email_idx on reporters (email collate "C");
select reference('reporters');

-- Codes that replace the second factor when the device is lost; each works once.
create table recovery_codes (
  reporter_id uuid not null,
  code_hash bytea not null,
  constraint recovery_codes_pkey primary key (reporter_id, code_hash),
  constraint recovery_codes_owner_fkey foreign key (reporter_id) references reporters (id)
    on delete cascade
);
select reference('recovery_codes');

-- The versions of the privacy notice that a person accepted.
create table consents (
  reporter_id uuid not null,
  version text not null,
  language text not null,
  consented_at timestamptz not null,
  constraint consents_pkey primary key (reporter_id, version),
  constraint consents_owner_fkey foreign key (reporter_id) references reporters (id)
    on delete cascade,
  constraint consents_language_known check (language in ('en', 'fr', 'ru'))
);
select reference('consents');

-- Links that were mailed to prove an address. `subject` is the address of a sign-up, otherwise the
-- account. A newer link of a kind replaces the older one. `letters` counts the letters since
-- `letters_since`, so that repeated requests cannot fill a mailbox.
create table account_links (
  kind text not null,
  subject text not null,
  token_hash bytea not null,
  address text not null,
  reporter_id uuid,
  language text not null,
  consent text,
  consented_at timestamptz,
  letter_id uuid,
  letters integer not null,
  letters_since timestamptz not null,
  expires_at timestamptz not null,
  constraint account_links_pkey primary key (kind, subject),
  constraint account_links_token_unique unique (token_hash),
  constraint account_links_owner_fkey foreign key (reporter_id) references reporters (id)
    on delete cascade,
  constraint account_links_kind_known check (kind in ('confirm', 'reset', 'move', 'notice')),
  constraint account_links_language_known check (language in ('en', 'fr', 'ru'))
);
create index account_links_expires_idx on account_links (expires_at);
create index account_links_address_idx on account_links (address);
select reference('account_links');

create table tokens (
  token_hash bytea not null,
  -- Identifies a token on pages and in exports without revealing its hash.
  id uuid not null,
  reporter_id uuid not null,
  name text not null,
  -- What the token permits its owner as a reporter.
  scopes text[] not null,
  -- The role of the token; it never permits more than the role of the account.
  role text,
  created_at timestamptz not null,
  -- Updated at most once an hour, because each report would pay for it.
  used_at timestamptz,
  constraint tokens_pkey primary key (token_hash),
  constraint tokens_id_unique unique (id),
  constraint tokens_reporter_fkey foreign key (reporter_id) references reporters (id)
    on delete cascade,
  constraint tokens_scopes_known check (scopes <@ array['report', 'read', 'retract',
    'account', 'on-behalf']),
  constraint tokens_role_known
    check (role in ('viewer', 'analyst', 'operator', 'administrator')),
  constraint tokens_permit_something check (scopes <> '{}' or role is not null)
);
create index tokens_reporter_idx on tokens (reporter_id);
select reference('tokens');

-- Browser sessions: the first three columns are those that connect-pg-simple expects.
create table sessions (
  sid varchar not null,
  sess json not null,
  expire timestamp(6) not null,
  -- Finds the sessions of a person without reading all of them.
  reporter_id uuid generated always as ((sess ->> 'reporterId')::uuid) stored,
  constraint sessions_pkey primary key (sid)
);
create index sessions_expire_idx on sessions (expire);
create index sessions_reporter_idx on sessions (reporter_id) where reporter_id is not null;
select keep_local('sessions');

-- Erasures of accounts, in progress or done. The page of an erasure is found by the hash of the
-- secret in its address. `anonymous_id` replaces the person in reports that are kept.
create table erasures (
  id uuid not null,
  token_hash bytea not null,
  reporter_id uuid,
  anonymous_id uuid not null,
  how text not null,
  state text not null,
  -- The number of reports processed so far.
  done integer not null default 0,
  -- The last report processed; null before the first.
  after_id uuid,
  asked_at timestamptz not null,
  ended_at timestamptz,
  constraint erasures_pkey primary key (id),
  constraint erasures_token_unique unique (token_hash),
  constraint erasures_how_known check (how in ('keep', 'remove')),
  constraint erasures_state_known check (state in ('under-way', 'waiting', 'done')),
  constraint erasures_owner_until_done check ((state = 'done') = (reporter_id is null))
);
create index erasures_ended_idx on erasures (ended_at) where ended_at is not null;
select reference('erasures');

-- The actions of administrators.
create table audit_log (
  id uuid not null,
  at timestamptz not null,
  -- Null for an action at the command line.
  reporter_id uuid,
  action text not null,
  detail text not null,
  constraint audit_log_pkey primary key (id)
) partition by range (id);
select distribute('audit_log', 'id');
