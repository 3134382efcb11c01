-- Webhooks of reporters, and the events delivered to them.
set local citus.multi_shard_modify_mode to 'sequential';

-- The signing secret is derived from SECRET, the id and the generation; it cannot be read here. For
-- some time after `renewed_at`, deliveries are also signed with the secret of the generation
-- before. Copied to every node, because the table is small and read in the transactions that store
-- reports.
create table webhooks (
  id uuid not null,
  reporter_id uuid not null,
  url text not null,
  events text[] not null,
  state text not null,
  generation integer not null,
  renewed_at timestamptz,
  created_at timestamptz not null,
  -- The number of failed deliveries in a row, when the first of them was, and until when nothing is
  -- sent.
  failures integer not null,
  failing_since timestamptz,
  paused_until timestamptz,
  constraint webhooks_pkey primary key (id),
  constraint webhooks_url_unique unique (reporter_id, url),
  constraint webhooks_reporter_fkey foreign key (reporter_id) references reporters (id)
    on delete cascade,
  constraint webhooks_state_known check (state in ('enabled', 'disabled', 'failed')),
  constraint webhooks_generation_positive check (generation > 0)
);
select reference('webhooks');

-- Events to deliver to a webhook, and the results. The receiver recognizes a repeated delivery by
-- its id. The job keep-house deletes rows older than a week.
create table webhook_deliveries (
  webhook_id uuid not null,
  id uuid not null,
  event text not null,
  -- What the event is about; both null for a test event.
  report_id uuid,
  alert_id uuid,
  state text not null,
  tries integer not null,
  tried_at timestamptz,
  -- The last HTTP status; null if there was no response.
  status integer,
  -- The result as a code with parameters (phrase.ts); null before the first attempt.
  phrase jsonb,
  constraint webhook_deliveries_pkey primary key (webhook_id, id),
  constraint webhook_deliveries_webhook_fkey foreign key (webhook_id) references webhooks (id)
    on delete cascade,
  constraint webhook_deliveries_state_known
    check (state in ('waiting', 'delivered', 'given-up', 'dropped'))
);
create index webhook_deliveries_id_idx on webhook_deliveries (id);
select distribute('webhook_deliveries', 'webhook_id');
