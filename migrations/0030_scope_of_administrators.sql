-- A token has the rights of an administrator only with the scope "admin". Tokens made before this
-- do not have it.
set local citus.multi_shard_modify_mode to 'sequential';

alter table tokens drop constraint tokens_scopes_known;
alter table tokens add constraint tokens_scopes_known
  check (scopes <@ array['report', 'read', 'retract', 'account', 'admin'] and scopes <> '{}');
