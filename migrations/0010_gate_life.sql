-- What the gates have in hand, for those who watch over them: how full the present generation of
-- each filter is, since when it fills, and how many generations there were before it. And how much
-- room tables take, wherever their rows live.
set local citus.multi_shard_modify_mode to 'sequential';

alter table counter_shards
  add column gate_fill real not null default 0,
  add column gate_began_at timestamptz,
  add column gate_turnovers bigint not null default 0;

-- Bytes on disk of a table with its partitions, indexes and TOAST. A table of which rows are on
-- other nodes is asked about there.
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
