-- What abuse desks say to our feedback reports, each thing once, and what is needed to file mail
-- that comes back: how it was matched, what it says of itself, and who looked after it.
set local citus.multi_shard_modify_mode to 'sequential';

create table feedback_answers (
  report_id uuid not null,
  number smallint not null,
  answer text not null,
  how text not null,
  at timestamptz not null,
  -- In a stranger's own words.
  said text,
  -- The mail it came in.
  mail_id uuid,
  constraint feedback_answers_pkey primary key (report_id, number, answer),
  constraint feedback_answers_answer_known
    check (answer in ('resolved', 'not-ours', 'wrong', 'stop')),
  constraint feedback_answers_how_known check (how in ('link', 'one-click', 'mail', 'operator'))
) partition by range (report_id);
select distribute('feedback_answers', 'report_id');

-- `needs_look`: an operator should see it; until one did, handled_at is null.
alter table inbound_mails add column matched_by text;
alter table inbound_mails add column subject text;
alter table inbound_mails add column author text;
alter table inbound_mails add column message_id text;
alter table inbound_mails add column answer text;
alter table inbound_mails add column ticket text;
-- What its author wrote, cut.
alter table inbound_mails add column said text;
-- A sentence: what was done with it.
alter table inbound_mails add column outcome text;
alter table inbound_mails add column needs_look boolean not null default false;
alter table inbound_mails add column handled_at timestamptz;
alter table inbound_mails add column handled_by uuid;
alter table inbound_mails add constraint inbound_mails_matched_by_known
  check (matched_by in ('recipient', 'envelope-id', 'message-id', 'return-path', 'reference'));
alter table inbound_mails add constraint inbound_mails_answer_known
  check (answer in ('resolved', 'not-ours', 'wrong', 'stop'));
create index inbound_mails_kind_idx on inbound_mails (kind, id);
create index inbound_mails_look_idx on inbound_mails (id) where needs_look and handled_at is null;
create index inbound_mails_thread_idx on inbound_mails (report_id, number)
  where report_id is not null;
create index inbound_mails_unmatched_idx on inbound_mails (id)
  where matched_by is null and state = 'handled';
