-- What became of a reporter's reports, by day: so that a page of statistics reads a row a day,
-- however many reports there are.
set local citus.multi_shard_modify_mode to 'sequential';

-- Reports to which something happened, a row for each statement that wrote so into their stories:
-- the days they came on are to be counted again. Nobody waits for anybody to append.
create table report_news (
  id uuid not null,
  report_ids uuid[] not null,
  constraint report_news_pkey primary key (id)
);
select keep_local('report_news');

-- Counted from the reports themselves, whole, and again when anything happened to one of them: so a
-- row can be late but never drift. A day is one of UTC, on which reports came.
create table reporter_days (
  reporter_id uuid not null,
  day date not null,
  -- When it is to be counted again; null while nothing has happened.
  due_at timestamptz,
  counted_at timestamptz,
  -- Of what was not taken back.
  spam integer not null default 0,
  phishing integer not null default 0,
  not_spam integer not null default 0,
  -- Told to somebody; kept; kept with a question; all else that was not taken back is under way.
  told integer not null default 0,
  kept integer not null default 0,
  asked integer not null default 0,
  retracted integer not null default 0,
  -- Feedback reports that left, by themselves or with others, and reports that were answered.
  mails integer not null default 0,
  answered integer not null default 0,
  -- [{asn, name, country, reports}], the most frequent first, and {country: reports}.
  networks jsonb not null default '[]',
  countries jsonb not null default '{}',
  constraint reporter_days_pkey primary key (reporter_id, day)
);
create index reporter_days_due_idx on reporter_days (due_at) where due_at is not null;
create index reporter_days_day_idx on reporter_days (day);
select distribute('reporter_days', 'reporter_id');
