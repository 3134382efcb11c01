-- The published lists of addresses, domains and hosts, the names that administrators exempt from
-- them, and requests for removal. Kept on the coordinator: one job writes the entries in the order
-- of their names, and requests are few.
set local citus.multi_shard_modify_mode to 'sequential';

-- A name is listed until `listed_until`. Entries are kept for half a year after their end, so that
-- a name that returns is listed for longer; then the job publish-lists deletes them.
create table listings (
  list text not null,
  name text collate "C" not null,
  category text not null,
  listed_since timestamptz not null,
  listed_until timestamptz not null,
  times integer not null,
  -- Rounded; the exact number is not published.
  reporters_at_least integer not null,
  last_seen timestamptz not null,
  pardoned_at timestamptz,
  pardoned_reporters integer,
  constraint listings_pkey primary key (list, name),
  constraint listings_list_known check (list in ('addresses', 'domains', 'hosts')),
  constraint listings_category_known check (category in ('spam', 'phishing', 'malware')),
  constraint listings_times_positive check (times > 0)
);
create index listings_until_idx on listings (listed_until);
select keep_local('listings');

-- Names that are not listed: a name is exempt from all lists, a domain with all of its hosts.
create table list_exemptions (
  name text collate "C" not null,
  reason text not null,
  -- Null: permanent.
  expires_at timestamptz,
  -- Null at the command line.
  reporter_id uuid,
  created_at timestamptz not null,
  constraint list_exemptions_pkey primary key (name)
);
select keep_local('list_exemptions');

-- Requests for removal from a list. The answer is found by a secret address that only the requester
-- got; the secret and the address of the client are stored as hashes.
create table delisting_requests (
  id uuid not null,
  token_hash bytea not null,
  list text not null,
  name text collate "C" not null,
  state text not null,
  asker text not null,
  contact text not null,
  done text not null,
  asker_hash bytea not null,
  -- Shown to the requester; null until a person has answered.
  answer text,
  decided_at timestamptz,
  decided_by uuid,
  constraint delisting_requests_pkey primary key (id),
  constraint delisting_requests_token_unique unique (token_hash),
  constraint delisting_requests_state_known
    check (state in ('open', 'automatic', 'accepted', 'refused'))
);
create index delisting_requests_state_idx on delisting_requests (state, id);
create index delisting_requests_name_idx on delisting_requests (name, id);
create index delisting_requests_asker_idx on delisting_requests (asker_hash, id);
select keep_local('delisting_requests');
