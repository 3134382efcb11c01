-- One network cannot use up the attempts on a name, a browser that signed in before has its own,
-- and letters that strangers ask for are limited by network, by wider network and over all.
set local citus.multi_shard_modify_mode to 'sequential';

alter table rate_limits drop constraint rate_limits_attempt_known;
alter table rate_limits add constraint rate_limits_attempt_known check (attempt in ('report',
  'read', 'sign-in', 'sign-in-device', 'password', 'sign-up', 'reset', 'confirm', 'enroll',
  'lookup', 'webhook', 'mail-in', 'form', 'letter-owner', 'letter-stranger'));
alter table rate_limits drop constraint rate_limits_key_kind_known;
alter table rate_limits add constraint rate_limits_key_kind_known check (key_kind in ('reporter',
  'token', 'device', 'address', 'network', 'wide-network', 'name', 'name-and-address',
  'name-and-network', 'all'));

insert into rate_limits
  (name, attempt, key_kind, window_ms, attempts_max, behavior, changed_at)
select name, attempt, key_kind, window_ms, attempts_max, behavior, now()
from (values
  ('sign-in-near', 'sign-in', 'name-and-network', 3600000, 30, 'refuse'),
  ('sign-in-device', 'sign-in-device', 'device', 600000, 20, 'refuse'),
  ('sign-in-device-day', 'sign-in-device', 'device', 86400000, 100, 'refuse'),
  ('sign-up-wide-network', 'sign-up', 'wide-network', 3600000, 500, 'refuse'),
  ('sign-up-all', 'sign-up', 'all', 3600000, 300, 'refuse'),
  ('reset-network', 'reset', 'network', 3600000, 40, 'refuse'),
  ('reset-wide-network', 'reset', 'wide-network', 3600000, 100, 'refuse'),
  ('enroll-network', 'enroll', 'network', 86400000, 20, 'refuse'),
  ('enroll-wide-network', 'enroll', 'wide-network', 86400000, 40, 'refuse'),
  ('letter-stranger-all', 'letter-stranger', 'all', 3600000, 200, 'refuse'),
  ('letter-owner-all', 'letter-owner', 'all', 3600000, 5000, 'refuse')
) as defaults (name, attempt, key_kind, window_ms, attempts_max, behavior);
