-- Did it stop? The reports about each origin, to see whether they end after a notice.
set local citus.multi_shard_modify_mode to 'sequential';
-- One row for each address that sent reported mail: its latest case. A chore adds reports a day
-- after they arrived. Reports by reporters whose reports have no effect are not in it, except in
-- `shadow_last_at`.
create table reported_origins (
  ip inet not null,
  network_asn bigint,
  network_name text,
  network_country text,
  -- The minutes with reports, since 1970, and the reports in each. At most 400.
  minutes integer[] not null,
  counts integer[] not null,
  -- A lower bound of the people who reported it.
  people smallint not null,
  -- Null if only reports without effect came.
  last_at timestamptz,
  shadow_last_at timestamptz,
  -- The first notice to the network, and the report that it was about.
  noticed_at timestamptz,
  report_id uuid,
  consumer_id uuid,
  -- Reports in the day before the first notice, and in the day after it.
  before integer not null,
  after integer not null,
  -- If no report comes until then, reports have stopped; null if there are too few to tell.
  silent_at timestamptz,
  changed_at timestamptz not null,
  constraint reported_origins_pkey primary key (ip),
  constraint reported_origins_series check (cardinality(minutes) = cardinality(counts)
    and cardinality(minutes) <= 400),
  constraint reported_origins_notice_whole check (
    (noticed_at is null) = (report_id is null) and (noticed_at is null) = (consumer_id is null))
);
create index reported_origins_changed_idx on reported_origins (changed_at);
create index reported_origins_consumer_idx on reported_origins (consumer_id, noticed_at)
  where consumer_id is not null;
create index reported_origins_noticed_idx on reported_origins (noticed_at)
  where noticed_at is not null;
select keep_local('reported_origins');

-- Up to which report the chore has read.
create table reported_origins_progress (
  is_only boolean not null,
  last_id uuid not null,
  constraint reported_origins_progress_pkey primary key (is_only),
  constraint reported_origins_progress_once check (is_only)
);
select keep_local('reported_origins_progress');

-- The reports of pages around the notice to one who can stop them: one row for each page and
-- contact, written by a chore.
create table page_endings (
  page_id uuid not null,
  contact text collate "C" not null,
  consumer_id uuid not null,
  report_id uuid not null,
  noticed_at timestamptz not null,
  last_at timestamptz not null,
  -- As in `reported_origins`.
  before integer not null,
  after integer not null,
  silent_at timestamptz,
  changed_at timestamptz not null,
  constraint page_endings_pkey primary key (page_id, contact),
  constraint page_endings_page_fkey foreign key (page_id) references pages (id) on delete cascade
);
create index page_endings_consumer_idx on page_endings (consumer_id, noticed_at);
create index page_endings_noticed_idx on page_endings (noticed_at);
select keep_local('page_endings');

-- Whether the hosts of reported pages have an address. Only hosts without the tokens of recipients
-- are asked about.
create table page_hosts (
  page_id uuid not null,
  asked_at timestamptz not null,
  -- Since when every look-up found no address, and how many did; null and 0 if one was found.
  gone_at timestamptz,
  misses integer not null,
  constraint page_hosts_pkey primary key (page_id),
  constraint page_hosts_page_fkey foreign key (page_id) references pages (id) on delete cascade,
  constraint page_hosts_gone check ((gone_at is null) = (misses = 0))
);
select keep_local('page_hosts');
