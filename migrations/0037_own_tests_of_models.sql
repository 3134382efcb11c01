-- What a model said about the newest mail of the site, so that operators see it before they promote
-- the model. Null until its first test.
set local citus.multi_shard_modify_mode to 'sequential';
alter table models add column own_test jsonb;
