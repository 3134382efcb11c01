-- The figures for the public, by month. Only what may be published is stored: small numbers are
-- removed when a month is counted.
set local citus.multi_shard_modify_mode to 'sequential';

-- Whether anyone may open the page of figures.
alter table installation add column publishes_statistics boolean not null default false;

-- A month (UTC, its first day) is counted once, a week after its end, and never changes: otherwise
-- the difference between two counts would show the fate of a single report. Twelve rows a year.
create table statistic_months (
  month date not null,
  counted_at timestamptz not null,
  -- Null if the month had too few reports. See reports/month-figures.ts.
  figures jsonb,
  constraint statistic_months_pkey primary key (month),
  constraint statistic_months_first_day check (extract(day from month) = 1)
);
select keep_local('statistic_months');
