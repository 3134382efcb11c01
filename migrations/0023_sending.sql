-- How feedback is sent: so many an hour at most, and in mails that tell of several reports.
set local citus.multi_shard_modify_mode to 'sequential';

-- What a consumer with a limit was sent in the present hour, in all processes. Places are taken
-- before mail leaves and given back when it does not; a process that dies with one wastes it.
create table consumer_hours (
  consumer_id uuid not null,
  hour_at timestamptz not null,
  told integer not null,
  -- What the last who asked was given.
  granted integer not null,
  constraint consumer_hours_pkey primary key (consumer_id),
  constraint consumer_hours_consumer_fkey foreign key (consumer_id) references consumers (id)
);
select distribute('consumer_hours', 'consumer_id');

-- A digest tells of what is merged into it one by one, and not as the incidents of one campaign.
alter table feedback_reports add column is_digest boolean not null default false;
create index feedback_reports_merged_idx on feedback_reports (merged_into, merged_number)
  where merged_into is not null;
