-- What a mail server learns is a report too: it came in by a door of its own, so that nobody is
-- told of it.
set local citus.multi_shard_modify_mode to 'sequential';

alter table reports drop constraint reports_channel_known;
alter table reports add constraint reports_channel_known
  check (channel in ('api', 'signaler', 'form', 'mail', 'import', 'learn'));
