-- Reports of shadow-banned reporters are analyzed and shown like all others, so they are in the
-- same tables; a column says that they have no effect on anybody else.
set local citus.multi_shard_modify_mode to 'sequential';

-- Null: it counts. held, dropped: it does not. released: it counts as soon as a job has counted it.
alter table reports add column shadow text;
alter table reports add constraint reports_shadow_known
  check (shadow in ('held', 'dropped', 'released'));
create index reports_shadow_idx on reports (shadow, id) where shadow is not null;

-- Reports that were never analyzed are analyzed now. A week that is no longer kept is left out.
insert into reports (id, reporter_id, channel, kind, state, received_at, message_bytes, author,
  subject, message_id, dated_at, comment, received_via, rebuilt_from, shadow)
select id, reporter_id, channel, kind,
  case when state = 'retracted' then state else 'received' end, received_at, message_bytes, author,
  subject, message_id, dated_at, comment, received_via, rebuilt_from,
  case when is_dropped then 'dropped' else 'held' end
from shadowed_reports
where to_regclass('reports_'
  || to_char(date_trunc('week', received_at at time zone 'UTC'), 'YYYYMMDD')) is not null;

insert into raw_messages (id, encoding, content)
select shadowed_messages.id, encoding, content
from shadowed_messages join shadowed_reports on shadowed_reports.id = shadowed_messages.id
where to_regclass('raw_messages_'
  || to_char(date_trunc('week', received_at at time zone 'UTC'), 'YYYYMMDD')) is not null;

delete from report_events
where event = 'analyzed' and report_id in (
  select id from reports where shadow is not null and state = 'received');

drop table shadowed_reports;
drop table shadowed_messages;
delete from table_placements where table_name in ('shadowed_reports', 'shadowed_messages');

-- What would be told of a held report: shown to its reporter, and sent to nobody.
alter table feedback_reports drop constraint feedback_reports_state_known;
alter table feedback_reports add constraint feedback_reports_state_known check (state in
  ('waiting', 'queued', 'held', 'sent', 'bounced', 'refused', 'withdrawn', 'merged', 'shadowed'));
