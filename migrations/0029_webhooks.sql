-- Where reporters have software of theirs told what becomes of their reports, and what we have told
-- it; and what was answered to requests that came with an Idempotency-Key, so that a repeat hears
-- the same. Small, and asked for in the transactions that keep reports: beside every one of them.
set local citus.multi_shard_modify_mode to 'sequential';

-- The secret it is signed with is made of our secret, the id and the generation: nothing here tells
-- it. While a new one is young, what leaves is signed with the one before it too.
create table webhooks (
  id uuid not null,
  reporter_id uuid not null,
  url text not null,
  events text[] not null,
  state text not null,
  generation integer not null,
  renewed_at timestamptz,
  created_at timestamptz not null,
  -- How often in a row it did not take what we sent, since when, and until when we leave it alone.
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

-- What was to be told to a webhook, and how that went. The id is the one its receiver knows it by
-- again; keep-house takes away what is older than a week.
create table webhook_deliveries (
  webhook_id uuid not null,
  id uuid not null,
  event text not null,
  -- Null for one that only tries the webhook.
  report_id uuid,
  state text not null,
  tries integer not null,
  tried_at timestamptz,
  -- What HTTP said last; null when nobody answered.
  status integer,
  outcome text,
  constraint webhook_deliveries_pkey primary key (webhook_id, id),
  constraint webhook_deliveries_webhook_fkey foreign key (webhook_id) references webhooks (id)
    on delete cascade,
  constraint webhook_deliveries_state_known
    check (state in ('waiting', 'delivered', 'given-up', 'dropped'))
);
create index webhook_deliveries_id_idx on webhook_deliveries (id);
select distribute('webhook_deliveries', 'webhook_id');

-- Null until the first answer is known: who asks meanwhile is answered anew, and who is first keeps
-- his. Without content: ids, states and problems.
alter table idempotency_keys add column answer_status integer;
alter table idempotency_keys add column answer_body text;
