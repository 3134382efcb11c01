-- The schema that the migrations create, ordered by name. Written by
-- "npm run schema" and compared by a test; never run, and never changed by hand. Weekly partitions,
-- the tables of knex and the schema of pg-boss are left out.

CREATE OR REPLACE FUNCTION count_attempts(newest bigint, total bigint, counts integer[], present bigint, amount bigint)
 RETURNS rate_state
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  length integer := cardinality(counts);
  gap bigint := present - newest;
  drops integer;
begin
  if gap <= 0 then
    counts[length] := least(1000000000, counts[length] + amount);
    return row(newest, total + amount, counts)::rate_state;
  end if;
  drops := least(length, greatest(0, length + gap - 61));
  while drops < length and counts[drops + 1] = 0 loop
    drops := drops + 1;
  end loop;
  if drops >= length then
    return row(present, amount, array[least(1000000000, amount)])::rate_state;
  end if;
  if drops > 0 then
    for dropped in 1..drops loop
      total := total - counts[dropped];
    end loop;
    counts := counts[drops + 1:];
  end if;
  counts := counts || array_fill(0, array[gap::integer - 1]) || least(1000000000, amount)::integer;
  return row(present, total + amount, counts)::rate_state;
end $function$;

CREATE OR REPLACE FUNCTION database_clock()
 RETURNS timestamp with time zone
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  select clock_timestamp()
$function$;

CREATE OR REPLACE FUNCTION distribute(target text, key text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if is_distributed() then
    execute format('select create_distributed_table(%L, %L)', target, key);
  end if;
  insert into table_placements (table_name, placement, distribution_key)
  values (target, 'distributed', key);
end $function$;

CREATE OR REPLACE FUNCTION is_distributed()
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select backend = 'citus' from installation
$function$;

CREATE OR REPLACE FUNCTION keep_local(target text)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into table_placements (table_name, placement) values (target, 'local');
$function$;

CREATE OR REPLACE FUNCTION keep_local_in_step(target text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if is_distributed() then
    perform citus_add_local_table_to_metadata(target::regclass);
  end if;
  perform keep_local(target);
end $function$;

CREATE OR REPLACE FUNCTION present_ms(not_before timestamp with time zone)
 RETURNS bigint
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  select floor(extract(epoch from greatest(not_before, clock_timestamp())) * 1000)::bigint
$function$;

CREATE OR REPLACE FUNCTION reference(target text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if is_distributed() then
    execute format('select create_reference_table(%L)', target);
  end if;
  insert into table_placements (table_name, placement) values (target, 'reference');
end $function$;

CREATE OR REPLACE FUNCTION shard_of(id uuid)
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((get_byte(uuid_send(id), 15) & 15))::smallint;

CREATE OR REPLACE FUNCTION table_bytes(target text)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  size text := 'pg_total_relation_size';
  bytes bigint;
begin
  if is_distributed() and exists (
    select from table_placements where table_name = target and placement <> 'local'
  ) then
    size := 'citus_total_relation_size';
  end if;
  execute format('select sum(%s(relid)) from (
    select $1::regclass as relid union select relid from pg_partition_tree($1::regclass)) as parts',
    size) into bytes using target;
  return coalesce(bytes, 0);
end $function$;

CREATE OR REPLACE FUNCTION term_hashes(terms text)
 RETURNS bigint[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ARRAY(SELECT DISTINCT hashtextextended(term.term, (0)::bigint) AS hashtextextended FROM string_to_table(term_hashes.terms, '
'::text) term(term));

-- account_links: reference
create table account_links (
  kind text not null,
  subject text not null,
  token_hash bytea not null,
  address text not null,
  reporter_id uuid,
  language text not null,
  consent text,
  consented_at timestamp with time zone,
  letter_id uuid,
  letters integer not null,
  letters_since timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint account_links_pkey PRIMARY KEY (kind, subject),
  constraint account_links_token_unique UNIQUE (token_hash),
  constraint account_links_owner_fkey FOREIGN KEY (reporter_id) REFERENCES reporters(id) ON DELETE CASCADE,
  constraint account_links_kind_known CHECK ((kind = ANY (ARRAY['confirm'::text, 'reset'::text, 'move'::text, 'notice'::text]))),
  constraint account_links_language_known CHECK ((language = ANY (ARRAY['en'::text, 'fr'::text, 'ru'::text])))
);
create index account_links_address_idx on account_links (address);
create index account_links_expires_idx on account_links (expires_at);

-- activity_marks: local
create table activity_marks (
  at timestamp with time zone not null,
  kind text not null,
  detail text not null,
  constraint activity_marks_pkey PRIMARY KEY (at, kind),
  constraint activity_marks_kind_known CHECK ((kind = ANY (ARRAY['version'::text, 'outage'::text])))
);

-- activity_progress: local
create table activity_progress (
  is_only boolean not null,
  written_until timestamp with time zone,
  mail_totals jsonb not null default '{}'::jsonb,
  constraint activity_progress_pkey PRIMARY KEY (is_only),
  constraint activity_progress_once CHECK (is_only)
);

-- activity_samples: local
create table activity_samples (
  process_id uuid not null,
  at timestamp with time zone not null,
  content jsonb not null,
  constraint activity_samples_pkey PRIMARY KEY (at, process_id)
);

-- activity_series: local
create table activity_series (
  id integer not null,
  name text not null,
  used_on date not null,
  constraint activity_series_pkey PRIMARY KEY (id),
  constraint activity_series_name_unique UNIQUE (name),
  constraint activity_series_id_short CHECK (((id >= 1) AND (id <= 65535)))
);

-- activity_slots: local
create table activity_slots (
  level smallint not null,
  at timestamp with time zone not null,
  family text not null,
  ticks smallint not null,
  content bytea storage external not null,
  constraint activity_slots_pkey PRIMARY KEY (level, at, family),
  constraint activity_slots_level_known CHECK (((level >= 0) AND (level <= 4)))
);

-- advices: distributed by reporter_id
create table advices (
  reporter_id uuid not null,
  about text not null,
  week date not null,
  report_id uuid not null,
  advised_at timestamp with time zone not null,
  constraint advices_pkey PRIMARY KEY (reporter_id, about, week)
);
create index advices_week_idx on advices (week);

-- alarm_watch: local
create table alarm_watch (
  is_only boolean not null,
  holder uuid,
  held_until timestamp with time zone,
  evaluated_at timestamp with time zone,
  state jsonb,
  constraint alarm_watch_pkey PRIMARY KEY (is_only),
  constraint alarm_watch_once CHECK (is_only)
);

-- analyses: distributed by shard
create table analyses (
  id uuid not null,
  shard smallint not null,
  analyzed_at timestamp with time zone not null,
  origin_ip inet,
  origin_confidence real,
  network_cidr cidr,
  network_asn bigint,
  network_name text,
  network_country text,
  network_abuse text,
  verdict_class text not null,
  verdict_score real not null,
  judgment jsonb not null,
  facts bytea not null,
  encoding text not null,
  content bytea storage external not null,
  constraint analyses_pkey PRIMARY KEY (id, shard),
  constraint analyses_confidence_range CHECK (((origin_confidence >= (0)::double precision) AND (origin_confidence <= (1)::double precision))),
  constraint analyses_encoding_known CHECK ((encoding = ANY (ARRAY['identity'::text, 'zstd'::text])))
) partition by RANGE (id);

-- audit_log: distributed by id
create table audit_log (
  id uuid not null,
  at timestamp with time zone not null,
  reporter_id uuid,
  action text not null,
  detail text not null,
  constraint audit_log_pkey PRIMARY KEY (id)
) partition by RANGE (id);

-- audit_seals: local
create table audit_seals (
  number bigint not null,
  from_id uuid not null,
  until_id uuid not null,
  entries integer not null,
  sealed_at timestamp with time zone not null,
  seal bytea not null,
  previous bytea,
  constraint audit_seals_pkey PRIMARY KEY (number)
);

-- campaign_days: distributed by shard
create table campaign_days (
  campaign_id uuid not null,
  shard smallint not null,
  day date not null,
  reports integer not null,
  constraint campaign_days_pkey PRIMARY KEY (campaign_id, day, shard)
) partition by RANGE (campaign_id);
create index campaign_days_largest_idx on campaign_days (day, reports DESC, campaign_id);

-- campaign_decisions: reference
create table campaign_decisions (
  campaign_id uuid not null,
  about text not null,
  says text not null,
  reason text not null,
  decided_at timestamp with time zone not null,
  decided_by uuid,
  constraint campaign_decisions_pkey PRIMARY KEY (campaign_id, about),
  constraint campaign_decisions_says_known CHECK ((says = ANY (ARRAY['spam'::text, 'phishing'::text, 'malware'::text, 'marketing'::text, 'legitimate'::text, 'resolved'::text])))
);
create index campaign_decisions_decided_idx on campaign_decisions (decided_at);

-- campaign_events: local
create table campaign_events (
  campaign_id uuid not null,
  noted_at timestamp with time zone not null,
  until_id uuid,
  after_id uuid,
  constraint campaign_events_pkey PRIMARY KEY (campaign_id)
);
create index campaign_events_noted_idx on campaign_events (noted_at);

-- campaign_keys: distributed by key
create table campaign_keys (
  key bigint not null,
  generation integer not null,
  campaign_id uuid not null,
  constraint campaign_keys_pkey PRIMARY KEY (key, generation, campaign_id)
) partition by RANGE (generation);

-- campaign_link_parts: distributed by campaign_id
create table campaign_link_parts (
  campaign_id uuid not null,
  slot smallint not null,
  reporter_id uuid not null,
  is_vouched boolean not null,
  circle integer not null,
  recipient bytea not null,
  parts bytea not null,
  seen_on date not null,
  constraint campaign_link_parts_pkey PRIMARY KEY (campaign_id, slot),
  constraint campaign_link_parts_bound CHECK ((((slot >= 0) AND (slot <= 31)) AND (length(parts) <= 256) AND (length(recipient) = 8)))
);
create index campaign_link_parts_reporter_idx on campaign_link_parts (reporter_id);
create index campaign_link_parts_seen_idx on campaign_link_parts (seen_on);

-- campaign_witnesses: distributed by campaign_id
create table campaign_witnesses (
  campaign_id uuid not null,
  day date not null,
  content bytea storage external not null,
  complainants smallint not null default 0,
  constraint campaign_witnesses_pkey PRIMARY KEY (campaign_id)
);
create index campaign_witnesses_day_idx on campaign_witnesses (day);

-- campaigns: distributed by shard
create table campaigns (
  id uuid not null,
  shard smallint not null,
  first_report_id uuid not null,
  fingerprints jsonb not null,
  constraint campaigns_pkey PRIMARY KEY (id, shard)
) partition by RANGE (id);

-- chore_runs: local
create table chore_runs (
  queue text not null,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone not null,
  fault text,
  constraint chore_runs_pkey PRIMARY KEY (queue)
);

-- consents: reference
create table consents (
  reporter_id uuid not null,
  version text not null,
  language text not null,
  consented_at timestamp with time zone not null,
  constraint consents_pkey PRIMARY KEY (reporter_id, version),
  constraint consents_owner_fkey FOREIGN KEY (reporter_id) REFERENCES reporters(id) ON DELETE CASCADE,
  constraint consents_language_known CHECK ((language = ANY (ARRAY['en'::text, 'fr'::text, 'ru'::text])))
);

-- consumer_hours: distributed by consumer_id
create table consumer_hours (
  consumer_id uuid not null,
  hour_at timestamp with time zone not null,
  told integer not null,
  granted integer not null,
  constraint consumer_hours_pkey PRIMARY KEY (consumer_id),
  constraint consumer_hours_consumer_fkey FOREIGN KEY (consumer_id) REFERENCES consumers(id)
);

-- consumer_scopes: reference
create table consumer_scopes (
  consumer_id uuid not null,
  kind text not null,
  value text not null,
  block cidr,
  added_at timestamp with time zone not null,
  constraint consumer_scopes_pkey PRIMARY KEY (consumer_id, kind, value),
  constraint consumer_scopes_consumer_fkey FOREIGN KEY (consumer_id) REFERENCES consumers(id),
  constraint consumer_scopes_block_of_range CHECK (((kind = 'range'::text) = (block IS NOT NULL))),
  constraint consumer_scopes_kind_known CHECK ((kind = ANY (ARRAY['range'::text, 'as'::text, 'domain'::text])))
);
create index consumer_scopes_block_idx on consumer_scopes USING spgist (block);
create index consumer_scopes_value_idx on consumer_scopes (kind, value);

-- consumers: reference
create table consumers (
  id uuid not null,
  address text not null,
  source text not null default 'network'::text,
  state text not null,
  format text not null default 'arf'::text,
  form text not null default 'whole'::text,
  pace text not null default 'at-once'::text,
  takes text[],
  hourly_max integer,
  connections_max smallint,
  paused_until timestamp with time zone,
  note text,
  created_at timestamp with time zone not null,
  enrolled_at timestamp with time zone,
  health text not null default 'healthy'::text,
  health_until timestamp with time zone,
  soft_bounces smallint not null default 0,
  bounces_since timestamp with time zone,
  last_bounced_at timestamp with time zone,
  resolved_answers integer not null default 0,
  not_ours_answers integer not null default 0,
  wrong_answers integer not null default 0,
  originals_since timestamp with time zone,
  originals_until timestamp with time zone,
  originals_reason text,
  constraint consumers_pkey PRIMARY KEY (id),
  constraint consumers_address_unique UNIQUE (address),
  constraint consumers_connections_max_positive CHECK ((connections_max > 0)),
  constraint consumers_form_known CHECK ((form = ANY (ARRAY['whole'::text, 'headers'::text]))),
  constraint consumers_format_known CHECK ((format = ANY (ARRAY['arf'::text, 'xarf'::text]))),
  constraint consumers_health_ends CHECK (((health = 'healthy'::text) = (health_until IS NULL))),
  constraint consumers_health_known CHECK ((health = ANY (ARRAY['healthy'::text, 'failing'::text, 'dead'::text]))),
  constraint consumers_hourly_max_positive CHECK ((hourly_max > 0)),
  constraint consumers_originals_whole CHECK (((originals_since IS NULL) = (originals_reason IS NULL))),
  constraint consumers_pace_known CHECK ((pace = ANY (ARRAY['at-once'::text, 'campaign'::text, 'digest'::text]))),
  constraint consumers_source_known CHECK ((source = ANY (ARRAY['network'::text, 'cfbl'::text, 'marketer'::text, 'enrollment'::text, 'operator'::text]))),
  constraint consumers_state_known CHECK ((state = ANY (ARRAY['found'::text, 'enrolled'::text, 'paused'::text, 'stopped'::text]))),
  constraint consumers_takes_known CHECK (((takes <@ ARRAY['spam'::text, 'phishing'::text, 'malware'::text]) AND (takes <> '{}'::text[])))
);
create index consumers_state_idx on consumers (state, address);

-- contact_corrections: reference
create table contact_corrections (
  cidr cidr not null,
  address text not null,
  report_id uuid,
  reason text not null,
  since timestamp with time zone not null,
  until timestamp with time zone not null,
  constraint contact_corrections_pkey PRIMARY KEY (cidr, address),
  constraint contact_corrections_address_lower CHECK ((address = lower(address)))
);
create index contact_corrections_cidr_idx on contact_corrections USING spgist (cidr);
create index contact_corrections_until_idx on contact_corrections (until);

-- contact_overrides: local
create table contact_overrides (
  role text not null,
  name text not null,
  contacts text[] not null,
  is_muted boolean not null,
  note text,
  set_by uuid,
  set_at timestamp with time zone not null,
  constraint contact_overrides_pkey PRIMARY KEY (role, name),
  constraint contact_overrides_muted CHECK ((is_muted = (cardinality(contacts) = 0))),
  constraint contact_overrides_role_known CHECK ((role = ANY (ARRAY['platform'::text, 'cdn'::text, 'registrar'::text])))
);

-- counted_reports: distributed by shard
create table counted_reports (
  id uuid not null,
  shard smallint not null,
  campaign_id uuid,
  content bytea storage external not null,
  constraint counted_reports_pkey PRIMARY KEY (id, shard)
) partition by RANGE (id);
create index counted_reports_campaign_idx on counted_reports (campaign_id, id) WHERE (campaign_id IS NOT NULL);

-- counter_deltas: distributed by shard
create table counter_deltas (
  shard smallint not null,
  id uuid not null,
  content bytea storage external not null,
  constraint counter_deltas_pkey PRIMARY KEY (shard, id)
);

-- counter_gates: distributed by shard
create table counter_gates (
  shard smallint not null,
  version bigint not null,
  is_whole boolean not null,
  content bytea storage external not null,
  constraint counter_gates_pkey PRIMARY KEY (shard, version)
);

-- counter_members: distributed by shard
create table counter_members (
  shingle bigint not null,
  day integer not null,
  prefix smallint not null,
  chunk integer not null,
  shard smallint not null,
  content bytea storage external not null,
  constraint counter_members_pkey PRIMARY KEY (shingle, day, prefix, chunk, shard)
) partition by RANGE (day);

-- counter_shards: distributed by shard
create table counter_shards (
  shard smallint not null,
  version bigint not null,
  deltas bigint not null default 0,
  gate_passed bigint not null default 0,
  gate_held_back bigint not null default 0,
  gate_false_positives real not null default 0,
  gate_fill real not null default 0,
  gate_began_at timestamp with time zone,
  gate_turnovers bigint not null default 0,
  constraint counter_shards_pkey PRIMARY KEY (shard)
);

-- counters: distributed by shard
create table counters (
  shingle bigint not null,
  generation integer not null,
  shard smallint not null,
  content bytea storage external not null,
  constraint counters_pkey PRIMARY KEY (shingle, generation, shard)
) partition by RANGE (generation);

-- database_sizes: local
create table database_sizes (
  day date not null,
  bytes bigint not null,
  constraint database_sizes_pkey PRIMARY KEY (day)
);

-- delisting_requests: local
create table delisting_requests (
  id uuid not null,
  token_hash bytea not null,
  list text not null,
  name text not null,
  state text not null,
  asker text not null,
  contact text not null,
  done text not null,
  asker_hash bytea not null,
  answer text,
  decided_at timestamp with time zone,
  decided_by uuid,
  constraint delisting_requests_pkey PRIMARY KEY (id),
  constraint delisting_requests_token_unique UNIQUE (token_hash),
  constraint delisting_requests_state_known CHECK ((state = ANY (ARRAY['open'::text, 'automatic'::text, 'accepted'::text, 'refused'::text])))
);
create index delisting_requests_asker_idx on delisting_requests (asker_hash, id);
create index delisting_requests_name_idx on delisting_requests (name, id);
create index delisting_requests_state_idx on delisting_requests (state, id);

-- enrollment_requests: local
create table enrollment_requests (
  id uuid not null,
  token_hash bytea not null,
  address text not null,
  state text not null,
  wish jsonb not null,
  asker_hash bytea not null,
  consumer_id uuid,
  decided_at timestamp with time zone,
  decided_by uuid,
  constraint enrollment_requests_pkey PRIMARY KEY (id),
  constraint enrollment_requests_token_unique UNIQUE (token_hash),
  constraint enrollment_requests_state_known CHECK ((state = ANY (ARRAY['sent'::text, 'proven'::text, 'accepted'::text, 'refused'::text])))
);
create index enrollment_requests_address_idx on enrollment_requests (address, id);
create index enrollment_requests_asker_idx on enrollment_requests (asker_hash, id);
create index enrollment_requests_state_idx on enrollment_requests (state, id);

-- erasures: reference
create table erasures (
  id uuid not null,
  token_hash bytea not null,
  reporter_id uuid,
  anonymous_id uuid not null,
  how text not null,
  state text not null,
  done integer not null default 0,
  after_id uuid,
  asked_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint erasures_pkey PRIMARY KEY (id),
  constraint erasures_token_unique UNIQUE (token_hash),
  constraint erasures_how_known CHECK ((how = ANY (ARRAY['keep'::text, 'remove'::text]))),
  constraint erasures_owner_until_done CHECK (((state = 'done'::text) = (reporter_id IS NULL))),
  constraint erasures_state_known CHECK ((state = ANY (ARRAY['under-way'::text, 'waiting'::text, 'done'::text])))
);
create index erasures_ended_idx on erasures (ended_at) WHERE (ended_at IS NOT NULL);

-- evidence_parts: distributed by shard
create table evidence_parts (
  part smallint not null,
  shard smallint not null,
  version bigint not null,
  constraint evidence_parts_pkey PRIMARY KEY (part, shard)
);

-- feedback_answers: distributed by shard
create table feedback_answers (
  report_id uuid not null,
  shard smallint not null,
  number smallint not null,
  answer text not null,
  how text not null,
  at timestamp with time zone not null,
  said text,
  mail_id uuid,
  constraint feedback_answers_pkey PRIMARY KEY (report_id, number, answer, shard),
  constraint feedback_answers_answer_known CHECK ((answer = ANY (ARRAY['resolved'::text, 'not-ours'::text, 'wrong'::text, 'stop'::text, 'original'::text]))),
  constraint feedback_answers_how_known CHECK ((how = ANY (ARRAY['link'::text, 'one-click'::text, 'mail'::text, 'operator'::text])))
) partition by RANGE (report_id);

-- feedback_messages: distributed by shard
create table feedback_messages (
  report_id uuid not null,
  shard smallint not null,
  number smallint not null,
  encoding text not null,
  content bytea storage external not null,
  is_masked boolean not null default false,
  constraint feedback_messages_pkey PRIMARY KEY (report_id, number, shard),
  constraint feedback_messages_encoding_known CHECK ((encoding = ANY (ARRAY['identity'::text, 'zstd'::text])))
) partition by RANGE (report_id);
create index feedback_messages_unmasked_idx on feedback_messages (report_id, number) WHERE (NOT is_masked);

-- feedback_reports: distributed by shard
create table feedback_reports (
  report_id uuid not null,
  shard smallint not null,
  number smallint not null,
  consumer_id uuid not null,
  kind text not null default 'complaint'::text,
  told_as text not null default 'network'::text,
  keeps_tokens boolean not null default false,
  state text not null,
  address text not null,
  incidents integer not null default 1,
  is_digest boolean not null default false,
  merged_into uuid,
  merged_number smallint,
  created_at timestamp with time zone not null,
  due_at timestamp with time zone,
  finished_at timestamp with time zone,
  message_id text,
  reply text,
  bounced_at timestamp with time zone,
  bounce_status text,
  bounce_reason text,
  shared_parts bytea,
  has_original boolean not null default false,
  constraint feedback_reports_pkey PRIMARY KEY (report_id, number, shard),
  constraint feedback_reports_consumer_fkey FOREIGN KEY (consumer_id) REFERENCES consumers(id),
  constraint feedback_reports_incidents_positive CHECK ((incidents > 0)),
  constraint feedback_reports_kind_known CHECK ((kind = ANY (ARRAY['complaint'::text, 'redeemed'::text, 'original'::text]))),
  constraint feedback_reports_merged_whole CHECK (((state = 'merged'::text) = (merged_into IS NOT NULL))),
  constraint feedback_reports_number_positive CHECK (((number >= 1) AND (number <= 255))),
  constraint feedback_reports_state_known CHECK ((state = ANY (ARRAY['waiting'::text, 'queued'::text, 'held'::text, 'sent'::text, 'bounced'::text, 'refused'::text, 'withdrawn'::text, 'merged'::text, 'shadowed'::text]))),
  constraint feedback_reports_told_as_known CHECK ((told_as = ANY (ARRAY['network'::text, 'cfbl'::text, 'marketer'::text, 'domain'::text, 'page'::text])))
) partition by RANGE (report_id);
create index feedback_reports_consumer_idx on feedback_reports (consumer_id, report_id);
create index feedback_reports_due_idx on feedback_reports (consumer_id, due_at) WHERE (state = 'waiting'::text);
create index feedback_reports_merged_idx on feedback_reports (merged_into, merged_number) WHERE (merged_into IS NOT NULL);
create index feedback_reports_state_idx on feedback_reports (state, report_id);

-- hand_overs: distributed by reporter_id
create table hand_overs (
  reporter_id uuid not null,
  ip inet not null,
  author_domain text not null,
  seen_on date not null,
  constraint hand_overs_pkey PRIMARY KEY (reporter_id, ip, author_domain),
  constraint hand_overs_owner_fkey FOREIGN KEY (reporter_id) REFERENCES reporters(id) ON DELETE CASCADE
);
create index hand_overs_seen_on on hand_overs (seen_on);

-- health_settings: local
create table health_settings (
  code text not null,
  warning double precision,
  critical double precision,
  silenced_until timestamp with time zone,
  silence_reason text,
  done_at timestamp with time zone,
  constraint health_settings_pkey PRIMARY KEY (code)
);

-- idempotency_keys: distributed by key_hash
create table idempotency_keys (
  key_hash bytea not null,
  body_hash bytea not null,
  created_at timestamp with time zone not null,
  answer_status integer,
  answer_body text,
  constraint idempotency_keys_pkey PRIMARY KEY (key_hash)
);
create index idempotency_keys_created_idx on idempotency_keys (created_at);

-- inbound_keys: distributed by key_hash
create table inbound_keys (
  key_hash bytea not null,
  mail_id uuid not null,
  created_at timestamp with time zone not null,
  constraint inbound_keys_pkey PRIMARY KEY (key_hash)
);
create index inbound_keys_created_idx on inbound_keys (created_at);

-- inbound_mails: distributed by id
create table inbound_mails (
  id uuid not null,
  received_at timestamp with time zone not null,
  mail_from text not null,
  rcpt_to text not null,
  peer_ip inet,
  purpose text not null,
  report_id uuid,
  number smallint,
  letter_id uuid,
  reporter_id uuid,
  matched_by text,
  state text not null,
  kind text,
  subject text,
  author text,
  message_id text,
  answer text,
  ticket text,
  said text,
  phrases jsonb,
  needs_look boolean not null default false,
  handled_at timestamp with time zone,
  handled_by uuid,
  encoding text not null,
  content bytea storage external not null,
  constraint inbound_mails_pkey PRIMARY KEY (id),
  constraint inbound_mails_answer_known CHECK ((answer = ANY (ARRAY['resolved'::text, 'not-ours'::text, 'wrong'::text, 'stop'::text, 'original'::text]))),
  constraint inbound_mails_encoding_known CHECK ((encoding = ANY (ARRAY['identity'::text, 'zstd'::text]))),
  constraint inbound_mails_mail_in_whole CHECK (((purpose <> 'mail-in'::text) OR (reporter_id IS NOT NULL))),
  constraint inbound_mails_matched_by_known CHECK ((matched_by = ANY (ARRAY['recipient'::text, 'envelope-id'::text, 'message-id'::text, 'return-path'::text, 'reference'::text]))),
  constraint inbound_mails_purpose_known CHECK ((purpose = ANY (ARRAY['feedback-bounce'::text, 'feedback-answer'::text, 'letter-bounce'::text, 'letter-answer'::text, 'mail-in'::text, 'other'::text, 'trap'::text, 'feedback-loop'::text]))),
  constraint inbound_mails_state_known CHECK ((state = ANY (ARRAY['received'::text, 'handled'::text, 'failed'::text])))
) partition by RANGE (id);
create index inbound_mails_kind_idx on inbound_mails (kind, id);
create index inbound_mails_letter_idx on inbound_mails (letter_id) WHERE (letter_id IS NOT NULL);
create index inbound_mails_look_idx on inbound_mails (id) WHERE (needs_look AND (handled_at IS NULL));
create index inbound_mails_reporter_idx on inbound_mails (reporter_id, id) WHERE (reporter_id IS NOT NULL);
create index inbound_mails_state_idx on inbound_mails (state, id);
create index inbound_mails_thread_idx on inbound_mails (report_id, number) WHERE (report_id IS NOT NULL);
create index inbound_mails_unmatched_idx on inbound_mails (id) WHERE ((matched_by IS NULL) AND (state = 'handled'::text));

-- installation: local
create table installation (
  is_only boolean not null,
  backend text not null,
  shingle_seed bigint,
  promotes_models boolean not null default false,
  publishes_statistics boolean not null default false,
  needs_migration text,
  constraint installation_pkey PRIMARY KEY (is_only),
  constraint installation_backend_known CHECK ((backend = ANY (ARRAY['postgres'::text, 'citus'::text]))),
  constraint installation_once CHECK (is_only)
);

-- karmas: distributed by reporter_id
create table karmas (
  reporter_id uuid not null,
  is_vouched boolean not null,
  provider_id uuid,
  agreed double precision not null default 0,
  disagreed double precision not null default 0,
  agreements integer not null default 0,
  retractions integer not null default 0,
  wanted_mail integer not null default 0,
  contradictions integer not null default 0,
  overrulings integer not null default 0,
  agreed_on date,
  updated_at timestamp with time zone not null,
  constraint karmas_pkey PRIMARY KEY (reporter_id)
);

-- letters: distributed by id
create table letters (
  id uuid not null,
  kind text not null,
  state text not null,
  address text not null,
  reporter_id uuid,
  report_id uuid,
  consumer_id uuid,
  created_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  reply text,
  encoding text not null,
  content bytea storage external not null,
  is_masked boolean not null default false,
  sealed_keys bytea,
  keys_expire_at timestamp with time zone,
  constraint letters_pkey PRIMARY KEY (id),
  constraint letters_encoding_known CHECK ((encoding = ANY (ARRAY['identity'::text, 'zstd'::text]))),
  constraint letters_kind_known CHECK ((kind = ANY (ARRAY['advice'::text, 'answer'::text, 'enrollment'::text, 'mail-in'::text, 'account'::text, 'news'::text, 'summary'::text, 'probe'::text]))),
  constraint letters_state_known CHECK ((state = ANY (ARRAY['queued'::text, 'held'::text, 'sent'::text, 'bounced'::text, 'refused'::text, 'suppressed'::text])))
) partition by RANGE (id);
create index letters_address_idx on letters (address, id);
create index letters_keys_expire_idx on letters (keys_expire_at) WHERE (sealed_keys IS NOT NULL);
create index letters_report_idx on letters (report_id) WHERE (report_id IS NOT NULL);
create index letters_reporter_idx on letters (reporter_id, id) WHERE (reporter_id IS NOT NULL);
create index letters_state_idx on letters (state, id);
create index letters_unmasked_idx on letters (id) WHERE (NOT is_masked);

-- list_exemptions: local
create table list_exemptions (
  name text not null,
  reason text not null,
  expires_at timestamp with time zone,
  reporter_id uuid,
  created_at timestamp with time zone not null,
  constraint list_exemptions_pkey PRIMARY KEY (name)
);

-- listings: local
create table listings (
  list text not null,
  name text not null,
  category text not null,
  listed_since timestamp with time zone not null,
  listed_until timestamp with time zone not null,
  times integer not null,
  reporters_at_least integer not null,
  last_seen timestamp with time zone not null,
  pardoned_at timestamp with time zone,
  pardoned_reporters integer,
  constraint listings_pkey PRIMARY KEY (list, name),
  constraint listings_category_known CHECK ((category = ANY (ARRAY['spam'::text, 'phishing'::text, 'malware'::text]))),
  constraint listings_list_known CHECK ((list = ANY (ARRAY['addresses'::text, 'domains'::text, 'hosts'::text]))),
  constraint listings_times_positive CHECK ((times > 0))
);
create index listings_until_idx on listings (listed_until);

-- mail_exchangers: local
create table mail_exchangers (
  domain text not null,
  host text not null,
  named_on date not null,
  constraint mail_exchangers_pkey PRIMARY KEY (domain, host),
  constraint mail_exchangers_length CHECK (((length(domain) <= 253) AND (length(host) <= 253)))
);
create index mail_exchangers_named_on on mail_exchangers (named_on);

-- mail_in_addresses: reference
create table mail_in_addresses (
  reporter_id uuid not null,
  generation integer not null,
  secret_hash bytea not null,
  since timestamp with time zone not null,
  answered_at timestamp with time zone,
  confirmed_at timestamp with time zone,
  constraint mail_in_addresses_pkey PRIMARY KEY (reporter_id),
  constraint mail_in_addresses_secret_unique UNIQUE (secret_hash),
  constraint mail_in_addresses_reporter_fkey FOREIGN KEY (reporter_id) REFERENCES reporters(id) ON DELETE CASCADE,
  constraint mail_in_addresses_generation_positive CHECK ((generation > 0))
);

-- mail_probes: distributed by reporter_id
create table mail_probes (
  reporter_id uuid not null,
  letter_id uuid not null,
  report_id uuid not null,
  border text,
  relays integer not null,
  came_at timestamp with time zone not null,
  constraint mail_probes_pkey PRIMARY KEY (reporter_id, letter_id),
  constraint mail_probes_owner_fkey FOREIGN KEY (reporter_id) REFERENCES reporters(id) ON DELETE CASCADE,
  constraint mail_probes_border_length CHECK ((length(border) <= 253))
);

-- mail_relay: local
create table mail_relay (
  id integer not null,
  refused_since timestamp with time zone,
  refused_at timestamp with time zone,
  reply text,
  failures integer not null,
  next_try_at timestamp with time zone,
  accepted_at timestamp with time zone,
  resumed_at timestamp with time zone,
  constraint mail_relay_pkey PRIMARY KEY (id),
  constraint mail_relay_single CHECK ((id = 1))
);

-- mail_source_campaigns: local
create table mail_source_campaigns (
  source_id uuid not null,
  campaign_id uuid not null,
  reported_on date not null,
  constraint mail_source_campaigns_pkey PRIMARY KEY (source_id, campaign_id)
);
create index mail_source_campaigns_day_idx on mail_source_campaigns (reported_on);

-- mail_source_days: local
create table mail_source_days (
  source_id uuid not null,
  day date not null,
  received bigint not null,
  reported bigint not null,
  repeated bigint not null,
  refused bigint not null,
  dropped bigint not null,
  constraint mail_source_days_pkey PRIMARY KEY (source_id, day)
);

-- mail_sources: reference
create table mail_sources (
  id uuid not null,
  address text not null,
  kind text not null,
  note text not null,
  created_at timestamp with time zone not null,
  constraint mail_sources_pkey PRIMARY KEY (id),
  constraint mail_sources_address_unique UNIQUE (address),
  constraint mail_sources_kind_known CHECK ((kind = ANY (ARRAY['trap'::text, 'feedback-loop'::text])))
);

-- mail_totals: local
create table mail_totals (
  kind text not null,
  outcome text not null,
  total bigint not null,
  constraint mail_totals_pkey PRIMARY KEY (kind, outcome),
  constraint mail_totals_kind_known CHECK ((kind = ANY (ARRAY['feedback'::text, 'letter'::text]))),
  constraint mail_totals_outcome_known CHECK ((outcome = ANY (ARRAY['sent'::text, 'refused'::text, 'bounced'::text])))
);

-- marketer_proposals: local
create table marketer_proposals (
  signer text not null,
  list_id text not null,
  state text not null,
  author text not null,
  name text not null,
  messages integer not null,
  reporters_at_least integer not null,
  subjects jsonb not null,
  unsubscribe_host text,
  first_seen timestamp with time zone not null,
  last_seen timestamp with time zone not null,
  decided_at timestamp with time zone,
  decided_by uuid,
  constraint marketer_proposals_pkey PRIMARY KEY (signer, list_id),
  constraint marketer_proposals_state_known CHECK ((state = ANY (ARRAY['open'::text, 'dismissed'::text, 'taken'::text])))
);
create index marketer_proposals_state_idx on marketer_proposals (state, messages);

-- marketer_registry: reference
create table marketer_registry (
  is_only boolean not null,
  version integer not null,
  constraint marketer_registry_pkey PRIMARY KEY (is_only),
  constraint marketer_registry_once CHECK (is_only)
);

-- marketers: reference
create table marketers (
  key text not null,
  kind text not null,
  name text not null,
  state text not null,
  signers text[] not null,
  ranges cidr[] not null,
  list_ids text[] not null,
  authors text[] not null,
  hosts text[] not null,
  practice text not null,
  website text,
  advice jsonb not null,
  contact text,
  feedback text,
  sources jsonb not null,
  changed_at timestamp with time zone not null,
  constraint marketers_pkey PRIMARY KEY (key),
  constraint marketers_kind_known CHECK ((kind = ANY (ARRAY['marketer'::text, 'service'::text]))),
  constraint marketers_state_known CHECK ((state = ANY (ARRAY['declared'::text, 'confirmed'::text, 'suspended'::text])))
);

-- mass_action_items: local
create table mass_action_items (
  action_id uuid not null,
  report_id uuid not null,
  outcome text,
  subject text,
  constraint mass_action_items_pkey PRIMARY KEY (action_id, report_id),
  constraint mass_action_items_action_fkey FOREIGN KEY (action_id) REFERENCES mass_actions(id) ON DELETE CASCADE,
  constraint mass_action_items_outcome_known CHECK ((outcome = ANY (ARRAY['changed'::text, 'unchanged'::text, 'undone'::text, 'notified'::text, 'overtaken'::text, 'gone'::text])))
);
create index mass_action_items_outcome_idx on mass_action_items (action_id, outcome, report_id);

-- mass_action_records: distributed by shard
create table mass_action_records (
  action_id uuid not null,
  report_id uuid not null,
  shard smallint not null,
  taken_at timestamp with time zone not null,
  state text not null,
  kind text not null,
  is_confirmed boolean not null,
  shadow text,
  corrected_as text,
  analysis jsonb,
  facts bytea storage external,
  content bytea storage external,
  campaign_id uuid,
  counted bytea storage external,
  evidence bytea,
  feedback jsonb not null,
  members uuid[],
  redeemed bytea,
  redeemed_at timestamp with time zone,
  testimonies bytea not null default '\x'::bytea,
  constraint mass_action_records_pkey PRIMARY KEY (report_id, action_id, shard)
);
create index mass_action_records_action_idx on mass_action_records (action_id, report_id);
create index mass_action_records_members_idx on mass_action_records (action_id) WHERE (members IS NOT NULL);

-- mass_actions: local
create table mass_actions (
  id uuid not null,
  reporter_id uuid,
  kind text not null,
  query text,
  reason text not null,
  state text not null,
  per_minute integer not null,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  settled_at timestamp with time zone,
  undone_by uuid,
  constraint mass_actions_pkey PRIMARY KEY (id),
  constraint mass_actions_speed_positive CHECK ((per_minute > 0)),
  constraint mass_actions_state_known CHECK ((state = ANY (ARRAY['running'::text, 'stopped'::text, 'done'::text, 'undoing'::text, 'undone'::text])))
);
create index mass_actions_open_idx on mass_actions (started_at) WHERE (settled_at IS NULL);

-- models: local
create table models (
  version integer not null,
  format text not null,
  content bytea not null,
  calibration jsonb not null,
  report jsonb,
  agreement jsonb not null default '[]'::jsonb,
  origin text not null,
  state text not null,
  trained_at timestamp with time zone not null,
  promoted_at timestamp with time zone,
  promoted_by uuid,
  own_test jsonb,
  constraint models_pkey PRIMARY KEY (version),
  constraint models_format_known CHECK ((format = ANY (ARRAY['linear'::text, 'catboost'::text]))),
  constraint models_promoted CHECK (((state = 'candidate'::text) = (promoted_at IS NULL))),
  constraint models_state_known CHECK ((state = ANY (ARRAY['candidate'::text, 'active'::text, 'retired'::text]))),
  constraint models_version_positive CHECK ((version > 0))
);
create unique index models_active_idx on models (state) WHERE (state = 'active'::text);

-- networks: reference
create table networks (
  cidr cidr not null,
  source text not null,
  asn bigint,
  name text,
  country text,
  abuse text,
  contacts text[] not null default '{}'::text[],
  is_muted boolean not null default false,
  imported_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  constraint networks_pkey PRIMARY KEY (cidr, source),
  constraint networks_abuse_is_first_contact CHECK ((NOT (abuse IS DISTINCT FROM contacts[1]))),
  constraint networks_country_two_letters CHECK ((country ~ '^[A-Z]{2}$'::text)),
  constraint networks_muted_by_hand CHECK (((NOT is_muted) OR ((source = 'manual'::text) AND (abuse IS NULL))))
);
create index networks_cidr_idx on networks USING spgist (cidr);
create index networks_expiry_idx on networks (expires_at) WHERE (expires_at IS NOT NULL);
create index networks_manual_idx on networks (cidr) WHERE (source = 'manual'::text);

-- organization_links: reference
create table organization_links (
  reporter_id uuid not null,
  issuer text not null,
  subject text not null,
  linked_at timestamp with time zone not null,
  refresh_token bytea,
  check_at timestamp with time zone not null,
  constraint organization_links_pkey PRIMARY KEY (reporter_id),
  constraint organization_links_person_unique UNIQUE (issuer, subject),
  constraint organization_links_reporter_fkey FOREIGN KEY (reporter_id) REFERENCES reporters(id) ON DELETE CASCADE
);

-- original_requests: distributed by report_id
create table original_requests (
  report_id uuid not null,
  number smallint not null,
  consumer_id uuid not null,
  reporter_id uuid not null,
  asked_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  is_granted boolean,
  decided_at timestamp with time zone,
  constraint original_requests_pkey PRIMARY KEY (report_id),
  constraint original_requests_decided CHECK (((is_granted IS NULL) = (decided_at IS NULL)))
);
create index original_requests_consumer_idx on original_requests (consumer_id, asked_at);
create index original_requests_reporter_idx on original_requests (reporter_id, asked_at);

-- page_endings: local
create table page_endings (
  page_id uuid not null,
  contact text not null,
  consumer_id uuid not null,
  report_id uuid not null,
  noticed_at timestamp with time zone not null,
  last_at timestamp with time zone not null,
  before integer not null,
  after integer not null,
  silent_at timestamp with time zone,
  changed_at timestamp with time zone not null,
  constraint page_endings_pkey PRIMARY KEY (page_id, contact),
  constraint page_endings_page_fkey FOREIGN KEY (page_id) REFERENCES pages(id) ON DELETE CASCADE
);
create index page_endings_consumer_idx on page_endings (consumer_id, noticed_at);
create index page_endings_noticed_idx on page_endings (noticed_at);

-- page_hosts: local
create table page_hosts (
  page_id uuid not null,
  asked_at timestamp with time zone not null,
  gone_at timestamp with time zone,
  misses integer not null,
  constraint page_hosts_pkey PRIMARY KEY (page_id),
  constraint page_hosts_page_fkey FOREIGN KEY (page_id) REFERENCES pages(id) ON DELETE CASCADE,
  constraint page_hosts_gone CHECK (((gone_at IS NULL) = (misses = 0)))
);

-- page_notices: local
create table page_notices (
  page_id uuid not null,
  contact text not null,
  role text not null,
  name text not null,
  ips inet[] not null,
  state text not null,
  place smallint not null,
  found_at timestamp with time zone not null,
  queued_at timestamp with time zone,
  report_id uuid,
  number smallint,
  exact_number smallint,
  withdrawal_number smallint,
  disowned_at timestamp with time zone,
  is_override boolean not null default false,
  constraint page_notices_pkey PRIMARY KEY (page_id, contact),
  constraint page_notices_page_fkey FOREIGN KEY (page_id) REFERENCES pages(id) ON DELETE CASCADE,
  constraint page_notices_queued_whole CHECK ((((state = 'queued'::text) = (report_id IS NOT NULL)) AND ((report_id IS NULL) = (number IS NULL)) AND ((report_id IS NULL) = (queued_at IS NULL)))),
  constraint page_notices_role_known CHECK ((role = ANY (ARRAY['platform'::text, 'redirector'::text, 'host'::text, 'cdn'::text, 'registrar'::text, 'partner'::text]))),
  constraint page_notices_state_known CHECK ((state = ANY (ARRAY['spare'::text, 'barred'::text, 'shown'::text, 'muted'::text, 'queued'::text])))
);
create index page_notices_feedback_idx on page_notices (report_id, number);
create index page_notices_queued_idx on page_notices (queued_at);

-- page_reports: local
create table page_reports (
  page_id uuid not null,
  report_id uuid not null,
  url text not null,
  seen_at timestamp with time zone not null,
  campaign_id uuid,
  reporter_id uuid not null,
  is_vouched boolean not null,
  is_proven boolean not null,
  is_young boolean not null,
  circle integer not null,
  recipient bytea not null,
  is_accusing boolean not null,
  is_supported boolean not null,
  decision text,
  signs text[] not null,
  constraint page_reports_pkey PRIMARY KEY (page_id, report_id),
  constraint page_reports_page_fkey FOREIGN KEY (page_id) REFERENCES pages(id) ON DELETE CASCADE,
  constraint page_reports_decision_known CHECK ((decision = ANY (ARRAY['phishing'::text, 'malware'::text, 'other'::text]))),
  constraint page_reports_recipient_length CHECK ((length(recipient) = 8))
);
create index page_reports_campaign_idx on page_reports (campaign_id);
create index page_reports_report_idx on page_reports (report_id);
create index page_reports_reporter_idx on page_reports (reporter_id);
create index page_reports_seen_idx on page_reports (page_id, seen_at);

-- page_submissions: local
create table page_submissions (
  page_id uuid not null,
  partner text not null,
  state text not null,
  tries integer not null,
  created_at timestamp with time zone not null,
  tried_at timestamp with time zone,
  status integer,
  constraint page_submissions_pkey PRIMARY KEY (page_id, partner),
  constraint page_submissions_page_fkey FOREIGN KEY (page_id) REFERENCES pages(id) ON DELETE CASCADE,
  constraint page_submissions_state_known CHECK ((state = ANY (ARRAY['waiting'::text, 'accepted'::text, 'duplicate'::text, 'refused'::text, 'given-up'::text, 'dropped'::text])))
);
create index page_submissions_tried_idx on page_submissions (partner, tried_at);

-- pages: local
create table pages (
  id uuid not null,
  key text not null,
  url text not null,
  host text not null,
  scope text not null,
  type text not null,
  state text not null,
  decision text,
  confirmed_by text,
  confirmed_at timestamp with time zone,
  cleared_at timestamp with time zone,
  imitates text,
  through text[] not null,
  shared boolean not null,
  first_seen timestamp with time zone not null,
  last_seen timestamp with time zone not null,
  reports integer not null,
  constraint pages_pkey PRIMARY KEY (id),
  constraint pages_key_unique UNIQUE (key),
  constraint pages_cleared_whole CHECK (((state = 'cleared'::text) = (cleared_at IS NOT NULL))),
  constraint pages_confirmed_by_known CHECK ((confirmed_by = ANY (ARRAY['person'::text, 'reporters'::text]))),
  constraint pages_confirmed_whole CHECK ((((state = 'confirmed'::text) = (confirmed_by IS NOT NULL)) AND ((state <> 'confirmed'::text) OR (confirmed_at IS NOT NULL)))),
  constraint pages_decision_known CHECK ((decision = ANY (ARRAY['phishing'::text, 'malware'::text, 'cleared'::text]))),
  constraint pages_length CHECK (((length(key) <= 500) AND (length(url) <= 2000))),
  constraint pages_scope_known CHECK ((scope = ANY (ARRAY['host'::text, 'path'::text]))),
  constraint pages_state_known CHECK ((state = ANY (ARRAY['seen'::text, 'confirmed'::text, 'cleared'::text]))),
  constraint pages_type_known CHECK ((type = ANY (ARRAY['phishing'::text, 'malware'::text])))
);
create index pages_host_idx on pages (host, id);
create index pages_last_seen_idx on pages (last_seen);
create index pages_state_idx on pages (state, id);

-- partners: local
create table partners (
  key text not null,
  contact text,
  sealed_key bytea,
  enabled_at timestamp with time zone not null,
  constraint partners_pkey PRIMARY KEY (key)
);

-- processes: local
create table processes (
  id uuid not null,
  host text not null,
  name text not null,
  version text not null,
  started_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  clock_ahead_seconds real not null,
  facts jsonb not null,
  duty text,
  place_since timestamp with time zone,
  constraint processes_pkey PRIMARY KEY (id)
);

-- proposed_deletions: local
create table proposed_deletions (
  id uuid not null,
  action text not null,
  given jsonb not null,
  detail text not null,
  proposed_by uuid,
  proposed_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint proposed_deletions_pkey PRIMARY KEY (id)
);

-- queue_controls: local
create table queue_controls (
  queue text not null,
  paused_at timestamp with time zone,
  paused_by uuid,
  reason text,
  concurrency integer,
  constraint queue_controls_pkey PRIMARY KEY (queue),
  constraint queue_controls_concurrency_sane CHECK (((concurrency >= 1) AND (concurrency <= 64)))
);

-- rate_counts: local
create table rate_counts (
  key uuid not null,
  sub_window_ms integer not null,
  newest bigint not null,
  total bigint not null,
  counts integer[] not null,
  constraint rate_counts_pkey PRIMARY KEY (key),
  constraint rate_counts_counts_few CHECK (((cardinality(counts) >= 1) AND (cardinality(counts) <= 61)))
);

-- rate_limits: reference
create table rate_limits (
  name text not null,
  attempt text not null,
  key_kind text not null,
  window_ms bigint not null,
  attempts_max integer not null,
  behavior text not null,
  changed_at timestamp with time zone not null,
  constraint rate_limits_pkey PRIMARY KEY (name),
  constraint rate_limits_attempt_known CHECK ((attempt = ANY (ARRAY['report'::text, 'read'::text, 'sign-in'::text, 'sign-in-device'::text, 'password'::text, 'sign-up'::text, 'reset'::text, 'confirm'::text, 'enroll'::text, 'lookup'::text, 'webhook'::text, 'mail-in'::text, 'form'::text, 'letter-owner'::text, 'letter-stranger'::text, 'mailbox-user'::text, 'provider'::text]))),
  constraint rate_limits_attempts_positive CHECK (((attempts_max >= 1) AND (attempts_max <= 1000000000))),
  constraint rate_limits_behavior_known CHECK ((behavior = ANY (ARRAY['refuse'::text, 'shadow'::text, 'off'::text]))),
  constraint rate_limits_key_kind_known CHECK ((key_kind = ANY (ARRAY['reporter'::text, 'token'::text, 'device'::text, 'address'::text, 'network'::text, 'wide-network'::text, 'name'::text, 'name-and-address'::text, 'name-and-network'::text, 'all'::text]))),
  constraint rate_limits_shadow_reports CHECK (((behavior <> 'shadow'::text) OR (attempt = ANY (ARRAY['report'::text, 'mail-in'::text, 'mailbox-user'::text])))),
  constraint rate_limits_window_divides CHECK ((((window_ms >= 600) AND (window_ms <= 86400000)) AND ((window_ms % (60)::bigint) = 0)))
);

-- raw_messages: distributed by shard
create table raw_messages (
  id uuid not null,
  shard smallint not null,
  encoding text not null,
  content bytea storage external not null,
  constraint raw_messages_pkey PRIMARY KEY (id, shard),
  constraint raw_messages_encoding_known CHECK ((encoding = ANY (ARRAY['identity'::text, 'zstd'::text])))
) partition by RANGE (id);

-- receiving_hosts: reference
create table receiving_hosts (
  domain text not null,
  host text not null,
  note text not null,
  created_at timestamp with time zone not null,
  constraint receiving_hosts_pkey PRIMARY KEY (domain, host),
  constraint receiving_hosts_length CHECK (((length(domain) <= 253) AND (length(host) <= 253)))
);

-- recovery_codes: reference
create table recovery_codes (
  reporter_id uuid not null,
  code_hash bytea not null,
  constraint recovery_codes_pkey PRIMARY KEY (reporter_id, code_hash),
  constraint recovery_codes_owner_fkey FOREIGN KEY (reporter_id) REFERENCES reporters(id) ON DELETE CASCADE
);

-- relay_lessons: distributed by reporter_id
create table relay_lessons (
  reporter_id uuid not null,
  learned_at timestamp with time zone not null,
  constraint relay_lessons_pkey PRIMARY KEY (reporter_id),
  constraint relay_lessons_owner_fkey FOREIGN KEY (reporter_id) REFERENCES reporters(id) ON DELETE CASCADE
);

-- report_aliases: distributed by id
create table report_aliases (
  id uuid not null,
  report_id uuid not null,
  constraint report_aliases_pkey PRIMARY KEY (id)
);

-- report_events: distributed by shard
create table report_events (
  report_id uuid not null,
  shard smallint not null,
  id uuid not null,
  at timestamp with time zone not null,
  event text not null,
  phrases jsonb not null,
  constraint report_events_pkey PRIMARY KEY (report_id, id, shard)
) partition by RANGE (report_id);

-- report_keys: distributed by content_hash
create table report_keys (
  content_hash bytea not null,
  reporter_id uuid not null,
  report_id uuid not null,
  constraint report_keys_pkey PRIMARY KEY (content_hash, reporter_id)
);
create index report_keys_report_idx on report_keys (report_id);

-- report_news: local
create table report_news (
  id uuid not null,
  report_ids uuid[] not null,
  constraint report_news_pkey PRIMARY KEY (id)
);

-- report_terms: distributed by shard
create table report_terms (
  id uuid not null,
  shard smallint not null,
  terms bigint[] storage external not null,
  constraint report_terms_pkey PRIMARY KEY (id, shard)
) partition by RANGE (id);
create index report_terms_terms_idx on report_terms USING gin (terms) WITH (gin_pending_list_limit='1024');

-- reported_evidence: distributed by shard
create table reported_evidence (
  id uuid not null,
  shard smallint not null,
  content bytea storage external not null,
  constraint reported_evidence_pkey PRIMARY KEY (id, shard)
) partition by RANGE (id);

-- reported_origins: local
create table reported_origins (
  ip inet not null,
  network_asn bigint,
  network_name text,
  network_country text,
  minutes integer[] not null,
  counts integer[] not null,
  people smallint not null,
  last_at timestamp with time zone,
  shadow_last_at timestamp with time zone,
  noticed_at timestamp with time zone,
  report_id uuid,
  consumer_id uuid,
  before integer not null,
  after integer not null,
  silent_at timestamp with time zone,
  changed_at timestamp with time zone not null,
  constraint reported_origins_pkey PRIMARY KEY (ip),
  constraint reported_origins_notice_whole CHECK ((((noticed_at IS NULL) = (report_id IS NULL)) AND ((noticed_at IS NULL) = (consumer_id IS NULL)))),
  constraint reported_origins_series CHECK (((cardinality(minutes) = cardinality(counts)) AND (cardinality(minutes) <= 400)))
);
create index reported_origins_changed_idx on reported_origins (changed_at);
create index reported_origins_consumer_idx on reported_origins (consumer_id, noticed_at) WHERE (consumer_id IS NOT NULL);
create index reported_origins_noticed_idx on reported_origins (noticed_at) WHERE (noticed_at IS NOT NULL);

-- reported_origins_progress: local
create table reported_origins_progress (
  is_only boolean not null,
  last_id uuid not null,
  constraint reported_origins_progress_pkey PRIMARY KEY (is_only),
  constraint reported_origins_progress_once CHECK (is_only)
);

-- reporter_days: distributed by reporter_id
create table reporter_days (
  reporter_id uuid not null,
  day date not null,
  due_at timestamp with time zone,
  counted_at timestamp with time zone,
  spam integer not null default 0,
  phishing integer not null default 0,
  not_spam integer not null default 0,
  told integer not null default 0,
  kept integer not null default 0,
  asked integer not null default 0,
  retracted integer not null default 0,
  mails integer not null default 0,
  answered integer not null default 0,
  networks jsonb not null default '[]'::jsonb,
  countries jsonb not null default '{}'::jsonb,
  constraint reporter_days_pkey PRIMARY KEY (reporter_id, day)
);
create index reporter_days_day_idx on reporter_days (day);
create index reporter_days_due_idx on reporter_days (due_at) WHERE (due_at IS NOT NULL);

-- reporter_news: distributed by reporter_id
create table reporter_news (
  reporter_id uuid not null,
  report_id uuid not null,
  kind text not null,
  desk text not null,
  at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  mailed_at timestamp with time zone,
  constraint reporter_news_pkey PRIMARY KEY (reporter_id, report_id, kind, desk),
  constraint reporter_news_kind_known CHECK ((kind = ANY (ARRAY['question'::text, 'resolved'::text, 'not-ours'::text, 'wrong'::text, 'stop'::text, 'original'::text, 'simulation'::text])))
);
create index reporter_news_at_idx on reporter_news (at);
create index reporter_news_due_idx on reporter_news (due_at) WHERE (mailed_at IS NULL);

-- reporter_relays: distributed by reporter_id
create table reporter_relays (
  reporter_id uuid not null,
  cidr cidr not null,
  how text not null,
  name text,
  evidence integer not null,
  since timestamp with time zone not null,
  constraint reporter_relays_pkey PRIMARY KEY (reporter_id, cidr),
  constraint reporter_relays_owner_fkey FOREIGN KEY (reporter_id) REFERENCES reporters(id) ON DELETE CASCADE,
  constraint reporter_relays_evidence_positive CHECK ((evidence >= 0)),
  constraint reporter_relays_how_known CHECK ((how = ANY (ARRAY['set'::text, 'learned'::text, 'proposed'::text, 'refused'::text])))
);
create index reporter_relays_refused_idx on reporter_relays USING gist (cidr inet_ops) WHERE (how = 'refused'::text);

-- reporters: reference
create table reporters (
  id uuid not null,
  email text not null,
  password_hash text,
  totp_secret bytea,
  totp_step bigint,
  role text,
  state text not null default 'active'::text,
  language text,
  wants_answers boolean not null default true,
  wants_advice boolean not null default true,
  provider_id uuid,
  created_at timestamp with time zone not null,
  wants_summary boolean not null default false,
  summarized_month date,
  role_until timestamp with time zone,
  constraint reporters_pkey PRIMARY KEY (id),
  constraint reporters_email_unique UNIQUE (email),
  constraint reporters_provider_fkey FOREIGN KEY (provider_id) REFERENCES reporters(id) ON DELETE SET NULL,
  constraint reporters_email_lower CHECK ((email = lower(email))),
  constraint reporters_language_known CHECK ((language = ANY (ARRAY['en'::text, 'fr'::text, 'ru'::text]))),
  constraint reporters_role_known CHECK ((role = ANY (ARRAY['viewer'::text, 'analyst'::text, 'operator'::text, 'administrator'::text]))),
  constraint reporters_state_known CHECK ((state = ANY (ARRAY['active'::text, 'disabled'::text, 'erasing'::text])))
);
create index reporters_domain_idx on reporters (split_part(email, '@'::text, '-1'::integer));
create index reporters_email_idx on reporters (email COLLATE "C");
create index reporters_provider_idx on reporters (provider_id) WHERE (provider_id IS NOT NULL);
create index reporters_role_idx on reporters (role) WHERE (role IS NOT NULL);
create index reporters_summary_idx on reporters (id) WHERE wants_summary;

-- reports: distributed by shard
create table reports (
  id uuid not null,
  shard smallint not null,
  reporter_id uuid not null,
  channel text not null,
  kind text not null,
  state text not null,
  received_at timestamp with time zone not null,
  message_bytes integer not null,
  author text,
  subject text,
  message_id text,
  dated_at timestamp with time zone,
  comment text,
  received_via cidr[] not null,
  rebuilt_from text,
  shadow text,
  is_confirmed boolean not null default false,
  corrected_as text,
  constraint reports_pkey PRIMARY KEY (id, shard),
  constraint reports_channel_known CHECK ((channel = ANY (ARRAY['api'::text, 'signaler'::text, 'form'::text, 'mail'::text, 'import'::text, 'learn'::text, 'trap'::text, 'feedback-loop'::text]))),
  constraint reports_corrected_as_known CHECK ((corrected_as = ANY (ARRAY['spam'::text, 'phishing'::text, 'malware'::text, 'marketing'::text, 'legitimate'::text]))),
  constraint reports_kind_known CHECK ((kind = ANY (ARRAY['spam'::text, 'phishing'::text, 'not-spam'::text]))),
  constraint reports_rebuilt_from_known CHECK ((rebuilt_from = 'msg'::text)),
  constraint reports_shadow_known CHECK ((shadow = ANY (ARRAY['held'::text, 'dropped'::text, 'released'::text]))),
  constraint reports_state_known CHECK ((state = ANY (ARRAY['received'::text, 'analyzed'::text, 'forwarded'::text, 'kept'::text, 'retracted'::text, 'failed'::text])))
) partition by RANGE (id);
create index reports_reporter_idx on reports (reporter_id, id);
create index reports_shadow_idx on reports (shadow, id) WHERE (shadow IS NOT NULL);
create index reports_state_idx on reports (state, id);
create index reports_wanted_idx on reports (reporter_id, author) WHERE (kind = 'not-spam'::text);

-- reports_to_count: distributed by shard
create table reports_to_count (
  id uuid not null,
  slot integer not null,
  shard smallint not null,
  waiting_since timestamp with time zone not null,
  constraint reports_to_count_pkey PRIMARY KEY (id, shard)
);

-- reputation_evidence: distributed by shard
create table reputation_evidence (
  part smallint not null,
  id uuid not null,
  shard smallint not null,
  content bytea storage external not null,
  constraint reputation_evidence_pkey PRIMARY KEY (part, id, shard)
);

-- reputation_marks: local
create table reputation_marks (
  key bigint not null,
  kind text not null,
  name text not null,
  mark text not null,
  reason text not null,
  reporter_id uuid,
  set_at timestamp with time zone not null,
  until_at timestamp with time zone,
  constraint reputation_marks_pkey PRIMARY KEY (key),
  constraint reputation_marks_mark_known CHECK ((mark = ANY (ARRAY['listed'::text, 'welcome'::text, 'exempt'::text])))
);

-- reputations: distributed by shard
create table reputations (
  key bigint not null,
  shard smallint not null,
  kind text not null,
  name text not null,
  good real not null,
  bad real not null,
  recent_good real not null,
  recent_bad real not null,
  first_seen_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  woke_at timestamp with time zone,
  jumped_at timestamp with time zone,
  folded_at timestamp with time zone not null,
  detail bytea storage external not null,
  phishing real,
  malware real,
  constraint reputations_pkey PRIMARY KEY (key, shard)
);
create index reputations_name_idx on reputations (name text_pattern_ops);

-- rule_list_edition: reference
create table rule_list_edition (
  is_only boolean not null,
  version integer not null,
  constraint rule_list_edition_pkey PRIMARY KEY (is_only),
  constraint rule_list_edition_once CHECK (is_only)
);

-- rule_list_entries: reference
create table rule_list_entries (
  list text not null,
  value text not null,
  note text not null,
  added_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  hits bigint not null,
  last_hit_at timestamp with time zone,
  constraint rule_list_entries_pkey PRIMARY KEY (list, value),
  constraint rule_list_entries_owner_fkey FOREIGN KEY (list) REFERENCES rule_lists(name) ON DELETE CASCADE,
  constraint rule_list_entries_length CHECK ((length(value) <= 255))
);
create index rule_list_entries_expires_idx on rule_list_entries (expires_at) WHERE (expires_at IS NOT NULL);

-- rule_lists: reference
create table rule_lists (
  name text not null,
  kind text not null,
  note text not null,
  created_at timestamp with time zone not null,
  constraint rule_lists_pkey PRIMARY KEY (name),
  constraint rule_lists_kind_known CHECK ((kind = ANY (ARRAY['words'::text, 'hosts'::text, 'addresses'::text, 'hashes'::text])))
);

-- rule_processes: local
create table rule_processes (
  id uuid not null,
  name text not null,
  version integer not null,
  model_version integer,
  fault text,
  health jsonb not null,
  seen_at timestamp with time zone not null,
  constraint rule_processes_pkey PRIMARY KEY (id)
);

-- rule_sets: reference
create table rule_sets (
  version integer not null,
  content text,
  note text not null,
  applied_at timestamp with time zone not null,
  applied_by uuid,
  constraint rule_sets_pkey PRIMARY KEY (version),
  constraint rule_sets_version_counts CHECK ((version > 0))
);

-- saved_searches: local
create table saved_searches (
  reporter_id uuid not null,
  name text not null,
  query text not null,
  saved_at timestamp with time zone not null,
  constraint saved_searches_pkey PRIMARY KEY (reporter_id, name),
  constraint saved_searches_owner_fkey FOREIGN KEY (reporter_id) REFERENCES reporters(id) ON DELETE CASCADE
);

-- search_news: local
create table search_news (
  id uuid not null,
  report_ids uuid[] not null,
  constraint search_news_pkey PRIMARY KEY (id)
);

-- secret_uses: local
create table secret_uses (
  name text not null,
  purpose text not null,
  last_at timestamp with time zone not null,
  constraint secret_uses_pkey PRIMARY KEY (name, purpose)
);

-- secrets: local
create table secrets (
  number integer not null,
  name text not null,
  in_force_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  progress jsonb,
  converted_at timestamp with time zone,
  constraint secrets_pkey PRIMARY KEY (number),
  constraint secrets_name_unique UNIQUE (name)
);

-- sender_alerts: local
create table sender_alerts (
  id uuid not null,
  key bigint not null,
  day date not null,
  system text not null,
  user_name text not null,
  cause text not null,
  counts jsonb not null,
  messages jsonb not null,
  closed_at timestamp with time zone,
  constraint sender_alerts_pkey PRIMARY KEY (id),
  constraint sender_alerts_key_day_unique UNIQUE (key, day),
  constraint sender_alerts_cause_known CHECK ((cause = ANY (ARRAY['unwanted'::text, 'complaints'::text, 'bounces'::text])))
);

-- sessions: local
create table sessions (
  sid character varying not null,
  sess json not null,
  expire timestamp(6) without time zone not null,
  reporter_id uuid generated always as (((sess ->> 'reporterId'::text))::uuid) stored,
  constraint sessions_pkey PRIMARY KEY (sid)
);
create index sessions_expire_idx on sessions (expire);
create index sessions_reporter_idx on sessions (reporter_id) WHERE (reporter_id IS NOT NULL);

-- shadow_bans: distributed by reporter_id
create table shadow_bans (
  reporter_id uuid not null,
  reason text not null,
  imposed_at timestamp with time zone not null,
  imposed_by uuid,
  constraint shadow_bans_pkey PRIMARY KEY (reporter_id)
);

-- simulation_marks: local
create table simulation_marks (
  report_id uuid not null,
  vendor text not null,
  seen_at timestamp with time zone not null,
  constraint simulation_marks_pkey PRIMARY KEY (report_id),
  constraint simulation_marks_vendor_known CHECK ((vendor = ANY (ARRAY['cofense'::text, 'gophish'::text, 'knowbe4'::text, 'proofpoint'::text])))
);
create index simulation_marks_seen_idx on simulation_marks (seen_at);

-- simulation_reports: local
create table simulation_reports (
  simulation_id uuid not null,
  person bytea not null,
  reported_at timestamp with time zone not null,
  seconds integer,
  constraint simulation_reports_pkey PRIMARY KEY (simulation_id, person)
);

-- simulations: reference
create table simulations (
  id uuid not null,
  name text not null,
  vendor text not null,
  signers text[] not null,
  ranges cidr[] not null,
  key_hash bytea,
  recipients integer,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint simulations_pkey PRIMARY KEY (id),
  constraint simulations_proven CHECK ((((cardinality(signers) + cardinality(ranges)) > 0) OR (length(key_hash) = 32))),
  constraint simulations_vendor_known CHECK ((vendor = ANY (ARRAY['cofense'::text, 'gophish'::text, 'knowbe4'::text, 'microsoft'::text, 'proofpoint'::text, 'other'::text])))
);

-- statistic_months: local
create table statistic_months (
  month date not null,
  counted_at timestamp with time zone not null,
  figures jsonb,
  constraint statistic_months_pkey PRIMARY KEY (month),
  constraint statistic_months_first_day CHECK ((EXTRACT(day FROM month) = (1)::numeric))
);

-- stopped_processes: local
create table stopped_processes (
  id uuid not null,
  host text not null,
  name text not null,
  duty text,
  place_since timestamp with time zone,
  seen_at timestamp with time zone not null,
  constraint stopped_processes_pkey PRIMARY KEY (id)
);

-- suppressions: reference
create table suppressions (
  address text not null,
  reason text not null,
  status text,
  detail text not null,
  since timestamp with time zone not null,
  until timestamp with time zone,
  constraint suppressions_pkey PRIMARY KEY (address),
  constraint suppressions_address_lower CHECK ((address = lower(address))),
  constraint suppressions_reason_known CHECK ((reason = ANY (ARRAY['hard-bounce'::text, 'soft-bounces'::text, 'complaint'::text, 'stop'::text, 'operator'::text])))
);
create index suppressions_until_idx on suppressions (until) WHERE (until IS NOT NULL);

-- table_placements: local
create table table_placements (
  table_name text not null,
  placement text not null,
  distribution_key text,
  constraint table_placements_pkey PRIMARY KEY (table_name),
  constraint table_placements_key_given CHECK (((placement = 'distributed'::text) = (distribution_key IS NOT NULL))),
  constraint table_placements_placement_known CHECK ((placement = ANY (ARRAY['distributed'::text, 'reference'::text, 'local'::text])))
);

-- tokens: reference
create table tokens (
  token_hash bytea not null,
  id uuid not null,
  reporter_id uuid not null,
  name text not null,
  scopes text[] not null,
  role text,
  created_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint tokens_pkey PRIMARY KEY (token_hash),
  constraint tokens_id_unique UNIQUE (id),
  constraint tokens_reporter_fkey FOREIGN KEY (reporter_id) REFERENCES reporters(id) ON DELETE CASCADE,
  constraint tokens_permit_something CHECK (((scopes <> '{}'::text[]) OR (role IS NOT NULL))),
  constraint tokens_role_known CHECK ((role = ANY (ARRAY['viewer'::text, 'analyst'::text, 'operator'::text, 'administrator'::text]))),
  constraint tokens_scopes_known CHECK ((scopes <@ ARRAY['report'::text, 'read'::text, 'retract'::text, 'account'::text, 'on-behalf'::text]))
);
create index tokens_reporter_idx on tokens (reporter_id);

-- unsubscribe_requests: distributed by shard
create table unsubscribe_requests (
  report_id uuid not null,
  shard smallint not null,
  reporter_id uuid not null,
  state text not null,
  host text not null,
  asked_at timestamp with time zone not null,
  begun_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint unsubscribe_requests_pkey PRIMARY KEY (report_id, shard),
  constraint unsubscribe_requests_state_known CHECK ((state = ANY (ARRAY['queued'::text, 'under-way'::text, 'done'::text, 'doubtful'::text, 'refused'::text, 'failed'::text, 'unknown'::text])))
) partition by RANGE (report_id);
create index unsubscribe_requests_state_idx on unsubscribe_requests (state, report_id) WHERE (state = ANY (ARRAY['queued'::text, 'under-way'::text]));

-- webhook_deliveries: distributed by webhook_id
create table webhook_deliveries (
  webhook_id uuid not null,
  id uuid not null,
  event text not null,
  report_id uuid,
  alert_id uuid,
  state text not null,
  tries integer not null,
  tried_at timestamp with time zone,
  status integer,
  phrase jsonb,
  constraint webhook_deliveries_pkey PRIMARY KEY (webhook_id, id),
  constraint webhook_deliveries_webhook_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE,
  constraint webhook_deliveries_state_known CHECK ((state = ANY (ARRAY['waiting'::text, 'delivered'::text, 'given-up'::text, 'dropped'::text])))
);
create index webhook_deliveries_id_idx on webhook_deliveries (id);

-- webhooks: reference
create table webhooks (
  id uuid not null,
  reporter_id uuid not null,
  url text not null,
  events text[] not null,
  state text not null,
  generation integer not null,
  renewed_at timestamp with time zone,
  created_at timestamp with time zone not null,
  failures integer not null,
  failing_since timestamp with time zone,
  paused_until timestamp with time zone,
  constraint webhooks_pkey PRIMARY KEY (id),
  constraint webhooks_url_unique UNIQUE (reporter_id, url),
  constraint webhooks_reporter_fkey FOREIGN KEY (reporter_id) REFERENCES reporters(id) ON DELETE CASCADE,
  constraint webhooks_generation_positive CHECK ((generation > 0)),
  constraint webhooks_state_known CHECK ((state = ANY (ARRAY['enabled'::text, 'disabled'::text, 'failed'::text])))
);
