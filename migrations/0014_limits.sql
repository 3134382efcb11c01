-- Limits on how often something may be attempted. Limits are rows, so that they change without a
-- restart. Recent attempts are counted here for all processes, in one row per limit and key.
set local citus.multi_shard_modify_mode to 'sequential';

create table rate_limits (
  name text collate "C" not null,
  attempt text not null,
  -- The kind of key by which attempts are counted.
  key_kind text not null,
  window_ms bigint not null,
  attempts_max integer not null,
  -- What happens to an attempt above the limit.
  behavior text not null,
  changed_at timestamptz not null,
  constraint rate_limits_pkey primary key (name),
  constraint rate_limits_attempt_known check (attempt in ('report', 'read', 'sign-in',
    'sign-in-device', 'password', 'sign-up', 'reset', 'confirm', 'enroll', 'lookup', 'webhook',
    'mail-in', 'form', 'letter-owner', 'letter-stranger', 'mailbox-user', 'provider')),
  constraint rate_limits_key_kind_known check (key_kind in ('reporter', 'token', 'device',
    'address', 'network', 'wide-network', 'name', 'name-and-address', 'name-and-network', 'all')),
  constraint rate_limits_window_divides
    check (window_ms between 600 and 86400000 and window_ms % 60 = 0),
  constraint rate_limits_attempts_positive check (attempts_max between 1 and 1000000000),
  constraint rate_limits_behavior_known check (behavior in ('refuse', 'shadow', 'off')),
  -- Only a report can get the usual response and have no effect.
  constraint rate_limits_shadow_reports
    check (behavior <> 'shadow' or attempt in ('report', 'mail-in', 'mailbox-user'))
);
select reference('rate_limits');

-- Far above what a plug-in or a person does: after a holiday, a plug-in sends a hundred reports a
-- minute. For sign-in, one network cannot use up the attempts on a name, and a browser that signed
-- in before has separate attempts. Letters that clients without an account can cause are limited
-- by network, by wider network and in total. Forms of clients that have not signed in are counted
-- before they are read: each started megabyte is one attempt. A mailbox user reports by hand, and
-- all users of one provider share the provider's limit.
insert into rate_limits
  (name, attempt, key_kind, window_ms, attempts_max, behavior, changed_at)
select name, attempt, key_kind, window_ms, attempts_max, behavior, now()
from (values
  ('report-minute', 'report', 'reporter', 60000, 1200, 'refuse'),
  ('report-day', 'report', 'reporter', 86400000, 50000, 'refuse'),
  ('report-token-minute', 'report', 'token', 60000, 1200, 'refuse'),
  ('report-address-minute', 'report', 'address', 60000, 3000, 'refuse'),
  ('mail-in-hour', 'mail-in', 'reporter', 3600000, 500, 'refuse'),
  ('mailbox-user-hour', 'mailbox-user', 'reporter', 3600000, 300, 'refuse'),
  ('mailbox-user-day', 'mailbox-user', 'reporter', 86400000, 1000, 'refuse'),
  ('provider-minute', 'provider', 'reporter', 60000, 6000, 'refuse'),
  ('provider-day', 'provider', 'reporter', 86400000, 500000, 'refuse'),
  ('read-minute', 'read', 'reporter', 60000, 1200, 'refuse'),
  ('read-address-minute', 'read', 'address', 60000, 3000, 'refuse'),
  ('form-address', 'form', 'address', 600000, 600, 'refuse'),
  ('form-network', 'form', 'network', 600000, 6000, 'refuse'),
  ('sign-in-here', 'sign-in', 'name-and-address', 600000, 20, 'refuse'),
  ('sign-in-near', 'sign-in', 'name-and-network', 3600000, 30, 'refuse'),
  ('sign-in-name', 'sign-in', 'name', 3600000, 120, 'refuse'),
  ('sign-in-address', 'sign-in', 'address', 600000, 60, 'refuse'),
  ('sign-in-network', 'sign-in', 'network', 600000, 600, 'refuse'),
  ('sign-in-device', 'sign-in-device', 'device', 600000, 20, 'refuse'),
  ('sign-in-device-day', 'sign-in-device', 'device', 86400000, 100, 'refuse'),
  ('password-here', 'password', 'name-and-address', 3600000, 1200, 'refuse'),
  ('password-name', 'password', 'name', 3600000, 3000, 'refuse'),
  ('password-address', 'password', 'address', 600000, 1200, 'refuse'),
  ('sign-up-address', 'sign-up', 'address', 3600000, 20, 'refuse'),
  ('sign-up-network', 'sign-up', 'network', 3600000, 200, 'refuse'),
  ('sign-up-wide-network', 'sign-up', 'wide-network', 3600000, 500, 'refuse'),
  ('sign-up-name', 'sign-up', 'name', 3600000, 10, 'refuse'),
  ('sign-up-all', 'sign-up', 'all', 3600000, 300, 'refuse'),
  ('reset-address', 'reset', 'address', 3600000, 20, 'refuse'),
  ('reset-network', 'reset', 'network', 3600000, 40, 'refuse'),
  ('reset-wide-network', 'reset', 'wide-network', 3600000, 100, 'refuse'),
  ('reset-name', 'reset', 'name', 3600000, 10, 'refuse'),
  ('confirm-address', 'confirm', 'address', 600000, 60, 'refuse'),
  ('enroll-network', 'enroll', 'network', 86400000, 20, 'refuse'),
  ('enroll-wide-network', 'enroll', 'wide-network', 86400000, 40, 'refuse'),
  ('lookup-minute', 'lookup', 'address', 60000, 60, 'refuse'),
  ('webhook-minute', 'webhook', 'reporter', 60000, 60, 'refuse'),
  ('letter-stranger-all', 'letter-stranger', 'all', 3600000, 200, 'refuse'),
  ('letter-owner-all', 'letter-owner', 'all', 3600000, 5000, 'refuse')
) as defaults (name, attempt, key_kind, window_ms, attempts_max, behavior);

-- The attempts counted under one limit and key. `counts` ends with the newest sub-window and begins
-- with one that is not empty. It has at most 61 elements: the window begins within the first one,
-- which is counted completely. The key is a keyed hash, so that no address can be read here.
create table rate_counts (
  key uuid not null,
  sub_window_ms integer not null,
  newest bigint not null,
  total bigint not null,
  counts integer[] not null,
  constraint rate_counts_pkey primary key (key),
  constraint rate_counts_counts_few check (cardinality(counts) between 1 and 61)
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05);
select keep_local('rate_counts');

create type rate_state as (newest bigint, total bigint, counts integer[]);

-- Returns the milliseconds since 1970 by the clock of the database, which is the same for all
-- processes; at least those of `not_before`.
create function present_ms(not_before timestamptz) returns bigint
language sql volatile parallel safe as $$
  select floor(extract(epoch from greatest(not_before, clock_timestamp())) * 1000)::bigint
$$;

-- Adds `amount` to the sub-window `present`. A sub-window before the newest is counted as the
-- newest: a clock that goes back forgets nothing. Old sub-windows are removed.
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

-- Reporters whose reports get the usual response and have no effect, until the ban is lifted.
create table shadow_bans (
  reporter_id uuid not null,
  reason text not null,
  imposed_at timestamptz not null,
  -- Null at the command line.
  imposed_by uuid,
  constraint shadow_bans_pkey primary key (reporter_id)
);
select distribute('shadow_bans', 'reporter_id');
