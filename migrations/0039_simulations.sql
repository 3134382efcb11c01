-- Simulated phishing: the simulations of the organization, how many people reported each, and marks
-- of simulations in other mail.
set local citus.multi_shard_modify_mode to 'sequential';

-- A message belongs to a simulation if it has its key, if there is one, and a verified signer or an
-- origin in the ranges, if there are any.
create table simulations (
  id uuid not null,
  name text not null,
  vendor text not null,
  -- Signing domains; a leading `*.` stands for all subdomains.
  signers text[] not null,
  ranges cidr[] not null,
  -- A keyed hash of the key, which is stored nowhere.
  key_hash bytea,
  -- How many people get the message, as the operator stated.
  recipients integer,
  created_at timestamptz not null,
  -- From then on its messages are not recognized.
  ended_at timestamptz,
  constraint simulations_pkey primary key (id),
  constraint simulations_vendor_known
    check (vendor in ('cofense', 'gophish', 'knowbe4', 'microsoft', 'proofpoint', 'other')),
  constraint simulations_proven
    check (cardinality(signers) + cardinality(ranges) > 0 or length(key_hash) = 32)
);
select reference('simulations');

-- One row for each person who reported a simulation. `person` is a keyed hash that differs between
-- simulations, so the table does not say who it was.
create table simulation_reports (
  simulation_id uuid not null,
  person bytea not null,
  reported_at timestamptz not null,
  -- From the delivery of the message until then; null if the time of delivery is not known.
  seconds integer,
  constraint simulation_reports_pkey primary key (simulation_id, person)
);
select keep_local('simulation_reports');

-- Reports of mail that has marks of a vendor and belongs to no simulation.
create table simulation_marks (
  report_id uuid not null,
  vendor text not null,
  seen_at timestamptz not null,
  constraint simulation_marks_pkey primary key (report_id),
  constraint simulation_marks_vendor_known
    check (vendor in ('cofense', 'gophish', 'knowbe4', 'proofpoint'))
);
create index simulation_marks_seen_idx on simulation_marks (seen_at);
select keep_local('simulation_marks');

alter table reporter_news drop constraint reporter_news_kind_known;
alter table reporter_news add constraint reporter_news_kind_known
  check (kind in ('question', 'resolved', 'not-ours', 'wrong', 'stop', 'original', 'simulation'));
