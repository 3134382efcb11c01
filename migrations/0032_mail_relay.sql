-- How our own mail server takes our mail, for all processes, and what became of mail so far.
set local citus.multi_shard_modify_mode to 'sequential';

-- One row. While the server refuses our mail, or is away, nothing is sent before next_try_at.
create table mail_relay (
  id integer not null,
  -- Since when nothing was accepted after a refusal that is about us; null: the server takes mail.
  refused_since timestamptz,
  refused_at timestamptz,
  -- What the server said last.
  reply text,
  failures integer not null,
  next_try_at timestamptz,
  accepted_at timestamptz,
  constraint mail_relay_pkey primary key (id),
  constraint mail_relay_single check (id = 1)
);
select reference('mail_relay');
insert into mail_relay (id, failures) values (1, 0);

-- How many mails of a kind ended so, ever: rows of mails are dropped with their age, counters stay.
create table mail_totals (
  kind text not null,
  outcome text not null,
  total bigint not null,
  constraint mail_totals_pkey primary key (kind, outcome),
  constraint mail_totals_kind_known check (kind in ('feedback', 'letter')),
  constraint mail_totals_outcome_known check (outcome in ('sent', 'refused', 'bounced'))
);
select reference('mail_totals');
insert into mail_totals (kind, outcome, total)
select 'feedback', state, count(*) from feedback_reports
where state in ('sent', 'refused', 'bounced') group by state
union all
select 'letter', state, count(*) from letters
where state in ('sent', 'refused', 'bounced') group by state;
