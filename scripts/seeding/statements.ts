import { type Phrase, phrase } from '../../src/phrase.ts'

/**
 * The statements that create the content of a seeded database, in order. All rows are derived from
 * the number of a report, so the same sizes and instant give the same rows. `$1` is the instant of
 * the newest report.
 */
export const preparation = `
  create unlogged table seed_templates (
    template integer primary key, raw_encoding text, raw bytea, encoding text, content bytea,
    facts bytea);
  create function seed_id(at timestamptz, salt text, n bigint) returns uuid
    language sql immutable as $$
      select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
        || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid
      from md5(salt || n) as hash $$;
  create unlogged table seed_reports (
    n bigint primary key, id uuid, reporter_id uuid, received_at timestamptz, kind text,
    state text, campaign integer);`

const phrases = (...said: Phrase[]) => `'${JSON.stringify(said)}'::jsonb`
const found = phrases(
  phrase('origin-found', { ip: '100.64.0.1', percent: 95 }),
  phrase('network-has-contact', { network: '100.64.0.0/10' }),
)
const resolved = phrases(phrase('answered-resolved', { speaker: 'network' }))
const retracted = phrases(phrase('retracted-by-reporter'))

/** The number of reporters besides the one with a tenth of all reports. */
const OTHER_REPORTERS = 999
const CONSUMERS = 500
/** The number of consecutive reports that belong to the same campaign. */
const CAMPAIGN_SIZE = 40

const reporter = `case when n % 10 = 0 then $2::uuid
  else seed_id('2025-01-01', 'reporter', n % ${OTHER_REPORTERS}) end`

/**
 * Plans all reports. `$2`: the busy reporter; `$3`: the number of reports; `$4`: the number of
 * days.
 */
export const plan = `
  insert into seed_reports
  select n, seed_id(at, 'report', n), ${reporter}, at,
    case when n * 7 % 100 < 85 then 'spam' when n * 7 % 100 < 95 then 'phishing'
      else 'not-spam' end,
    case when n < 40 then 'received' when h < 450 then 'forwarded' when h < 500 then 'analyzed'
      when h < 550 then 'retracted' when h < 553 then 'failed' else 'kept' end,
    case when n % 10 < 7 then (n / ${CAMPAIGN_SIZE})::integer end
  from (
    select n, n * 7919 % 1000 as h,
      date_trunc('milliseconds', $1::timestamptz - interval '1 day' * $4 * (n::float8 / $3)) as at
    from generate_series(0, $3::bigint - 1) as n) as numbered`

/** Inserts the reporters besides the busy one, their karma, and the consumers. */
export const people = [
  `insert into reporters (id, email, created_at)
   select seed_id('2025-01-01', 'reporter', n), 'reporter-' || n || '@reporters.example',
     '2025-01-01'
   from generate_series(0, ${OTHER_REPORTERS - 1}) as n`,
  `insert into karmas (reporter_id, is_vouched, agreed, updated_at)
   select seed_id('2025-01-01', 'reporter', n), false, n % 50, '2025-01-01'
   from generate_series(0, ${OTHER_REPORTERS - 1}) as n`,
  `insert into consumers (id, address, state, created_at, enrolled_at)
   select seed_id('2025-01-01', 'consumer', n), 'abuse@network-' || n || '.example',
     case when n % 10 = 0 then 'enrolled' else 'found' end, '2025-01-01',
     case when n % 10 = 0 then '2025-01-02'::timestamptz end
   from generate_series(0, ${CONSUMERS - 1}) as n`,
]

const subject = `(array['Invoice', 'Your parcel', 'Cheap watches', 'Account locked', 'You have won',
  'Meeting', 'Newsletter', 'Re: offer'])[n % 8 + 1] || ' ' || substr(md5(n::text), 1, 6)`
const address = `('100.64.0.0'::inet + (n * 104729 % 4000000)::bigint)`
const network = `n * 13 % 500`
const countries = `(array['FR', 'US', 'DE', 'RU', 'CN', 'NL', 'BR', 'IN', 'GB', 'VN', 'PL', 'TR',
  'IT', 'ES', 'UA', 'JP', 'KR', 'ID', 'MX', 'ZA'])[${network} % 20 + 1]`
const template = 't.template = r.n % (select count(*) from seed_templates)'
const campaignAt = `date_trunc('day', r.received_at)`

/**
 * Inserts the rows of the reports, one list of statements per table, so that several tables can be
 * filled in parallel.
 */
export const tables: readonly (readonly string[])[] = [
  [
    `insert into reports (id, shard, reporter_id, channel, kind, state, received_at, message_bytes,
       author, subject, message_id, received_via)
     select id, shard_of(id), reporter_id, 'api', kind, state, received_at, 4000 + n % 9000,
       'sender-' || n % 5000 || '@shop-' || n % 700 || '.example', ${subject},
       '<' || n || '@shop.example>', '{}' from seed_reports`,
    `insert into report_events (report_id, shard, id, at, event, phrases)
     select id, shard_of(id), seed_id(at, event, n), at, event, phrases from (
       select n, id, received_at + interval '1 second' as at, 'analyzed' as event,
         ${found} as phrases
       from seed_reports where state <> 'received'
       union all
       select n, id, received_at + interval '2 seconds', 'sent',
         jsonb_build_array(jsonb_build_object('code', 'feedback-sent', 'params',
           jsonb_build_object('recipient', 'network', 'network', 'Network ' || ${network})))
       from seed_reports where state = 'forwarded'
       union all
       select n, id, received_at + interval '1 hour', 'desk-resolved',
         ${resolved}
       from seed_reports where state = 'forwarded' and n % 5 = 0
       union all
       select n, id, received_at + interval '2 hours', 'retracted', ${retracted}
       from seed_reports where state = 'retracted') as happened`,
    `insert into audit_log (id, at, action, detail)
     select seed_id(received_at, 'audit', n), received_at, 'retract', id::text
     from seed_reports where state = 'retracted'`,
    `insert into letters (id, kind, state, address, reporter_id, report_id, created_at, finished_at,
       encoding, content)
     select seed_id(received_at, 'letter', n), 'answer', 'sent', 'reporter@reporters.example',
       reporter_id, id, received_at, received_at, 'identity', 'Subject: a letter'
     from seed_reports where state = 'forwarded' and n % 5 = 0`,
    `insert into inbound_mails (id, received_at, mail_from, rcpt_to, report_id, number, state, kind,
       encoding, content, matched_by, subject, author, purpose, needs_look)
     select seed_id(received_at, 'mail', n), received_at, 'abuse@network.example',
       'answer@reports.example', id, 1, 'handled', 'reply', 'identity', 'Subject: an answer',
       'recipient', 'An answer', 'abuse@network.example', 'feedback-answer', n % 100 = 0
     from seed_reports where state = 'forwarded' and n % 20 = 0`,
  ],
  [
    `insert into analyses (id, shard, analyzed_at, origin_ip, origin_confidence, network_cidr,
       network_asn, network_name, network_country, network_abuse, verdict_class, verdict_score,
       judgment, encoding, content, facts)
     select id, shard_of(id), received_at + interval '1 second', ${address}, 0.95,
       network(set_masklen(${address}, 16)), 64496 + ${network}, 'Network ' || ${network},
       ${countries}, 'abuse@network-' || n % ${CONSUMERS} || '.example',
       case when n % 10 = 9 then 'undecided' else 'spam' end, 6,
       case when state = 'kept' and n % 20 = 0 then $1::jsonb
         when state in ('kept', 'retracted') then $2::jsonb else $3::jsonb end,
       t.encoding, t.content, t.facts
     from seed_reports r join seed_templates t on ${template}
     where state <> 'received'`,
    `insert into raw_messages (id, shard, encoding, content)
     select id, shard_of(id), t.raw_encoding, t.raw
     from seed_reports r join seed_templates t on ${template}`,
  ],
  [
    `insert into feedback_reports (report_id, shard, number, consumer_id, state, address,
       created_at, finished_at, due_at, message_id)
     select id, shard_of(id), 1, seed_id('2025-01-01', 'consumer', n % ${CONSUMERS}),
       case state when 'forwarded' then 'sent' else 'waiting' end,
       'abuse@network-' || n % ${CONSUMERS} || '.example', received_at,
       case state when 'forwarded' then received_at end,
       case state when 'analyzed' then received_at + interval '1 day' end,
       case state when 'forwarded' then '<' || id || '@reports.example>' end
     from seed_reports where state in ('forwarded', 'analyzed')`,
    `insert into feedback_reports (report_id, shard, number, consumer_id, state, address,
       created_at, finished_at)
     select id, shard_of(id), 2, seed_id('2025-01-01', 'consumer', (n + 1) % ${CONSUMERS}), 'sent',
       'abuse@network-' || (n + 1) % ${CONSUMERS} || '.example', received_at, received_at
     from seed_reports where state = 'forwarded' and n % 7 = 0`,
    `insert into feedback_messages (report_id, shard, number, encoding, content)
     select id, shard_of(id), 1, t.raw_encoding, t.raw
     from seed_reports r join seed_templates t on ${template}
     where state = 'forwarded' and r.n % 10 = 0`,
    `insert into feedback_answers (report_id, shard, number, answer, how, at)
     select id, shard_of(id), 1, 'resolved', 'link', received_at + interval '1 hour'
     from seed_reports where state = 'forwarded' and n % 5 = 0`,
    `insert into campaigns (id, shard, first_report_id, fingerprints)
     select campaign_id, shard_of(campaign_id), id, '{}'::jsonb from (
       select distinct on (campaign) seed_id(${campaignAt}, 'campaign', campaign) as campaign_id, id
       from seed_reports r where campaign is not null order by campaign, n desc) as first`,
    `insert into counted_reports (id, shard, campaign_id, content)
     select r.id, shard_of(r.id), c.id, '' from seed_reports r join (
       select distinct on (campaign) campaign, seed_id(${campaignAt}, 'campaign', campaign) as id
       from seed_reports r where campaign is not null order by campaign, n desc) as c
       using (campaign)
     where state not in ('received', 'retracted')`,
    `insert into campaign_days (campaign_id, shard, day, reports)
     select campaign_id, shard_of(campaign_id), (received_at at time zone 'UTC')::date, count(*)
     from counted_reports join seed_reports using (id) group by 1, 2, 3`,
    `insert into reporter_days (reporter_id, day, counted_at, spam, told)
     select reporter_id, (received_at at time zone 'UTC')::date, $1::timestamptz,
       count(*) filter (where kind = 'spam'), count(*) filter (where state = 'forwarded')
     from seed_reports where reporter_id <> $2 group by 1, 2`,
  ],
]

/** Drops temporary tables. */
export const clearing = `
  drop table seed_reports, seed_templates; drop function seed_id(timestamptz, text, bigint)`
