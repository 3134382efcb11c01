-- Rows store codes with parameters instead of English sentences. Older rows keep their text.
set local citus.multi_shard_modify_mode to 'sequential';

alter table report_events
  add column phrases jsonb,
  alter column detail drop not null,
  add constraint report_events_said check (phrases is not null or detail is not null);

alter table webhook_deliveries add column phrase jsonb;

-- It repeated the event of the report, and nothing read it.
alter table unsubscribe_requests drop column outcome;
