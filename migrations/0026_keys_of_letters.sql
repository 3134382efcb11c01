-- Stored mail contains no keys: links and addresses that act for whoever has them are masked. The
-- keys of a letter are encrypted in a column of their own until it is sent or they expire. Rows of
-- earlier versions are not masked yet; a chore finds them by the indexes.
set local citus.multi_shard_modify_mode to 'sequential';

alter table letters
  add column is_masked boolean not null default false,
  add column sealed_keys bytea,
  add column keys_expire_at timestamptz;
create index letters_unmasked_idx on letters (id) where not is_masked;
create index letters_keys_expire_idx on letters (keys_expire_at) where sealed_keys is not null;

alter table feedback_messages add column is_masked boolean not null default false;
create index feedback_messages_unmasked_idx on feedback_messages (report_id, number)
  where not is_masked;
