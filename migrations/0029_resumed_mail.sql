-- When sending last resumed after a refusal or a hang of our own mail server, or an operator had
-- all mail tried again. Processes then forget the failures of consumers that it may have caused.
set local citus.multi_shard_modify_mode to 'sequential';
alter table mail_relay add column resumed_at timestamptz;
