-- What we give out to others as lists of addresses, domains and hosts, whom administrators exempt
-- from them, and who asked to be taken off. Kept on the coordinator: one job writes the entries, in
-- the order of their names, and few people ask.
set local citus.multi_shard_modify_mode to 'sequential';

-- Listed while listed_until is to come. What ended is remembered for half a year, so that who comes
-- back stays longer; then publish-lists takes it away.
create table listings (
  list text not null,
  name text collate "C" not null,
  category text not null,
  listed_since timestamptz not null,
  listed_until timestamptz not null,
  times integer not null,
  -- A round number; the exact one is nobody's business.
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

-- Never listed while it holds: a name on all lists, and a domain with all hosts in it.
create table list_exemptions (
  name text collate "C" not null,
  reason text not null,
  -- Null: for good.
  expires_at timestamptz,
  -- Null at the command line.
  reporter_id uuid,
  created_at timestamptz not null,
  constraint list_exemptions_pkey primary key (name)
);
select keep_local('list_exemptions');

-- Who asked to be taken off. The answer is found under an address that only the asker was given; of
-- that, and of the machine that asked, hashes are kept.
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
  -- What the asker reads; null until there is an answer by hand.
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
