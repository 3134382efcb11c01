/**
 * What operators' pages read besides reports, in the numbers of a large site after a bad week: many
 * jobs wait, some desks refuse mail, and people wait for answers. `$1` is the instant of the newest
 * report, `$2` the busy reporter.
 */
export const operations: readonly string[] = [
  `insert into reporters (id, email, created_at)
   select ${id('account', 'n')}, 'person-' || n || '@people.example', '2025-01-01'
   from generate_series(1, 50000) as n`,
  `insert into pgboss.job (name, data, created_on, start_after)
   select 'analyze-report', jsonb_build_object('reportId', id), received_at,
     $1::timestamptz + case when n % 5 = 0 then interval '1 hour' else interval '0' end
   from (select id, received_at, row_number() over () as n from reports
     order by id desc limit 20000) as waiting`,
  `insert into pgboss.job (name, data, created_on, source_name, source_created_on,
     source_retry_count, source_output)
   select 'dead-letter', jsonb_build_object('reportId', id), received_at, 'forward-report',
     received_at, 5, '{"message": "The mail server refused the recipient."}'
   from (select id, received_at from reports order by id desc limit 20000) as failed`,
  `insert into suppressions (address, reason, detail, since)
   select 'gone-' || n || '@desk.example', 'hard-bounce', '550 5.1.1 No such user', $1
   from generate_series(1, 20000) as n`,
  `insert into consumers (id, address, state, created_at, health, health_until)
   select ${id('desk', 'n')}, 'abuse@desk-' || n || '.example', 'found', '2025-01-01', its,
     case its when 'failing' then $1::timestamptz + interval '3 days' end
   from (select n, case when n % 100 = 0 then 'failing' else 'healthy' end as its
     from generate_series(1, 20000) as n) as desks`,
  `insert into contact_corrections (cidr, address, reason, since, until)
   select ${block('100.64.0.0', 24)}, 'noc-' || n || '@desk.example', 'bounce', $1,
     $1::timestamptz + interval '90 days'
   from generate_series(1, 2000) as n`,
  `insert into networks (cidr, source, asn, name, country, abuse, contacts, imported_at)
   select ${block('20.0.0.0', 22)}, 'ripe', 64500 + n % 1000, 'Network ' || n % 9000, 'FR',
     address, array[address], $1
   from (select n, 'abuse@network-' || n % 9000 || '.example' as address
     from generate_series(1, 200000) as n) as known`,
  `update feedback_reports set state = case when number = 1 then 'refused' else 'held' end
   where state = 'sent' and report_id in (
     select id from reports where state = 'forwarded' order by id desc limit 20000)
     and right(report_id::text, 1) in ('3', '7')`,
  `update letters set state = case when right(id::text, 1) = '3' then 'refused' else 'held' end
   where right(id::text, 1) in ('3', '7')`,
  `insert into listings (list, name, category, listed_since, listed_until, times,
     reporters_at_least, last_seen)
   select 'addresses', host('100.64.0.0'::inet + n), 'spam', $1,
     $1::timestamptz + interval '7 days', 1, 3, $1
   from generate_series(1, 100000) as n`,
  `insert into list_exemptions (name, reason, created_at)
   select host('100.80.0.0'::inet + n), 'A friend', $1 from generate_series(1, 5000) as n`,
  `insert into delisting_requests (id, token_hash, list, name, state, asker, contact, done,
     asker_hash)
   select ${id('request', 'n')}, sha256(n::text::bytea), 'addresses',
     host('100.64.0.0'::inet + n), case when n % 5 = 0 then 'open' else 'accepted' end,
     'Ann', 'ann@host.example', 'The account is closed.', sha256(n::text::bytea)
   from generate_series(1, 5000) as n`,
  `insert into enrollment_requests (id, token_hash, address, state, wish, asker_hash)
   select ${id('enrollment', 'n')}, sha256(n::text::bytea), 'abuse@new-' || n || '.example',
     'accepted', '{}', sha256(n::text::bytea)
   from generate_series(1, 2000) as n`,
  `insert into marketer_proposals (signer, list_id, state, author, name, messages,
     reporters_at_least, subjects, first_seen, last_seen)
   select 'shop-' || n || '.example', '', 'open', 'shop-' || n || '.example', 'Shop ' || n, 9, 7,
     '["News"]', $1, $1
   from generate_series(1, 2000) as n`,
  `insert into reputations (key, shard, kind, name, good, bad, recent_good, recent_bad,
     first_seen_at, last_seen_at, folded_at, detail)
   select key, ((key >> 60) & 15)::smallint, 'address', name, 0, 18, 0, 18, $1, $1, $1, ''
   from (select name, hashtextextended(name, 0) as key
     from (select host('100.64.0.0'::inet + n * 7) as name
       from generate_series(1, 300000) as n) as named) as keyed`,
  `insert into reputation_marks (key, kind, name, mark, reason, set_at)
   select hashtextextended('mark' || n, 0), 'address', host('100.81.0.0'::inet + n), 'listed',
     'Seen in a trap', $1
   from generate_series(1, 2000) as n`,
  `insert into sender_alerts (id, key, day, system, user_name, cause, counts, messages, closed_at)
   select ${id('alert', 'n')}, n, $1::timestamptz::date, '', 'user-' || n, 'unwanted',
     '{"sent": 40, "unwanted": 30, "recipients": 90, "complaints": 0, "bounces": 2, "reads": 0,
       "sentLastHour": 12, "unwantedLastHour": 11}', '[]', case when n % 10 > 0 then $1 end
   from generate_series(1, 5000) as n`,
  `insert into mass_actions (id, reporter_id, kind, query, reason, state, per_minute, started_at,
     ended_at)
   select ${id('action', 'n')}, $2, 'analyze-again', 'subject:parcel', 'New rules', 'done', 600,
     $1::timestamptz - n * interval '1 hour', $1 from generate_series(1, 300) as n`,
  `insert into mass_action_items (action_id, report_id, outcome)
   select action.id, r.id, case when right(r.id::text, 1) < '8' then 'changed' else 'unchanged' end
   from (select id from mass_actions order by id desc limit 1) as action,
     (select id from reports order by id desc limit 100000) as r`,
  `insert into saved_searches (reporter_id, name, query, saved_at)
   select $2, 'Search ' || n, 'subject:parcel', $1 from generate_series(1, 20) as n`,
  `insert into audit_log (id, at, reporter_id, action, detail)
   select ${id('entry', 'n', `$1::timestamptz - n * interval '2 minutes'`)},
     $1::timestamptz - n * interval '2 minutes', $2,
     (array['suppress', 'set limit', 'redrive', 'mass action'])[n % 4 + 1], 'entry ' || n
   from generate_series(1, 200000) as n`,
  `insert into shadow_bans (reporter_id, reason, imposed_at)
   select id, 'Reports rivals', $1 from reporters where email like 'reporter-_@%'`,
  `update reports set shadow = 'held' where id in (
     select id from reports where reporter_id in (select reporter_id from shadow_bans)
     order by id desc limit 2000)`,
  `insert into webhooks (id, reporter_id, url, events, state, generation, created_at, failures)
   select ${id('webhook', 'n')}, $2, 'https://receiver.example/' || n, '{report.told}',
     'enabled', 1, $1, 0
   from generate_series(1, 5) as n`,
  `insert into webhook_deliveries (webhook_id, id, event, report_id, state, tries)
   select webhooks.id, gen_random_uuid(), 'report.told', r.id, 'delivered', 1
   from webhooks, (select id from reports order by id desc limit 10000) as r`,
  `insert into mail_sources (id, address, kind, note, created_at)
   select ${id('source', 'n')}, '@trap-' || n || '.example', 'trap', 'Closed in 2019', $1
   from generate_series(1, 50) as n`,
  `insert into mail_source_days (source_id, day, received, reported, repeated, refused, dropped)
   select id, ($1::timestamptz - day * interval '1 day')::date, 900, 90, 800, 5, 5
   from mail_sources, generate_series(0, 360) as day`,
]

/** SQL for a uuid with the time of the newest report, and bits that follow from a number. */
function id(salt: string, n: string, at = '$1::timestamptz'): string {
  return `(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0')
    || '7' || substr(md5('${salt}' || ${n}), 1, 3) || '8'
    || substr(md5('${salt}' || ${n}), 4, 15))::uuid`
}

/** SQL for the `n`th block of a length from an address on. */
function block(first: string, length: number): string {
  return `set_masklen('${first}'::inet + n * ${2 ** (32 - length)}, ${length})::cidr`
}
