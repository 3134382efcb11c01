-- Mail to reporters about their reports.
set local citus.multi_shard_modify_mode to 'sequential';

-- Answers of abuse desks, and questions about reports. A letter contains all news that is due.
create table reporter_news (
  reporter_id uuid not null,
  report_id uuid not null,
  -- A question to the reporter, or the answer of a desk.
  kind text not null,
  -- The domain of the desk; empty for a question.
  desk text not null,
  at timestamptz not null,
  -- When a letter may contain it: a question that is answered on the page needs none.
  due_at timestamptz not null,
  -- When a letter contained it; null: not yet.
  mailed_at timestamptz,
  constraint reporter_news_pkey primary key (reporter_id, report_id, kind, desk),
  constraint reporter_news_kind_known
    check (kind in ('question', 'resolved', 'not-ours', 'wrong', 'stop'))
);
create index reporter_news_due_idx on reporter_news (due_at) where mailed_at is null;
create index reporter_news_at_idx on reporter_news (at);
select distribute('reporter_news', 'reporter_id');

-- Applies to new accounts; those that exist keep what they chose.
alter table reporters alter column wants_answers set default true;
alter table reporters add column wants_summary boolean not null default false;
-- The first day of the last month about which a summary was sent.
alter table reporters add column summarized_month date;
create index reporters_summary_idx on reporters (id) where wants_summary;

-- `news` replaces `answer`, which old letters still have.
alter table letters drop constraint letters_kind_known;
alter table letters add constraint letters_kind_known
  check (kind in ('advice', 'answer', 'enrollment', 'mail-in', 'account', 'news', 'summary'));
drop index letters_answers_idx;
