-- Outlook keeps a message in its own form: the header as it was received, the body only as it was
-- understood. A message put together of that says so, because its signatures prove nothing.
set local citus.multi_shard_modify_mode to 'sequential';

alter table reports add column rebuilt_from text;
alter table reports add constraint reports_rebuilt_from_known check (rebuilt_from in ('msg'));

alter table shadowed_reports add column rebuilt_from text;
alter table shadowed_reports add constraint shadowed_reports_rebuilt_from_known
  check (rebuilt_from in ('msg'));
