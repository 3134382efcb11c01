-- Feedback reports: whom we notified of a report, with which mail, and what the recipient answered.
set local citus.multi_shard_modify_mode to 'sequential';

-- `number` counts the feedback reports of one report. Report id and number make the VERP token. A
-- consumer may get several feedback reports of one report, because its reporter may change the kind
-- (complaint, redeemed, complaint). Two concurrent transactions that notify of the same report
-- cannot both commit, because they take the same number.
create table feedback_reports (
  report_id uuid not null,
  shard smallint not null,
  number smallint not null,
  consumer_id uuid not null,
  -- `redeemed` takes back an earlier complaint (RFC 6430).
  kind text not null default 'complaint',
  -- The role in which the consumer is notified: as the abuse desk of the network, at the author's
  -- wish (RFC 9477), as the marketer, or as enrolled for the domain that signed the message.
  told_as text not null default 'network',
  -- Whether opaque tokens stay in the message, for the recipient that issued them.
  keeps_tokens boolean not null default false,
  -- `waiting`: sent when the consumer's pace allows. `merged`: another feedback report represents
  -- it and counts it in its incidents. `shadowed`: never sent, shown to the reporter as not sent
  -- yet.
  state text not null,
  address text not null,
  incidents integer not null default 1,
  -- A digest lists the reports merged into it one by one, not as incidents of one campaign.
  is_digest boolean not null default false,
  merged_into uuid,
  merged_number smallint,
  created_at timestamptz not null,
  due_at timestamptz,
  finished_at timestamptz,
  message_id text,
  reply text,
  bounced_at timestamptz,
  bounce_status text,
  bounce_reason text,
  constraint feedback_reports_pkey primary key (report_id, number, shard),
  constraint feedback_reports_consumer_fkey foreign key (consumer_id) references consumers (id),
  constraint feedback_reports_number_positive check (number between 1 and 255),
  constraint feedback_reports_kind_known check (kind in ('complaint', 'redeemed')),
  constraint feedback_reports_told_as_known
    check (told_as in ('network', 'cfbl', 'marketer', 'domain')),
  constraint feedback_reports_state_known check (state in
    ('waiting', 'queued', 'held', 'sent', 'bounced', 'refused', 'withdrawn', 'merged',
      'shadowed')),
  constraint feedback_reports_incidents_positive check (incidents > 0),
  constraint feedback_reports_merged_whole
    check ((state = 'merged') = (merged_into is not null))
) partition by range (report_id);
create index feedback_reports_state_idx on feedback_reports (state, report_id);
create index feedback_reports_consumer_idx on feedback_reports (consumer_id, report_id);
create index feedback_reports_due_idx on feedback_reports (consumer_id, due_at)
  where state = 'waiting';
create index feedback_reports_merged_idx on feedback_reports (merged_into, merged_number)
  where merged_into is not null;
select distribute('feedback_reports', 'shard');

-- The exact mail that was sent, or that is held.
create table feedback_messages (
  report_id uuid not null,
  shard smallint not null,
  number smallint not null,
  encoding text not null,
  content bytea not null,
  constraint feedback_messages_pkey primary key (report_id, number, shard),
  constraint feedback_messages_encoding_known check (encoding in ('identity', 'zstd'))
) partition by range (report_id);
alter table feedback_messages alter column content set storage external;
select distribute('feedback_messages', 'shard');

-- The answers of abuse desks to our feedback reports, each kind once.
create table feedback_answers (
  report_id uuid not null,
  shard smallint not null,
  number smallint not null,
  answer text not null,
  how text not null,
  at timestamptz not null,
  -- Text as written by the desk.
  said text,
  -- The mail that contained the answer.
  mail_id uuid,
  constraint feedback_answers_pkey primary key (report_id, number, answer, shard),
  constraint feedback_answers_answer_known
    check (answer in ('resolved', 'not-ours', 'wrong', 'stop')),
  constraint feedback_answers_how_known check (how in ('link', 'one-click', 'mail', 'operator'))
) partition by range (report_id);
select distribute('feedback_answers', 'shard');
