-- What one installation has alone. Shingles are hashed under a seed of its own: with one that
-- stands in the source, a stranger could make a piece that counts as somebody else's.
set local citus.multi_shard_modify_mode to 'sequential';

-- One row, which the program writes when it migrates and never changes: all that is counted is
-- counted under this seed. Unsigned to the program, signed here.
create table installation (
  is_only boolean not null,
  shingle_seed bigint not null,
  constraint installation_pkey primary key (is_only),
  constraint installation_once check (is_only)
);
select keep_local('installation');
