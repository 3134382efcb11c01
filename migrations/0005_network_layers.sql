-- Several contacts for a network, and answers of registries that grow old.
set local citus.multi_shard_modify_mode to 'sequential';

alter table networks add column contacts text[] not null default '{}';
alter table networks add column expires_at timestamptz;
