-- Where each table is stored when PostgreSQL is distributed by Citus, and what an installation
-- keeps about itself. On one machine the helpers only record the placement, so that a test can
-- check every table against the rules for a distributable schema.
set local citus.multi_shard_modify_mode to 'sequential';

create table table_placements (
  table_name text not null,
  placement text not null,
  distribution_key text,
  constraint table_placements_pkey primary key (table_name),
  constraint table_placements_placement_known
    check (placement in ('distributed', 'reference', 'local')),
  constraint table_placements_key_given
    check ((placement = 'distributed') = (distribution_key is not null))
);

-- Distributes a table over the nodes by the hash of one column, colocated with every table that is
-- distributed by a column of the same type.
create function distribute(target text, key text) returns void language plpgsql as $$
begin
  if exists (select from pg_extension where extname = 'citus') then
    execute format('select create_distributed_table(%L, %L)', target, key);
  end if;
  insert into table_placements (table_name, placement, distribution_key)
  values (target, 'distributed', key);
end $$;

-- Copies a small table to every node.
create function reference(target text) returns void language plpgsql as $$
begin
  if exists (select from pg_extension where extname = 'citus') then
    execute format('select create_reference_table(%L)', target);
  end if;
  insert into table_placements (table_name, placement) values (target, 'reference');
end $$;

-- Keeps a table on the coordinator.
create function keep_local(target text) returns void language sql as $$
  insert into table_placements (table_name, placement) values (target, 'local');
$$;

select keep_local('table_placements');

-- Returns the shard of an id: its last hexadecimal digit, 0 to 15. Tables whose rows have the id of
-- a report or of a campaign have it in a column and are distributed by it, so that all rows of a
-- report, and reports that arrive together, are on one node. The program computes the column itself
-- (`shardOf` in world.ts).
create function shard_of(id uuid) returns smallint language sql immutable parallel safe
  return (get_byte(uuid_send(id), 15) & 15)::smallint;

-- Returns the bytes on disk of a table with its partitions, indexes and TOAST. The size of a table
-- that is stored on other nodes is queried there.
create function table_bytes(target text) returns bigint language plpgsql stable as $$
declare
  bytes bigint;
begin
  if exists (select from pg_extension where extname = 'citus') and exists (
    select from table_placements where table_name = target and placement <> 'local'
  ) then
    execute 'select sum(citus_total_relation_size(relid)) from pg_partition_tree($1::regclass)'
      into bytes using target;
  else
    select sum(pg_total_relation_size(relid)) into bytes from pg_partition_tree(target::regclass);
  end if;
  return coalesce(bytes, 0);
end $$;

-- One row, inserted by the program when it migrates, and never changed. Shingles are hashed under a
-- seed that no other installation has: with a seed from the source code, anyone could compose a
-- piece of text that is counted as another one.
create table installation (
  is_only boolean not null,
  -- The unsigned 64-bit seed, stored as a signed integer.
  shingle_seed bigint not null,
  constraint installation_pkey primary key (is_only),
  constraint installation_once check (is_only)
);
select keep_local('installation');
