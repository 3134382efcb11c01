-- What leaves besides a feedback report (letters: advice, answers to who writes to us), whom we no
-- longer write to, and how each consumer wants to be told.
set local citus.multi_shard_modify_mode to 'sequential';

-- A letter is composed when it becomes owed, in that transaction: it is small, and what it says
-- must not change while it waits. Its id makes its Message-ID and its return path.
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
  -- The far server's last words.
  reply text,
  encoding text not null,
  content bytea not null,
  constraint letters_pkey primary key (id),
  constraint letters_kind_known check (kind in ('advice', 'answer', 'enrollment', 'mail-in')),
  constraint letters_state_known
    check (state in ('queued', 'held', 'sent', 'bounced', 'refused', 'suppressed')),
  constraint letters_encoding_known check (encoding in ('identity', 'zstd'))
) partition by range (id);
create index letters_state_idx on letters (state, id);
create index letters_report_idx on letters (report_id) where report_id is not null;
alter table letters alter column content set storage external;
select distribute('letters', 'id');

-- Whom we no longer write to. What ends by itself is forgotten a while after it ended.
create table suppressions (
  address text not null,
  reason text not null,
  -- RFC 3463, of a bounce.
  status text,
  detail text not null,
  since timestamptz not null,
  -- Null: for good.
  until timestamptz,
  constraint suppressions_pkey primary key (address),
  constraint suppressions_address_lower check (address = lower(address)),
  constraint suppressions_reason_known
    check (reason in ('hard-bounce', 'soft-bounces', 'complaint', 'stop', 'operator'))
);
create index suppressions_until_idx on suppressions (until) where until is not null;
select reference('suppressions');

-- How a consumer is told: null limits are those of the program. `stopped` said stop, `paused` for a
-- while; `found` never asked for our reports.
alter table consumers drop constraint consumers_state_known;
alter table consumers add constraint consumers_state_known
  check (state in ('found', 'enrolled', 'paused', 'stopped'));
alter table consumers add column format text not null default 'arf';
alter table consumers add column form text not null default 'whole';
alter table consumers add column pace text not null default 'at-once';
alter table consumers add column hourly_max integer;
alter table consumers add column connections_max smallint;
alter table consumers add column paused_until timestamptz;
alter table consumers add constraint consumers_format_known check (format in ('arf', 'xarf'));
alter table consumers add constraint consumers_form_known check (form in ('whole', 'headers'));
alter table consumers add constraint consumers_pace_known
  check (pace in ('at-once', 'campaign', 'digest'));
alter table consumers add constraint consumers_hourly_max_positive check (hourly_max > 0);
alter table consumers add constraint consumers_connections_max_positive
  check (connections_max > 0);

-- `redeemed` takes back what was complained of before (RFC 6430). One that is `waiting` leaves when
-- its consumer's pace allows; one that is `merged` was told by another, whose incidents count it.
alter table feedback_reports add column kind text not null default 'complaint';
alter table feedback_reports add column incidents integer not null default 1;
alter table feedback_reports add column due_at timestamptz;
alter table feedback_reports add column merged_into uuid;
alter table feedback_reports add column merged_number smallint;
alter table feedback_reports drop constraint feedback_reports_consumer_unique;
alter table feedback_reports add constraint feedback_reports_consumer_unique
  unique (report_id, consumer_id, kind);
alter table feedback_reports add constraint feedback_reports_kind_known
  check (kind in ('complaint', 'redeemed'));
alter table feedback_reports add constraint feedback_reports_incidents_positive
  check (incidents > 0);
alter table feedback_reports add constraint feedback_reports_merged_whole
  check ((state = 'merged') = (merged_into is not null));
alter table feedback_reports drop constraint feedback_reports_state_known;
alter table feedback_reports add constraint feedback_reports_state_known check (state in
  ('waiting', 'queued', 'held', 'sent', 'bounced', 'refused', 'withdrawn', 'merged'));
create index feedback_reports_due_idx on feedback_reports (consumer_id, due_at)
  where state = 'waiting';

-- The language of the mail a reporter gets, and whether answers of abuse desks come by mail too.
alter table reporters add column language text;
alter table reporters add column wants_answers boolean not null default false;
alter table reporters add constraint reporters_language_known
  check (language in ('en', 'fr', 'ru'));
