import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensurePartitions } from '../../src/db/partitions.ts'
import { inTransaction } from '../../src/db/pool.ts'
import {
  isInWeekOf,
  isOneOf,
  isOneOfIds,
  numbered,
  prepared,
  preparedInsert,
  preparedRowsOf,
} from '../../src/db/prepared.ts'
import { shardOf, uuidv7 } from '../../src/world.ts'
import { freshDatabase, isDistributed, isSharded, type TestDatabase } from '../support/database.ts'
import sql from 'sql-template-tag'

let database: TestDatabase

const DAY_MS = 86_400_000
const now = new Date()
const daysAgo = (days: number) => uuidv7(new Date(now.getTime() - days * DAY_MS))

beforeAll(async () => {
  database = await freshDatabase()
  await ensurePartitions(database.pool, new Date(now.getTime() - 70 * DAY_MS), 10)
})

afterAll(() => database.close())

/** The plan for unknown values, as text. */
function genericPlan({ text, values = [] }: { text: string; values?: unknown[] }) {
  return inTransaction(database.pool, async (tx) => {
    await tx.query('set local plan_cache_mode = force_generic_plan')
    await tx.query(`prepare statement as ${text}`)
    const given = values.map((value) => `'${String(value)}'`).join(',')
    const { rows } = await tx.query<Record<string, string>>(`explain execute statement(${given})`)
    await tx.query('deallocate statement')
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  })
}

const partitionsIn = (plan: string) => new Set(plan.match(/raw_messages_\d+/g)).size

// The coordinator's plan has no partitions.
test.skipIf(isDistributed)(
  'a statement about ids of this week has a plan for one partition',
  async () => {
    for (const count of [1, 2, 5, 64]) {
      const ids = Array.from({ length: count }, () => daysAgo(0))
      const plan = await genericPlan(prepared`
      select content from raw_messages where ${isOneOfIds('id', ids)}`)
      expect(partitionsIn(plan), plan).toBe(1)
    }
    const subquery = await genericPlan(prepared`
    select from reports where ${isOneOfIds('id', [daysAgo(0)])}
      and exists (select from raw_messages
        where raw_messages.id = reports.id and ${isInWeekOf('raw_messages.id', [daysAgo(0)])})`)
    expect(partitionsIn(subquery), subquery).toBe(1)
  },
)

test('ids of any age and number find their rows', async () => {
  const ids = [
    ...Array.from({ length: 80 }, () => daysAgo(0)),
    daysAgo(7),
    daysAgo(30),
    daysAgo(65),
  ]
  const rows = ids.map((id) => [id, shardOf(id), 'identity', Buffer.from(id)])
  await database.pool.query(
    preparedInsert(
      rows,
      (values) => sql`
      insert into raw_messages (id, shard, encoding, content) values ${values}`,
    ),
  )
  const unknown = uuidv7(now)
  const choices = [
    ...[[], [unknown], ids.slice(0, 1), ids.slice(0, 3), ids.slice(0, 64), ids.slice(0, 65)],
    ...[ids, ids.slice(80, 81), ids.slice(81, 82), ids.slice(79), [ids[0] ?? '', ids[0] ?? '']],
    ...[[crypto.randomUUID()], ['ffffffff-ffff-ffff-ffff-ffffffffffff'], [unknown, ids[82] ?? '']],
  ]
  for (const choice of choices) {
    const found = await preparedRowsOf(database.pool)<{ id: string }>`
      select id from raw_messages where ${isOneOfIds('id', choice)} order by id`
    const expected = [...new Set(choice)].filter((id) => ids.includes(id)).toSorted()
    expect(found.map(({ id }) => id)).toEqual(expected)
  }
})

// A statement also names the parts of its ids, so that Citus asks their nodes only.
test.skipIf(isSharded)('lists of different lengths share few statements', () => {
  const names = (most: number, age: number) => {
    const all = Array.from({ length: most }, (_, index) => {
      const ids = Array.from({ length: index + 1 }, () => daysAgo(age))
      return prepared`select from reports where ${isOneOfIds('id', ids)}`.name
    })
    return new Set(all).size
  }
  expect(names(200, 0)).toBe(8)
  // Ids of older weeks, and ids that a client invented, add no statements.
  expect(names(200, 30)).toBe(1)
  expect(names(200, -30)).toBe(1)
  const inserts = Array.from({ length: 50 }, (_, index) =>
    preparedInsert(
      Array.from({ length: index + 1 }, () => [1]),
      (values) => sql`insert into t values ${values}`,
    ),
  )
  expect(inserts.filter(({ name }) => name !== undefined)).toHaveLength(8)
})

// Citus keeps plans in another way, which PostgreSQL does not count.
test.skipIf(isDistributed)('PostgreSQL keeps the plan of a prepared statement', async () => {
  const statement = () => prepared`
    select reporter_id from shadow_bans
    where ${isOneOf('reporter_id', [daysAgo(0), daysAgo(0), daysAgo(0)], 'uuid[]')}`
  await inTransaction(database.pool, async (tx) => {
    for (let run = 0; run < 20; run++) await tx.query(statement())
    const { rows } = await tx.query<{ plans: number }>(
      `select generic_plans as plans from pg_prepared_statements where name = $1`,
      [statement().name],
    )
    expect(rows[0]?.plans).toBeGreaterThanOrEqual(14)
  })
})

test('a numbered list gives each value its position, and no others', async () => {
  const of = async (ips: string[]) =>
    preparedRowsOf(database.pool)`
      select host(ip) as ip, at from ${numbered(ips, 'inet')} as asked (ip, at)
      where ip <<= '0.0.0.0/0'::cidr order by at`
  expect(await of([])).toEqual([])
  expect(await of(['10.0.0.1'])).toEqual([{ ip: '10.0.0.1', at: 1 }])
  expect(await of(['10.0.0.1', '10.0.0.2', '10.0.0.1'])).toEqual([
    { ip: '10.0.0.1', at: 1 },
    { ip: '10.0.0.2', at: 2 },
    { ip: '10.0.0.1', at: 3 },
  ])
})

test('an invalid id is refused by the database', async () => {
  const asked = preparedRowsOf(database.pool)`
    select id from raw_messages where ${isOneOfIds('id', ['nonsense'])}`
  await expect(asked).rejects.toMatchObject({ code: '22P02' })
})
