-- Who gets what: how a consumer came to be known, which networks and domains it enrolled for, what
-- desks said is not theirs, and who asks to be enrolled.
set local citus.multi_shard_modify_mode to 'sequential';

-- Where its address came from; which kinds it takes (null: all); when it enrolled, which outlasts a
-- pause; how often it answered what.
alter table consumers add column source text not null default 'network';
alter table consumers add column takes text[];
alter table consumers add column note text;
alter table consumers add column enrolled_at timestamptz;
alter table consumers add column resolved_answers integer not null default 0;
alter table consumers add column not_ours_answers integer not null default 0;
alter table consumers add column wrong_answers integer not null default 0;
alter table consumers add constraint consumers_source_known
  check (source in ('network', 'cfbl', 'marketer', 'enrollment', 'operator'));
alter table consumers add constraint consumers_takes_known
  check (takes <@ array['spam', 'phishing', 'malware'] and takes <> '{}');
update consumers set enrolled_at = created_at where state = 'enrolled';
create index consumers_state_idx on consumers (state, address);

-- What an enrolled consumer is told of beside what tables and registries say is its: blocks and
-- autonomous systems whose abuse desk it is, and domains whose signed mail it is told of too.
create table consumer_scopes (
  consumer_id uuid not null,
  kind text not null,
  value text not null,
  -- The value of a range once more, to be found by an address.
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

-- A desk said that a block is not its own: there it is not written to until then.
create table contact_corrections (
  cidr cidr not null,
  address text not null,
  -- The report to which it was said.
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

-- Who asks to be enrolled. `sent`: a letter with a link went to the address; `proven`: who reads
-- its mail confirmed it, and a person decides on the scope. Of the link and of the machine that
-- asked, hashes are kept.
create table enrollment_requests (
  id uuid not null,
  token_hash bytea not null,
  address text not null,
  state text not null,
  -- What is wished: scopes, format, form, pace and kinds.
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

-- Whether opaque tokens of the message are left for who gave them out, and as what its consumer is
-- told: as the desk of the network, by the author's wish (RFC 9477), as the marketer, or as who
-- enrolled for the domain that signed it.
alter table feedback_reports add column keeps_tokens boolean not null default false;
alter table feedback_reports add column told_as text not null default 'network';
alter table feedback_reports add constraint feedback_reports_told_as_known
  check (told_as in ('network', 'cfbl', 'marketer', 'domain'));
create index feedback_reports_consumer_idx on feedback_reports (consumer_id, report_id);
