-- The migration that a version of the program must know to use this database. A migration that
-- removes what earlier versions use sets it to its own name; null: every version may use it.
set local citus.multi_shard_modify_mode to 'sequential';

alter table installation add column needs_migration text;
