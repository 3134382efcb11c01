-- Lists of words, hosts, addresses and hashes, to which rules refer by name.
set local citus.multi_shard_modify_mode to 'sequential';
create table rule_lists (
  name text collate "C" not null,
  kind text not null,
  note text not null,
  created_at timestamptz not null,
  constraint rule_lists_pkey primary key (name),
  constraint rule_lists_kind_known check (kind in ('words', 'hosts', 'addresses', 'hashes'))
);
select reference('rule_lists');

create table rule_list_entries (
  list text collate "C" not null,
  -- In the form in which it is compared with messages.
  value text collate "C" not null,
  note text not null,
  added_at timestamptz not null,
  -- Null: no end.
  expires_at timestamptz,
  -- Number of messages in which it was found since it was added.
  hits bigint not null,
  last_hit_at timestamptz,
  constraint rule_list_entries_pkey primary key (list, value),
  constraint rule_list_entries_owner_fkey foreign key (list)
    references rule_lists (name) on delete cascade,
  constraint rule_list_entries_length check (length(value) <= 255)
);
create index rule_list_entries_expires_idx on rule_list_entries (expires_at)
  where expires_at is not null;
select reference('rule_list_entries');

-- Incremented by each change, so that processes see by one number whether their copy is up to date.
create table rule_list_edition (
  is_only boolean not null,
  version integer not null,
  constraint rule_list_edition_pkey primary key (is_only),
  constraint rule_list_edition_once check (is_only)
);
select reference('rule_list_edition');
insert into rule_list_edition (is_only, version) values (true, 0);
