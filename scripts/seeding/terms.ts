import type { Pool } from '../../src/db/pool.ts'

/** Words of each text, and number of different ones: a few occur in most texts, most in few. */
const TEXT_WORDS = 150
/** Fewer than a pool has connections. */
const WEEKS_AT_ONCE = 5
const VOCABULARY = 200_000

/**
 * Inserts the terms of the seeded reports, by which the search finds them. The texts consist of
 * words whose frequencies differ as in languages.
 */
export async function seedTerms(pool: Pool, say: (sentence: string) => void): Promise<void> {
  const start = performance.now()
  const { rows } = await pool.query<{ reports: string; terms: string; week: string }>(
    `select reports.relid::text as reports, split_part(reports.relid::text, '_', 2) as week
     from pg_partition_tree('reports') as reports where isleaf`,
  )
  await pool.query('drop index report_terms_terms_idx')
  const weeks = [...rows]
  const fillNext = async (): Promise<void> => {
    for (let its = weeks.shift(); its; its = weeks.shift()) await pool.query(insertOf(its))
  }
  await Promise.all(Array.from({ length: WEEKS_AT_ONCE }, fillNext))
  say(`report_terms: ${((performance.now() - start) / 1_000).toFixed(0)} s`)
  await pool.query(
    `create index report_terms_terms_idx on report_terms using gin (terms)
       with (gin_pending_list_limit = 1024)`,
  )
  await pool.query('vacuum analyze report_terms')
  say(`… with its index: ${((performance.now() - start) / 1_000).toFixed(0)} s`)
  const size = await pool.query<{ bytes: number }>(`select table_bytes('report_terms') as bytes`)
  say(`… ${((size.rows[0]?.bytes ?? 0) / 1e9).toFixed(2)} GB`)
}

/** Composes the statement that inserts the terms of the reports of a partition. */
function insertOf({ reports, week }: { reports: string; week: string }): string {
  return `insert into report_terms (id, shard, terms) select r.id, r.shard, ${TERMS}
    from ${reports} r
    left join analyses_${week} a on a.id = r.id and a.shard = r.shard
    left join counted_reports_${week} c on c.id = r.id and c.shard = r.shard
    left join feedback_reports_${week} f on f.report_id = r.id and f.number = 1`
}

/** The terms of a seeded report, as `termsOf` makes them, with a link and a file of its number. */
const NUMBER = `('x' || right(r.id::text, 6))::bit(24)::integer`
const TERMS = `(select array_agg(distinct hashtextextended(term, 0)) from (
  select unnest(array['state:' || r.state, 'kind:' || r.kind, 'channel:' || r.channel,
    'reporter:' || r.reporter_id, 'verdict:' || a.verdict_class, 'campaign:' || c.campaign_id,
    'as:' || a.network_asn, 'country:' || lower(a.network_country),
    'network:' || a.network_cidr, 'desk:' || f.address, 'symbol:SUBJECT_SHOUTS',
    'from:' || r.author, 'from:' || split_part(r.author, '@', 1),
    'from:' || split_part(r.author, '@', 2), 'from:example',
    'link:host-' || ${NUMBER} % 3000 || '.example', 'link:example', 'link:host',
    'file:' || md5(r.id::text), case when ${NUMBER} % 10 = 0 then 'file:invoice' end,
    case when ${NUMBER} % 5 = 0 then 'file:pdf' end]) as term
  union all select 'origin:' || host(network(set_masklen(a.origin_ip, length))) || '/' || length
    from generate_series(4, 32, 4) as length
  union all select 'from:' || word from regexp_split_to_table(r.author, '[^a-z0-9]+') as word
  union all select 'subject:' || word
    from regexp_split_to_table(lower(r.subject), '[^a-z0-9]+') as word
  union all select 'subject:' || split_part(lower(r.subject), ' ', 1) || ' '
    || split_part(lower(r.subject), ' ', 2)
  union all select 'text:w' || floor(${VOCABULARY}
      * power(abs(hashint8extended(n, ${NUMBER})) / 9.3e18, 4))::integer
    from generate_series(1, ${TEXT_WORDS}) as n) as named where term is not null)`
