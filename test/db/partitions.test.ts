import { expect, inject, test } from 'vitest'
import { migrateAll } from '../../src/processes/migrate.ts'
import {
  dropPartitions,
  ensureCounterPartitions,
  ensurePartitions,
  generationOf,
  generationTables,
  partitionedTables,
  weekOf,
} from '../../src/db/partitions.ts'
import { findReport } from '../../src/db/reports.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'
import { addReports, newReport } from '../support/rows.ts'

const database = await closeAfterTests(freshDatabase())
await migrateAll(database.url, new Date(), { backend: inject('backend') })

async function partitionsOf(table: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits
     where inhparent = $1::regclass order by 1`,
    [table],
  )
  return rows.map(({ name }) => name)
}

test.for([
  ['a Monday at midnight begins its own week', '2026-11-16T00:00:00.000Z', '2026-11-16'],
  ['a millisecond earlier it was the week before', '2026-11-15T23:59:59.999Z', '2026-11-09'],
  ['a Friday', '2026-11-20T13:06:00Z', '2026-11-16'],
  ['the turn of the year', '2027-01-01T00:00:00Z', '2026-12-28'],
  ['a leap day', '2028-02-29T12:00:00Z', '2028-02-28'],
  ['the first Monday there is', '1970-01-05T00:00:00Z', '1970-01-05'],
  ['before it', '1970-01-01T00:00:00Z', '1969-12-29'],
] as const)('weeks begin on Mondays, UTC: %s', ([, at, monday]) => {
  expect(weekOf(new Date(at))).toEqual(new Date(`${monday}T00:00:00Z`))
})

test('the list of partitioned tables equals the one in the catalog', async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    `select relname as name from pg_class
     where relkind = 'p' and relnamespace = 'public'::regnamespace`,
  )
  expect(rows.map(({ name }) => name).toSorted()).toEqual(
    [...partitionedTables, ...generationTables.map(([table]) => table)].toSorted(),
  )
})

test('a migrated database has partitions for this week and the next four', async () => {
  for (const table of partitionedTables) expect(await partitionsOf(table)).toHaveLength(5)
})

test('existing partitions are not changed', async () => {
  const before = await partitionsOf('reports')
  await ensurePartitions(database.pool, new Date(), 4)
  expect(await partitionsOf('reports')).toEqual(before)
})

test('two processes may create the same partitions at once', async () => {
  const far = new Date('2040-06-15T00:00:00Z')
  await Promise.all([1, 2, 3, 4].map(() => ensurePartitions(database.pool, far, 1)))
  expect(await partitionsOf('reports')).toEqual(
    expect.arrayContaining(['reports_20400611', 'reports_20400618']),
  )
})

test('partitions are created while their tables are read and written', async () => {
  const { pool } = database
  const [busy, creating] = [await pool.connect(), await pool.connect()]
  const { rows } = await pool.query<{ backend: string }>('select backend from installation')
  const isCitus = rows[0]?.backend === 'citus'
  try {
    await busy.query('begin')
    for (const table of [...partitionedTables, 'counters', 'counter_members', 'campaign_keys']) {
      await busy.query(`select count(*) from ${table}`)
      // Citus waits until the transactions that have written to the table end.
      if (!isCitus) await busy.query(`delete from ${table}`)
    }
    await creating.query(`set lock_timeout = '1s'`)
    const far = new Date('2041-06-12T00:00:00Z')
    await ensurePartitions(creating, far, 0)
    await ensureCounterPartitions(creating, far, 0)
    expect(await partitionsOf('feedback_reports')).toContain('feedback_reports_20410610')
    expect(await partitionsOf('counters')).toContain(`counters_${generationOf(26_095)}`)
  } finally {
    await busy.query('rollback')
    await creating.query('reset lock_timeout')
    busy.release()
    creating.release()
  }
})

test('an attached partition has all that one created with its table would have', async () => {
  const { pool } = database
  const client = await pool.connect()
  const shape = async (name: string) => {
    const { rows } = await client.query<{ line: string }>(
      `select attname || format_type(atttypid, atttypmod) || attstorage::text || attnotnull
           || coalesce(pg_get_expr(adbin, adrelid), '') as line
         from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
         where attrelid = $1::regclass and attnum > 0
       union all select conname || pg_get_constraintdef(oid) || convalidated
         from pg_constraint where conrelid = $1::regclass
       union all select pg_get_indexdef(indexrelid) || (select inhparent::regclass from pg_inherits
           where inhrelid = indexrelid) from pg_index where indrelid = $1::regclass
       order by 1`,
      [name],
    )
    return rows.map(({ line }) => line)
  }
  try {
    await client.query('begin')
    const far = new Date('2042-06-12T00:00:00Z')
    await ensurePartitions(client, far, 0)
    for (const table of partitionedTables) {
      const name = `${table}_20420609`
      const attached = await shape(name)
      const { rows } = await client.query<{ bounds: string }>(
        'select pg_get_expr(relpartbound, oid) as bounds from pg_class where relname = $1',
        [name],
      )
      await client.query(`drop table ${name}`)
      await client.query(`create table ${name} partition of ${table} ${rows[0]?.bounds}`)
      expect(attached.length).toBeGreaterThan(2)
      expect(attached).toEqual(await shape(name))
    }
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('the last millisecond of a week and the next one are in the right partitions', async () => {
  const monday = new Date(weekOf(new Date()).getTime() + 7 * 86_400_000)
  const sunday = new Date(monday.getTime() - 1)
  const ids = await addReports(database.pool, [
    newReport({ receivedAt: sunday }),
    newReport({ receivedAt: monday }),
  ])
  const { rows } = await database.pool.query<{ room: string }>(
    `select substring(tableoid::regclass::text, '^reports_[0-9]{8}') as room from reports
     where id = any($1::uuid[]) order by id`,
    [ids],
  )
  const nameOf = (at: Date) =>
    `reports_${weekOf(at).toISOString().slice(0, 10).replaceAll('-', '')}`
  expect(rows.map(({ room }) => room)).toEqual([nameOf(sunday), nameOf(monday)])
})

test('a report of a week without a partition is refused, not silently lost', async () => {
  const report = newReport({ receivedAt: new Date('2031-01-01T00:00:00Z') })
  await expect(addReports(database.pool, [report])).rejects.toMatchObject({ code: '23514' })
})

test('retention drops a week after its last instant, and not before', async () => {
  const old = new Date('2019-03-06T00:00:00Z')
  await ensurePartitions(database.pool, old, 1)
  const [first = '', second = ''] = await addReports(database.pool, [
    newReport({ receivedAt: new Date('2019-03-10T23:59:59Z') }),
    newReport({ receivedAt: new Date('2019-03-11T00:00:00Z') }),
  ])
  expect(await dropPartitions(database.pool, new Date('2019-03-10T23:59:59.999Z'))).toEqual([])
  const dropped = await dropPartitions(database.pool, new Date('2019-03-11T00:00:00Z'))
  expect(dropped.toSorted()).toEqual(
    partitionedTables.map((table) => `${table}_20190304`).toSorted(),
  )
  expect(await findReport(database.pool, first)).toBeUndefined()
  expect(await findReport(database.pool, second)).toMatchObject({ id: second })
})

test('a partition being read is skipped, and no one waits for its removal', async () => {
  const { pool } = database
  await ensurePartitions(pool, new Date('2018-03-05T00:00:00Z'), 0)
  const reading = await pool.connect()
  try {
    await reading.query('begin')
    await reading.query('select id from counted_reports')
    const dropped = await dropPartitions(pool, new Date('2018-03-12T00:00:00Z'))
    expect(dropped).toContain('reports_20180305')
    expect(dropped).not.toContain('counted_reports_20180305')
  } finally {
    await reading.query('rollback')
    reading.release()
  }
  expect(await dropPartitions(pool, new Date('2018-03-12T00:00:00Z'))).toEqual([
    'counted_reports_20180305',
  ])
})

test('a partition that someone else created under another name is never dropped', async () => {
  await database.pool.query(
    `create table reports_archive partition of reports
     for values from ('00000000-0000-0000-0000-000000000000')
     to ('00000001-0000-0000-0000-000000000000')`,
  )
  expect(await dropPartitions(database.pool, new Date('2019-03-11T00:00:00Z'))).toEqual([])
  expect(await partitionsOf('reports')).toContain('reports_archive')
})

test.for(['raw_messages', 'analyses', 'feedback_messages', 'inbound_mails'])(
  'the bytes in partitions of %s are not compressed again',
  async (table) => {
    const { rows } = await database.pool.query(
      `select distinct attstorage from pg_attribute join pg_inherits on inhrelid = attrelid
       where inhparent = $1::regclass and attname = 'content'`,
      [table],
    )
    expect(rows).toEqual([{ attstorage: 'e' }])
  },
)
