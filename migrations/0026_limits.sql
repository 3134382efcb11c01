-- How often somebody may do something. Limits are rows, so that they change without a restart; what
-- was done of late is counted here for all processes, one row for each limit and key.
set local citus.multi_shard_modify_mode to 'sequential';

create table rate_limits (
  name text collate "C" not null,
  attempt text not null,
  -- By what attempts are told apart.
  key_kind text not null,
  window_ms bigint not null,
  attempts_max integer not null,
  -- What becomes of who is above it.
  behavior text not null,
  changed_at timestamptz not null,
  constraint rate_limits_pkey primary key (name),
  constraint rate_limits_attempt_known check (attempt in ('report', 'read', 'sign-in', 'password',
    'sign-up', 'reset', 'confirm', 'lookup', 'webhook', 'mail-in')),
  constraint rate_limits_key_kind_known
    check (key_kind in ('reporter', 'token', 'address', 'network', 'name', 'name-and-address')),
  constraint rate_limits_window_divides
    check (window_ms between 600 and 86400000 and window_ms % 60 = 0),
  constraint rate_limits_attempts_positive check (attempts_max between 1 and 1000000000),
  constraint rate_limits_behavior_known check (behavior in ('refuse', 'shadow', 'off')),
  -- Only what comes in can be answered as usual and put aside.
  constraint rate_limits_shadow_reports
    check (behavior <> 'shadow' or attempt in ('report', 'mail-in'))
);
select reference('rate_limits');

-- Far above what a plug-in or a person does: after a holiday a hundred reports come in a minute.
insert into rate_limits
  (name, attempt, key_kind, window_ms, attempts_max, behavior, changed_at)
select name, attempt, key_kind, window_ms, attempts_max, behavior, now()
from (values
  ('report-minute', 'report', 'reporter', 60000, 1200, 'refuse'),
  ('report-day', 'report', 'reporter', 86400000, 50000, 'refuse'),
  ('report-token-minute', 'report', 'token', 60000, 1200, 'refuse'),
  ('report-address-minute', 'report', 'address', 60000, 3000, 'refuse'),
  ('mail-in-hour', 'mail-in', 'reporter', 3600000, 500, 'refuse'),
  ('read-minute', 'read', 'reporter', 60000, 1200, 'refuse'),
  ('read-address-minute', 'read', 'address', 60000, 3000, 'refuse'),
  ('sign-in-here', 'sign-in', 'name-and-address', 600000, 20, 'refuse'),
  ('sign-in-name', 'sign-in', 'name', 3600000, 120, 'refuse'),
  ('sign-in-address', 'sign-in', 'address', 600000, 60, 'refuse'),
  ('sign-in-network', 'sign-in', 'network', 600000, 600, 'refuse'),
  ('password-here', 'password', 'name-and-address', 3600000, 1200, 'refuse'),
  ('password-name', 'password', 'name', 3600000, 3000, 'refuse'),
  ('password-address', 'password', 'address', 600000, 1200, 'refuse'),
  ('sign-up-address', 'sign-up', 'address', 3600000, 20, 'refuse'),
  ('sign-up-network', 'sign-up', 'network', 3600000, 200, 'refuse'),
  ('sign-up-name', 'sign-up', 'name', 3600000, 10, 'refuse'),
  ('reset-address', 'reset', 'address', 3600000, 20, 'refuse'),
  ('reset-name', 'reset', 'name', 3600000, 10, 'refuse'),
  ('confirm-address', 'confirm', 'address', 600000, 60, 'refuse'),
  ('lookup-minute', 'lookup', 'address', 60000, 60, 'refuse'),
  ('webhook-minute', 'webhook', 'reporter', 60000, 60, 'refuse')
) as defaults (name, attempt, key_kind, window_ms, attempts_max, behavior);

-- The attempts under one limit with one key. `counts` ends with the newest sub-window and begins
-- with one in which something was counted; there are 61, because the edge of the window cuts the
-- first, which counts whole. The key is a keyed hash: nobody's address can be read here.
create table rate_counts (
  key uuid not null,
  sub_window_ms integer not null,
  newest bigint not null,
  total bigint not null,
  counts integer[] not null,
  constraint rate_counts_pkey primary key (key),
  constraint rate_counts_counts_few check (cardinality(counts) between 1 and 61)
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05);
select distribute('rate_counts', 'key');

create type rate_state as (newest bigint, total bigint, counts integer[]);

-- Milliseconds since 1970 by the clock of the database, which is one for all processes; at least
-- those of `not_before`.
create function present_ms(not_before timestamptz) returns bigint
language sql volatile parallel safe as $$
  select floor(extract(epoch from greatest(not_before, clock_timestamp())) * 1000)::bigint
$$;

-- What was counted, and `amount` more in the sub-window `present`. One that lies before the newest
-- counts as the newest: a clock that goes back forgets nothing. Old sub-windows fall off.
create function count_attempts(
  newest bigint, total bigint, counts integer[], present bigint, amount bigint
) returns rate_state language plpgsql immutable parallel safe as $$
declare
  length integer := cardinality(counts);
  gap bigint := present - newest;
  drops integer;
begin
  if gap <= 0 then
    counts[length] := least(1000000000, counts[length] + amount);
    return row(newest, total + amount, counts)::rate_state;
  end if;
  drops := least(length, greatest(0, length + gap - 61));
  while drops < length and counts[drops + 1] = 0 loop
    drops := drops + 1;
  end loop;
  if drops >= length then
    return row(present, amount, array[least(1000000000, amount)])::rate_state;
  end if;
  if drops > 0 then
    for dropped in 1..drops loop
      total := total - counts[dropped];
    end loop;
    counts := counts[drops + 1:];
  end if;
  counts := counts || array_fill(0, array[gap::integer - 1]) || least(1000000000, amount)::integer;
  return row(present, total + amount, counts)::rate_state;
end $$;

-- Reporters whose reports are answered as usual and put aside, until the ban is lifted.
create table shadow_bans (
  reporter_id uuid not null,
  reason text not null,
  imposed_at timestamptz not null,
  -- Null at the command line.
  imposed_by uuid,
  constraint shadow_bans_pkey primary key (reporter_id)
);
select distribute('shadow_bans', 'reporter_id');

-- What was put aside: built as reports and raw_messages are, so that writing them takes as long.
-- Their keys are in report_keys: the same bytes are the same report.
create table shadowed_reports (
  id uuid not null,
  reporter_id uuid not null,
  channel text not null,
  kind text not null,
  -- What its reporter sees.
  state text not null,
  received_at timestamptz not null,
  message_bytes integer not null,
  author text,
  subject text,
  message_id text,
  dated_at timestamptz,
  comment text,
  received_via cidr[] not null,
  -- Only its reporter still sees it, until its week is past retention.
  is_dropped boolean not null default false,
  constraint shadowed_reports_pkey primary key (id),
  constraint shadowed_reports_channel_known
    check (channel in ('api', 'signaler', 'form', 'mail')),
  constraint shadowed_reports_kind_known check (kind in ('spam', 'phishing', 'not-spam')),
  constraint shadowed_reports_state_known check (state in ('received', 'kept', 'retracted'))
) partition by range (id);
create index shadowed_reports_state_idx on shadowed_reports (state, id);
create index shadowed_reports_reporter_idx on shadowed_reports (reporter_id, id);
create index shadowed_reports_author_idx on shadowed_reports (author, id) where author is not null;
select distribute('shadowed_reports', 'id');

create table shadowed_messages (
  id uuid not null,
  encoding text not null,
  content bytea not null,
  constraint shadowed_messages_pkey primary key (id),
  constraint shadowed_messages_encoding_known check (encoding in ('identity', 'zstd'))
) partition by range (id);
alter table shadowed_messages alter column content set storage external;
select distribute('shadowed_messages', 'id');
