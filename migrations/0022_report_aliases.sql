-- The ids given out while the database was away, for messages that had been reported before: they
-- stay valid for the earlier report.
set local citus.multi_shard_modify_mode to 'sequential';

create table report_aliases (
  id uuid not null,
  report_id uuid not null,
  constraint report_aliases_pkey primary key (id)
);
select distribute('report_aliases', 'id');
