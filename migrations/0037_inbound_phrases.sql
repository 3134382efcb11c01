-- The outcome of a mail is stored as codes with parameters. Older rows keep their English text.
set local citus.multi_shard_modify_mode to 'sequential';

alter table inbound_mails add column phrases jsonb;
