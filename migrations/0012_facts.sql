-- What a verdict rested on: rules are tried on it before they act, and models learn from it. As it
-- was known then, because what is known changes.
set local citus.multi_shard_modify_mode to 'sequential';

-- Facts as sparse JSON, see verdict/facts/packed-facts.ts; null in analyses from before them.
alter table analyses add column facts bytea;
