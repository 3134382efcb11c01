-- Mail besides feedback reports: letters that we send, mail that we receive, the addresses to which
-- reporters send what they report, and the state of our own mail server.
set local citus.multi_shard_modify_mode to 'sequential';

-- A letter is composed in the transaction that decides to send it: it is small, and its text must
-- not change while it waits. Message-ID and return path are made of its id.
create table letters (
  id uuid not null,
  kind text not null,
  state text not null,
  address text not null,
  reporter_id uuid,
  report_id uuid,
  consumer_id uuid,
  created_at timestamptz not null,
  finished_at timestamptz,
  -- The last response of the receiving server.
  reply text,
  encoding text not null,
  content bytea not null,
  constraint letters_pkey primary key (id),
  constraint letters_kind_known
    check (kind in ('advice', 'answer', 'enrollment', 'mail-in', 'account')),
  constraint letters_state_known
    check (state in ('queued', 'held', 'sent', 'bounced', 'refused', 'suppressed')),
  constraint letters_encoding_known check (encoding in ('identity', 'zstd'))
) partition by range (id);
create index letters_state_idx on letters (state, id);
create index letters_report_idx on letters (report_id) where report_id is not null;
-- All letters to a person, for exports and erasure.
create index letters_reporter_idx on letters (reporter_id, id) where reporter_id is not null;
create index letters_address_idx on letters (address, id);
-- Counts the recent letters with answers to a reporter: a desk that answers without end cannot fill
-- a mailbox.
create index letters_answers_idx on letters (reporter_id, id) where kind = 'answer';
alter table letters alter column content set storage external;
select distribute('letters', 'id');

-- Received mail: bounces, complaints, answers and reports. Stored before its receipt is confirmed
-- to the SMTP client.
create table inbound_mails (
  id uuid not null,
  received_at timestamptz not null,
  mail_from text not null,
  rcpt_to text not null,
  -- The address of the client that delivered it; null for a pipe.
  peer_ip inet,
  -- The purpose for which the receiving address was issued.
  purpose text not null,
  -- What the mail refers to: a feedback report, a letter, or the reporter that sent it.
  report_id uuid,
  number smallint,
  letter_id uuid,
  reporter_id uuid,
  matched_by text,
  state text not null,
  kind text,
  subject text,
  author text,
  message_id text,
  answer text,
  ticket text,
  -- The text written by the author, truncated.
  said text,
  -- What was done with the mail, as codes with parameters (phrase.ts); null until it is handled.
  phrases jsonb,
  -- Whether an operator should read it; `handled_at` is null until one did.
  needs_look boolean not null default false,
  handled_at timestamptz,
  handled_by uuid,
  encoding text not null,
  content bytea not null,
  constraint inbound_mails_pkey primary key (id),
  constraint inbound_mails_purpose_known check (purpose in
    ('feedback-bounce', 'feedback-answer', 'letter-bounce', 'letter-answer', 'mail-in', 'other')),
  constraint inbound_mails_mail_in_whole
    check (purpose <> 'mail-in' or reporter_id is not null),
  constraint inbound_mails_matched_by_known
    check (matched_by in ('recipient', 'envelope-id', 'message-id', 'return-path', 'reference')),
  constraint inbound_mails_state_known check (state in ('received', 'handled', 'failed')),
  constraint inbound_mails_answer_known
    check (answer in ('resolved', 'not-ours', 'wrong', 'stop')),
  constraint inbound_mails_encoding_known check (encoding in ('identity', 'zstd'))
) partition by range (id);
create index inbound_mails_state_idx on inbound_mails (state, id);
create index inbound_mails_kind_idx on inbound_mails (kind, id);
create index inbound_mails_look_idx on inbound_mails (id) where needs_look and handled_at is null;
create index inbound_mails_unmatched_idx on inbound_mails (id)
  where matched_by is null and state = 'handled';
create index inbound_mails_thread_idx on inbound_mails (report_id, number)
  where report_id is not null;
create index inbound_mails_letter_idx on inbound_mails (letter_id) where letter_id is not null;
create index inbound_mails_reporter_idx on inbound_mails (reporter_id, id)
  where reporter_id is not null;
alter table inbound_mails alter column content set storage external;
select distribute('inbound_mails', 'id');

-- Mails received before, by the hash of recipient and bytes: a client that did not get our 250
-- sends the same mail again. Deleted after some days, longer than mail servers retry.
create table inbound_keys (
  key_hash bytea not null,
  mail_id uuid not null,
  created_at timestamptz not null,
  constraint inbound_keys_pkey primary key (key_hash)
);
create index inbound_keys_created_idx on inbound_keys (created_at);
select distribute('inbound_keys', 'key_hash');

-- The addresses to which reporters send what they report. An address is derived from SECRET, the
-- reporter and the generation; it is found by its hash and cannot be read here. A new generation
-- ends the address before it.
create table mail_in_addresses (
  reporter_id uuid not null,
  generation integer not null,
  secret_hash bytea not null,
  since timestamptz not null,
  -- When an unusable mail to the address was last answered; such answers are limited.
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

-- One row: whether our own mail server accepts our mail, for all processes. While it refuses our
-- mail or is unavailable, nothing is sent before `next_try_at`.
create table mail_relay (
  id integer not null,
  -- The first refusal that concerns ourselves since the last accepted mail; null: the server
  -- accepts mail.
  refused_since timestamptz,
  refused_at timestamptz,
  -- The last response of the server.
  reply text,
  failures integer not null,
  next_try_at timestamptz,
  accepted_at timestamptz,
  constraint mail_relay_pkey primary key (id),
  constraint mail_relay_single check (id = 1)
);
select keep_local('mail_relay');
insert into mail_relay (id, failures) values (1, 0);

-- The number of mails by kind and outcome since the installation: mails are deleted with age, their
-- totals are not.
create table mail_totals (
  kind text not null,
  outcome text not null,
  total bigint not null,
  constraint mail_totals_pkey primary key (kind, outcome),
  constraint mail_totals_kind_known check (kind in ('feedback', 'letter')),
  constraint mail_totals_outcome_known check (outcome in ('sent', 'refused', 'bounced'))
);
select keep_local('mail_totals');
