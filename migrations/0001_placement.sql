-- What an installation keeps about itself, and where each table is stored. With DB_BACKEND=citus,
-- the helpers distribute the tables. Otherwise they only record the placement, also in a database
-- that has the extension, so that a test can check every table against the rules for a
-- distributable schema.
set local citus.multi_shard_modify_mode to 'sequential';

-- One row. The migrations set `signalpost.backend` to DB_BACKEND; later the stored one is used.
create table installation (
  is_only boolean not null,
  backend text not null,
  -- Shingles are hashed under a seed that no other installation has: with a seed from the source
  -- code, anyone could compose a piece of text that is counted as another one. The unsigned 64-bit
  -- seed is stored as a signed integer. Null until the program stores one after the migrations.
  shingle_seed bigint,
  -- Whether a model trained at night is promoted without an operator if it is no worse.
  promotes_models boolean not null default false,
  constraint installation_pkey primary key (is_only),
  constraint installation_once check (is_only),
  constraint installation_backend_known check (backend in ('postgres', 'citus'))
);
insert into installation (is_only, backend)
values (true, coalesce(nullif(current_setting('signalpost.backend', true), ''), 'postgres'));

create function is_distributed() returns boolean language sql stable as $$
  select backend = 'citus' from installation
$$;

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
  if is_distributed() then
    execute format('select create_distributed_table(%L, %L)', target, key);
  end if;
  insert into table_placements (table_name, placement, distribution_key)
  values (target, 'distributed', key);
end $$;

-- Copies a small table to every node.
create function reference(target text) returns void language plpgsql as $$
begin
  if is_distributed() then
    execute format('select create_reference_table(%L)', target);
  end if;
  insert into table_placements (table_name, placement) values (target, 'reference');
end $$;

-- Keeps a table on the coordinator.
create function keep_local(target text) returns void language sql as $$
  insert into table_placements (table_name, placement) values (target, 'local');
$$;

-- Keeps a table on the coordinator in such a way that a transaction that changes it and rows on
-- another node is committed in two phases. Citus does not see changes of other local tables: it
-- commits on the node first, so that a crash at this moment would lose what the transaction wrote
-- on the coordinator, such as jobs.
create function keep_local_in_step(target text) returns void language plpgsql as $$
begin
  if is_distributed() then
    perform citus_add_local_table_to_metadata(target::regclass);
  end if;
  perform keep_local(target);
end $$;

select keep_local('installation');
select keep_local('table_placements');

-- Returns the shard of an id: its last hexadecimal digit, 0 to 15. Tables whose rows have the id of
-- a report or of a campaign have it in a column and are distributed by it, so that all rows of a
-- report, and reports that arrive together, are on one node. The program computes the column itself
-- (`shardOf` in world.ts).
create function shard_of(id uuid) returns smallint language sql immutable parallel safe
  return (get_byte(uuid_send(id), 15) & 15)::smallint;

-- Returns the bytes on disk of a table with its partitions, indexes and TOAST, on all nodes.
create function table_bytes(target text) returns bigint language plpgsql stable as $$
declare
  size text := 'pg_total_relation_size';
  bytes bigint;
begin
  if is_distributed() and exists (
    select from table_placements where table_name = target and placement <> 'local'
  ) then
    size := 'citus_total_relation_size';
  end if;
  execute format('select sum(%s(relid)) from (
    select $1::regclass as relid union select relid from pg_partition_tree($1::regclass)) as parts',
    size) into bytes using target;
  return coalesce(bytes, 0);
end $$;
