-- People make their own accounts: links by mail that prove an address, what somebody agreed to,
-- second steps, tokens that are allowed only some things, sessions that can be told apart, and
-- accounts that are erased.
set local citus.multi_shard_modify_mode to 'sequential';

-- A disabled account can do nothing; one that is being erased has no way back.
alter table reporters add column state text not null default 'active';
alter table reporters add constraint reporters_state_known
  check (state in ('active', 'disabled', 'erasing'));
-- Accounts are listed and sought by the beginning of their addresses.
create index reporters_email_idx on reporters (email collate "C");
-- The secret of the second step, sealed with a key made of SECRET, so that a copy of the database
-- gives no codes; and the last thirty seconds of which a code was taken, so that none works twice.
alter table reporters add column totp_secret bytea;
alter table reporters add column totp_step bigint;

-- For who has lost the device: each works once.
create table recovery_codes (
  reporter_id uuid not null,
  code_hash bytea not null,
  constraint recovery_codes_pkey primary key (reporter_id, code_hash),
  constraint recovery_codes_owner_fkey foreign key (reporter_id) references reporters (id)
    on delete cascade
);
select reference('recovery_codes');

-- To which text somebody said yes, and when.
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

-- Links that were mailed to prove an address. `subject` is what one is for: the address of a
-- sign-up, else the account. A newer link of a kind takes the place of the older one, and the
-- letters of a day are counted here, so that nobody's mailbox can be filled by asking again.
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

-- What a token may do. Those made before this were meant for reports.
alter table tokens add column scopes text[] not null default '{report,read,retract}';
alter table tokens alter column scopes drop default;
alter table tokens add constraint tokens_scopes_known
  check (scopes <@ array['report', 'read', 'retract', 'account'] and scopes <> '{}');
-- Written once an hour at most: each report would pay for it.
alter table tokens add column used_at timestamptz;
-- Names a token on pages and in exports without telling its hash.
alter table tokens add column id uuid;
update tokens set id = substr(encode(token_hash, 'hex'), 1, 32)::uuid;
alter table tokens alter column id set not null;
alter table tokens add constraint tokens_id_unique unique (id);

-- The sessions of a person, found without reading all of them.
alter table sessions add column reporter_id uuid
  generated always as ((sess ->> 'reporterId')::uuid) stored;
create index sessions_reporter_idx on sessions (reporter_id) where reporter_id is not null;

-- An erasure on its way, or done: its page is found by the hash of a secret in the address.
-- `anonymous_id` stands in reports that stay, in place of the person.
create table erasures (
  id uuid not null,
  token_hash bytea not null,
  reporter_id uuid,
  anonymous_id uuid not null,
  how text not null,
  state text not null,
  done integer not null default 0,
  -- The last report of the walk under way; null: it begins.
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

-- Letters about an account, and all letters and mails of a person for who takes them along or wants
-- them gone.
alter table letters drop constraint letters_kind_known;
alter table letters add constraint letters_kind_known
  check (kind in ('advice', 'answer', 'enrollment', 'mail-in', 'account'));
create index letters_reporter_idx on letters (reporter_id, id) where reporter_id is not null;
create index letters_address_idx on letters (address, id);
create index inbound_mails_reporter_idx on inbound_mails (reporter_id, id)
  where reporter_id is not null;
create index inbound_mails_letter_idx on inbound_mails (letter_id) where letter_id is not null;
