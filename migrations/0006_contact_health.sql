-- An abuse address whose mail comes back is left alone for a while, then tried again.
set local citus.multi_shard_modify_mode to 'sequential';

-- `soft_bounces` are those in a row, `bounces_since` is when the first of them had been sent.
alter table consumers add column health text not null default 'healthy';
alter table consumers add column health_until timestamptz;
alter table consumers add column soft_bounces smallint not null default 0;
alter table consumers add column bounces_since timestamptz;
alter table consumers add column last_bounced_at timestamptz;
alter table consumers add constraint consumers_health_known
  check (health in ('healthy', 'failing', 'dead'));
alter table consumers add constraint consumers_health_ends
  check ((health = 'healthy') = (health_until is null));
