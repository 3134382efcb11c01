-- What a mail that came in was sent for, by the address of ours that it came to; which ones were
-- handed over before; and the addresses to which reporters send what they report.
set local citus.multi_shard_modify_mode to 'sequential';

-- What came before this came to return paths of feedback reports: nothing else was taken.
alter table inbound_mails add column purpose text not null default 'feedback-bounce';
alter table inbound_mails alter column purpose drop default;
alter table inbound_mails add column letter_id uuid;
alter table inbound_mails add column reporter_id uuid;
-- The machine that handed it over; null from a pipe.
alter table inbound_mails add column peer_ip inet;
alter table inbound_mails add constraint inbound_mails_purpose_known check (purpose in
  ('feedback-bounce', 'feedback-answer', 'letter-bounce', 'letter-answer', 'mail-in', 'other'));
alter table inbound_mails add constraint inbound_mails_mail_in_whole
  check (purpose <> 'mail-in' or reporter_id is not null);

-- Who lost our 250 hands the same mail over again: the hash of its recipient and its bytes.
-- Forgotten after days, longer than mail servers try.
create table inbound_keys (
  key_hash bytea not null,
  mail_id uuid not null,
  created_at timestamptz not null,
  constraint inbound_keys_pkey primary key (key_hash)
);
create index inbound_keys_created_idx on inbound_keys (created_at);
select distribute('inbound_keys', 'key_hash');

-- The address is made of our secret, the reporter and the generation: nothing here tells it, the
-- hash only finds it. A new generation ends the address before it.
create table mail_in_addresses (
  reporter_id uuid not null,
  generation integer not null,
  secret_hash bytea not null,
  since timestamptz not null,
  -- When a mail to it was last answered with what was wrong: there is a limit.
  answered_at timestamptz,
  -- When the reporter was told that the first report by mail arrived.
  confirmed_at timestamptz,
  constraint mail_in_addresses_pkey primary key (reporter_id),
  constraint mail_in_addresses_secret_unique unique (secret_hash),
  constraint mail_in_addresses_reporter_fkey foreign key (reporter_id) references reporters (id)
    on delete cascade,
  constraint mail_in_addresses_generation_positive check (generation > 0)
);
select reference('mail_in_addresses');
