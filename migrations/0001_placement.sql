-- Where each table lives when PostgreSQL is distributed by Citus. On one machine these helpers only
-- write down what would happen, so that a test can hold every table against the rules for a
-- distributable schema, and so that a later move needs no change of the schema.
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

-- Spreads a table over the nodes by the hash of one column, beside every table of the same type.
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
