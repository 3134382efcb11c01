-- Networks with their abuse contacts, the consumers that are notified, and the addresses to which
-- no mail is sent.
set local citus.multi_shard_modify_mode to 'sequential';

-- Several sources may describe the same block: imported tables, answers of registries, and
-- administrators. Each source has its own rows, which readers combine.
create table networks (
  cidr cidr not null,
  source text not null,
  asn bigint,
  name text,
  country text,
  -- The first of `contacts`.
  abuse text,
  -- All abuse addresses, the best first.
  contacts text[] not null default '{}',
  -- No one is notified for this block, whatever other sources say.
  is_muted boolean not null default false,
  imported_at timestamptz not null,
  -- Null: does not expire.
  expires_at timestamptz,
  constraint networks_pkey primary key (cidr, source),
  constraint networks_country_two_letters check (country ~ '^[A-Z]{2}$'),
  constraint networks_abuse_is_first_contact check (abuse is not distinct from contacts[1]),
  constraint networks_muted_by_hand
    check (not is_muted or (source = 'manual' and abuse is null))
);
-- Finds all blocks that contain an address in one search; equality would need 33 (IPv4) or 129
-- (IPv6) candidates. A radix tree stays fast when rows are inserted one by one; a GiST index did
-- not.
create index networks_cidr_idx on networks using spgist (cidr);
create index networks_manual_idx on networks (cidr) where source = 'manual';
create index networks_expiry_idx on networks (expires_at) where expires_at is not null;
select reference('networks');

create table consumers (
  id uuid not null,
  address text not null,
  -- How the address became known.
  source text not null default 'network',
  -- `found` never asked for our reports; `paused` does not want them for some time; `stopped` does
  -- not want them any more.
  state text not null,
  format text not null default 'arf',
  form text not null default 'whole',
  pace text not null default 'at-once',
  -- The topics that the consumer accepts; null: all.
  takes text[],
  -- Feedback reports per hour, and SMTP connections; null: the limits of the program.
  hourly_max integer,
  connections_max smallint,
  paused_until timestamptz,
  note text,
  created_at timestamptz not null,
  -- When the consumer enrolled; a pause does not clear it.
  enrolled_at timestamptz,
  -- An address whose mail bounces gets no mail until `health_until`; then it is tried again.
  health text not null default 'healthy',
  health_until timestamptz,
  -- Soft bounces in a row, and when the first mail of them was sent.
  soft_bounces smallint not null default 0,
  bounces_since timestamptz,
  last_bounced_at timestamptz,
  -- The number of answers by kind.
  resolved_answers integer not null default 0,
  not_ours_answers integer not null default 0,
  wrong_answers integer not null default 0,
  constraint consumers_pkey primary key (id),
  constraint consumers_address_unique unique (address),
  constraint consumers_source_known
    check (source in ('network', 'cfbl', 'marketer', 'enrollment', 'operator')),
  constraint consumers_state_known check (state in ('found', 'enrolled', 'paused', 'stopped')),
  constraint consumers_format_known check (format in ('arf', 'xarf')),
  constraint consumers_form_known check (form in ('whole', 'headers')),
  constraint consumers_pace_known check (pace in ('at-once', 'campaign', 'digest')),
  constraint consumers_takes_known
    check (takes <@ array['spam', 'phishing', 'malware'] and takes <> '{}'),
  constraint consumers_hourly_max_positive check (hourly_max > 0),
  constraint consumers_connections_max_positive check (connections_max > 0),
  constraint consumers_health_known check (health in ('healthy', 'failing', 'dead')),
  constraint consumers_health_ends check ((health = 'healthy') = (health_until is null))
);
create index consumers_state_idx on consumers (state, address);
select reference('consumers');

-- What an enrolled consumer is notified of besides what tables and registries say: blocks and
-- autonomous systems whose abuse desk it is, and domains whose signed mail it wants to know about.
create table consumer_scopes (
  consumer_id uuid not null,
  kind text not null,
  value text not null,
  -- The value of a range as a block, to find it by an address.
  block cidr,
  added_at timestamptz not null,
  constraint consumer_scopes_pkey primary key (consumer_id, kind, value),
  constraint consumer_scopes_consumer_fkey foreign key (consumer_id) references consumers (id),
  constraint consumer_scopes_kind_known check (kind in ('range', 'as', 'domain')),
  constraint consumer_scopes_block_of_range check ((kind = 'range') = (block is not null))
);
create index consumer_scopes_value_idx on consumer_scopes (kind, value);
create index consumer_scopes_block_idx on consumer_scopes using spgist (block);
select reference('consumer_scopes');

-- Blocks that an abuse desk says are not its own: until `until`, the desk is not notified of them.
create table contact_corrections (
  cidr cidr not null,
  address text not null,
  -- The report that the desk answered.
  report_id uuid,
  reason text not null,
  since timestamptz not null,
  until timestamptz not null,
  constraint contact_corrections_pkey primary key (cidr, address),
  constraint contact_corrections_address_lower check (address = lower(address))
);
create index contact_corrections_cidr_idx on contact_corrections using spgist (cidr);
create index contact_corrections_until_idx on contact_corrections (until);
select reference('contact_corrections');

-- Requests to be enrolled. `sent`: a letter with a link was sent to the address; `proven`: a reader
-- of its mail confirmed it, and a person decides on the scope. The secret of the link and the
-- address of the client are stored as hashes.
create table enrollment_requests (
  id uuid not null,
  token_hash bytea not null,
  address text not null,
  state text not null,
  -- The requested scopes, format, form, pace and topics.
  wish jsonb not null,
  asker_hash bytea not null,
  consumer_id uuid,
  decided_at timestamptz,
  decided_by uuid,
  constraint enrollment_requests_pkey primary key (id),
  constraint enrollment_requests_token_unique unique (token_hash),
  constraint enrollment_requests_state_known
    check (state in ('sent', 'proven', 'accepted', 'refused'))
);
create index enrollment_requests_state_idx on enrollment_requests (state, id);
create index enrollment_requests_address_idx on enrollment_requests (address, id);
create index enrollment_requests_asker_idx on enrollment_requests (asker_hash, id);
select keep_local('enrollment_requests');

-- The number of feedback reports sent in the present hour to a consumer with a limit, by all
-- processes. A place is taken before a mail is sent and returned when it is not sent; a process
-- that is killed in between wastes the place.
create table consumer_hours (
  consumer_id uuid not null,
  hour_at timestamptz not null,
  told integer not null,
  -- The number of places that the last request got.
  granted integer not null,
  constraint consumer_hours_pkey primary key (consumer_id),
  constraint consumer_hours_consumer_fkey foreign key (consumer_id) references consumers (id)
);
select distribute('consumer_hours', 'consumer_id');

-- Addresses to which no mail is sent. A suppression is deleted some time after its end.
create table suppressions (
  address text not null,
  reason text not null,
  -- The status code of a bounce (RFC 3463).
  status text,
  detail text not null,
  since timestamptz not null,
  -- Null: permanent.
  until timestamptz,
  constraint suppressions_pkey primary key (address),
  constraint suppressions_address_lower check (address = lower(address)),
  constraint suppressions_reason_known
    check (reason in ('hard-bounce', 'soft-bounces', 'complaint', 'stop', 'operator'))
);
create index suppressions_until_idx on suppressions (until) where until is not null;
select reference('suppressions');
