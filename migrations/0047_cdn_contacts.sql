-- Operators set contacts for CDNs, too.
set local citus.multi_shard_modify_mode to 'sequential';

alter table contact_overrides drop constraint contact_overrides_role_known;
alter table contact_overrides add constraint contact_overrides_role_known
  check (role in ('platform', 'cdn', 'registrar'));
