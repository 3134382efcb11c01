-- Forms of clients that have not signed in are counted before they are read: each begun megabyte
-- counts as one attempt.
set local citus.multi_shard_modify_mode to 'sequential';

alter table rate_limits drop constraint rate_limits_attempt_known;
alter table rate_limits add constraint rate_limits_attempt_known
  check (attempt in ('report', 'read', 'sign-in', 'password', 'sign-up', 'reset', 'confirm',
    'lookup', 'webhook', 'mail-in', 'form'));

insert into rate_limits
  (name, attempt, key_kind, window_ms, attempts_max, behavior, changed_at)
select name, attempt, key_kind, window_ms, attempts_max, behavior, now()
from (values
  ('form-address', 'form', 'address', 600000, 600, 'refuse'),
  ('form-network', 'form', 'network', 600000, 6000, 'refuse')
) as defaults (name, attempt, key_kind, window_ms, attempts_max, behavior);
