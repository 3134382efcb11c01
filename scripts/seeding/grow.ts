import { ensureCounterPartitions, ensurePartitions } from '../../src/db/partitions.ts'
import { inTransaction, type Pool } from '../../src/db/pool.ts'

/** How many reports a database gets, and over how many weeks before `now` they are spread. */
export type Growth = { reports: number; weeks: number; now: Date }

const WEEK_MS = 7 * 86_400_000
/** Copies per statement, so that neighboring rows are written together. */
const COPIES_AT_ONCE = 100
const OTHER_REPORTERS = 99
/** Copies that share the campaigns of the first of them. */
const CAMPAIGN_COPIES = 8
/** Bytes kept of contents that no report reads again, so that ten million reports fit on a disk. */
const CONTENT_BYTES = 20
/** Raw content is kept this long; counters and campaign keys, for two generations. */
const RAW_WEEKS = 2 / 7
const COUNTED_WEEKS = 4

/** A table whose rows are copied: the columns that a copy changes, and which copies are made. */
type Copied = {
  table: string
  /** The column with the id of the report or campaign whose time a copy moves. */
  subject?: string
  /** SQL for columns; other instants are moved by the time of the copy, the rest is unchanged. */
  columns: Readonly<Record<string, string>>
  /** Rows are copied only for this last part of the time. */
  weeks?: number
  /** SQL for which copies are made. */
  where?: string
}

/** `ms`: by how much the copy of the subject is earlier; only in tables that have a subject. */
const id = (column: string) => `growth_id(t.${column}, ms)`
const campaignCopy = `copy - copy % ${CAMPAIGN_COPIES}`
const campaign = (column: string) =>
  `growth_id(t.${column}, growth_ms(t.${column}, ${campaignCopy}))`
const isCampaignCopy = `copy % ${CAMPAIGN_COPIES} = 0`
const key = (column: string) => `growth_key(t.${column}, copy)`
/** Columns for a key, and for its shard: its four highest bits. */
const keyed = (column: string) => {
  return { [column]: key(column), shard: `((${key(column)} >> 60) & 15)::smallint` }
}
const cut = (column: string) => `substr(t.${column}, 1, ${CONTENT_BYTES})`
const reporter = `case when copy % 10 = 0 then t.reporter_id
  else growth_reporter(copy % ${OTHER_REPORTERS}) end`
const recently = { weeks: COUNTED_WEEKS }

/** The tables that a report fills. */
const copied: readonly Copied[] = [
  { table: 'reports', subject: 'id', columns: { id: id('id'), reporter_id: reporter } },
  { table: 'raw_messages', subject: 'id', columns: { id: id('id') }, weeks: RAW_WEEKS },
  {
    table: 'analyses',
    subject: 'id',
    columns: { id: id('id'), content: cut('content'), facts: cut('facts') },
  },
  {
    table: 'report_events',
    subject: 'report_id',
    columns: { report_id: id('report_id'), id: id('id') },
  },
  {
    table: 'feedback_reports',
    subject: 'report_id',
    columns: {
      report_id: id('report_id'),
      message_id: `replace(t.message_id, t.report_id::text, ${id('report_id')}::text)`,
    },
  },
  {
    table: 'feedback_messages',
    subject: 'report_id',
    columns: { report_id: id('report_id') },
    weeks: RAW_WEEKS,
  },
  {
    table: 'report_keys',
    subject: 'report_id',
    columns: {
      // Several reporters of one message may get the same new reporter.
      content_hash: `sha256(t.content_hash || convert_to(t.reporter_id || '.' || copy, 'UTF8'))`,
      reporter_id: reporter,
      report_id: id('report_id'),
    },
  },
  {
    table: 'counted_reports',
    subject: 'id',
    columns: { id: id('id'), campaign_id: campaign('campaign_id'), content: cut('content') },
  },
  { table: 'reported_evidence', subject: 'id', columns: { id: id('id') } },
  {
    table: 'campaigns',
    columns: { id: campaign('id'), first_report_id: campaign('first_report_id') },
    where: isCampaignCopy,
  },
  {
    table: 'campaign_days',
    columns: {
      campaign_id: campaign('campaign_id'),
      day: `(t.day - growth_ms(t.campaign_id, copy) * interval '1 ms')::date`,
      reports: String(CAMPAIGN_COPIES),
    },
    where: isCampaignCopy,
  },
  {
    table: 'campaign_keys',
    columns: {
      ...{ key: key('key'), generation: 't.generation - (copy % 2)::integer' },
      campaign_id: campaign('campaign_id'),
    },
    where: isCampaignCopy,
    ...recently,
  },
  {
    table: 'counters',
    columns: { ...keyed('shingle'), generation: 't.generation - (copy % 2)::integer' },
    ...recently,
  },
  {
    table: 'counter_members',
    columns: { ...keyed('shingle'), day: 't.day - (copy % 14)::integer' },
    ...recently,
  },
  {
    table: 'reputations',
    columns: {
      ...keyed('key'),
      name: `case when t.kind in ('address', 'network', 'autonomous-system') then t.name
        else t.name || '.' || copy end`,
    },
    where: isCampaignCopy,
  },
]

/**
 * Fills a database with copies of the reports that it has, as if they had arrived evenly over the
 * weeks before. The program has made these reports, so each table gets as many rows per report, of
 * the same size, as it really does. Exceptions: raw content and feedback mails are only of the last
 * two days, counters only of the generations that are kept, contents that no later report reads are
 * cut, old subjects are not indexed, and eight copies share their campaigns and reputations. No
 * process may use the database meanwhile.
 */
export async function growReports(
  pool: Pool,
  { reports, weeks, now }: Growth,
  say: (sentence: string) => void,
): Promise<void> {
  const { rows } = await pool.query<{ reports: number }>('select count(*) as reports from reports')
  const copies = Math.round(reports / (rows[0]?.reports ?? 1))
  if (copies === 0) return
  await ensurePartitions(pool, new Date(now.getTime() - weeks * WEEK_MS), weeks)
  await ensureCounterPartitions(pool, now, 1)
  await setUnsafe(pool, true)
  const indexes = await dropIndexes(pool)
  await pool.query(functions(copies, weeks * WEEK_MS))
  await pool.query(`
    insert into reporters (id, email, created_at)
    select growth_reporter(n), 'reporter-' || n || '@reporters.example', '2025-01-01'
    from generate_series(0, ${OTHER_REPORTERS - 1}) as n`)
  const waiting = [...copied]
  const copyNext = async (): Promise<void> => {
    for (let its = waiting.shift(); its; its = waiting.shift()) {
      const start = performance.now()
      const inserted = await copyRows(pool, its, copies, weeks)
      say(`${its.table}: ${inserted} rows, ${((performance.now() - start) / 1000).toFixed(0)} s`)
    }
  }
  await Promise.all(Array.from({ length: TABLES_AT_ONCE }, copyNext))
  const start = performance.now()
  for (const statement of indexes) await pool.query(statement)
  say(`their indexes: ${((performance.now() - start) / 1000).toFixed(0)} s`)
  await fillDays(pool, { reports, weeks, now })
  await pool.query('drop function growth_id, growth_ms, growth_key, growth_reporter')
  await setUnsafe(pool, false)
  // Otherwise, the measured statements would set hint bits, and autovacuum would start.
  await pool.query('vacuum (analyze)')
  await pool.query('checkpoint')
}

/** Fewer than a pool has connections, because a table that waits for one would fail. */
const TABLES_AT_ONCE = 4

/**
 * Drops the keys and indexes of the copied tables, and returns the statements that create them
 * again: built at once, they take a fraction of the time.
 */
async function dropIndexes(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ drop: string; create: string }>(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
       format('alter table %s add constraint %I %s', conrelid::regclass, conname,
         pg_get_constraintdef(oid)) as create
     from pg_constraint where contype in ('p', 'u') and conrelid = any($1::regclass[])
     union all
     select format('drop index %s', indexrelid::regclass),
       -- The definition is that of the parent only, without the partitions.
       replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ')
     from pg_index where indrelid = any($1::regclass[])
       and not exists (select from pg_constraint where conindid = indexrelid)`,
    [copied.map(({ table }) => table)],
  )
  for (const { drop } of rows) await pool.query(drop)
  return rows.map(({ create }) => create)
}

/** While the database is filled, it need not survive a crash, and indexes get more memory. */
async function setUnsafe(pool: Pool, isUnsafe: boolean): Promise<void> {
  const settings = { fsync: 'off', full_page_writes: 'off', autovacuum: 'off' }
  for (const [name, value] of Object.entries({ ...settings, maintenance_work_mem: "'1GB'" })) {
    await pool.query(
      isUnsafe ? `alter system set ${name} = ${value}` : `alter system reset ${name}`,
    )
  }
  await pool.query('select pg_reload_conf()')
}

async function copyRows(pool: Pool, its: Copied, copies: number, weeks: number): Promise<number> {
  const templates = `growth_${its.table}`
  await pool.query(`create unlogged table ${templates} as table ${its.table}`)
  const statement = await copyStatement(pool, its, templates)
  const share = Math.min(1, (its.weeks ?? weeks) / weeks)
  let inserted = 0
  const first = copies - Math.ceil(copies * share) + 1
  for (let from = first; from <= copies; from += COPIES_AT_ONCE) {
    const to = Math.min(copies, from + COPIES_AT_ONCE - 1)
    await inTransaction(pool, async (tx) => {
      await tx.query('set local synchronous_commit = off')
      // The consumers of the copies exist.
      await tx.query('set local session_replication_role = replica')
      inserted += (await tx.query(statement, [from, to])).rowCount ?? 0
    })
  }
  await pool.query(`drop table ${templates}`)
  return inserted
}

/** Composes the statement that inserts the copies `$1` to `$2` of all templates. */
async function copyStatement(
  pool: Pool,
  { table, subject, columns, where = 'true' }: Copied,
  templates: string,
): Promise<string> {
  const { rows } = await pool.query<{ name: string; type: string }>(
    `select attname as name, atttypid::regtype::text as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [table],
  )
  const moved = ({ name, type }: { name: string; type: string }) =>
    subject !== undefined && type.startsWith('timestamp')
      ? `t.${name} - ms * interval '1 ms'`
      : `t.${name}`
  const shift = `cross join lateral (select growth_ms(t.${subject}, copy) as ms offset 0) as moved`
  return `insert into ${table} (${rows.map(({ name }) => name).join(', ')})
    select ${rows.map((column) => columns[column.name] ?? moved(column)).join(', ')}
    from generate_series($1::bigint, $2::bigint) as copy cross join ${templates} as t
      ${subject ? shift : ''}
    where ${where} on conflict do nothing`
}

/**
 * The functions of the statements. `growth_ms` is how much earlier a copy is: the copies follow
 * each other, and the reports of one copy are spread over its time by their random bits. The id of
 * a copy is in the same shard.
 */
function functions(copies: number, spanMs: number): string {
  return `
    create function growth_ms(subject uuid, copy bigint) returns bigint
      language sql immutable as $$ select (${spanMs}::float8 * (${copies} + 1 - copy
        - ('x' || substr(subject::text, 29, 8))::bit(32)::bigint / 4294967296.0) / ${copies}
        )::bigint $$;
    create function growth_id(id uuid, ms bigint) returns uuid
      language sql immutable as $$ select (lpad(to_hex(
          ('x' || substr(id::text, 1, 8) || substr(id::text, 10, 4))::bit(48)::bigint - ms),
        12, '0') || substr(id::text, 15))::uuid $$;
    create function growth_key(key bigint, copy bigint) returns bigint
      language sql immutable as $$
        select ('x' || substr(md5(key || ' ' || copy), 1, 16))::bit(64)::bigint $$;
    create function growth_reporter(n bigint) returns uuid
      language sql immutable as $$ select overlay(overlay(md5('reporter ' || n)
        placing '7' from 13 for 1) placing '8' from 17 for 1)::uuid $$`
}

/** Inserts the counted days of the reporters, who have a tenth of all reports or share the rest. */
async function fillDays(pool: Pool, { reports, weeks, now }: Growth): Promise<void> {
  const days = weeks * 7
  await pool.query(
    `insert into reporter_days (reporter_id, day, counted_at, spam, told)
     select id, ($1::timestamptz - n * interval '1 day')::date, $1, share, share
     from generate_series(1, $2::int) as n, reporters,
       lateral (select ceil($3::float8 / $2 / case when email like 'reporter-%' then $4 else 10
         end)::int as share) as shares
     on conflict do nothing`,
    [now, days, reports, OTHER_REPORTERS],
  )
}
