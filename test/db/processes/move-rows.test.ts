import { beforeAll, expect, test } from 'vitest'
import {
  changesOf,
  copyChanges,
  copyRange,
  listMovedTables,
  type MovedTable,
  openMover,
  type RangeState,
} from '../../../src/db/move-rows.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'

const from = await closeAfterTests(freshDatabase())
const to = await closeAfterTests(freshDatabase())
const source = await openMover(from.url)
const target = await openMover(to.url)
const link = { source, target }
const whole = { after: null, until: null }

let reporters: MovedTable
let copied: RangeState

beforeAll(async () => {
  const tables = await listMovedTables(source)
  reporters = tables.find(({ name }) => name === 'public.reporters') ?? expect.fail()
  await from.pool.query(`insert into reporters (id, email, created_at)
    select md5(n::text)::uuid, n || '@reporters.example', '2026-01-01'
    from generate_series(1, 9) n`)
  copied = await fromNow(await copyRange(link, reporters, whole))
  return () => Promise.all([source.end(), target.end()])
})

/**
 * Returns a state after which only later transactions changed rows. A copy counts from the oldest
 * transaction of the server, which may be one of another test.
 */
async function fromNow({ rows }: RangeState): Promise<RangeState> {
  const found = await from.pool.query<{ since: string }>(
    'select pg_current_xact_id()::text as since',
  )
  return { rows, since: found.rows[0]?.since ?? '0' }
}

async function emailsIn({ pool }: typeof from): Promise<string[]> {
  const { rows } = await pool.query<{ email: string }>('select email from reporters order by email')
  return rows.map(({ email }) => email)
}

test('of a range that was copied, only new and changed rows are copied again', async () => {
  await from.pool.query(`update reporters set email = 'new@reporters.example'
    where email like '4@%'`)
  await from.pool.query(
    `insert into reporters (id, email, created_at)
    values (md5('10')::uuid, $1, '2026-01-01')`,
    [`o'brien\\@reporters.example`],
  )
  const changes = await changesOf(source, reporters, whole, copied)
  expect(changes).toMatchObject({ rows: 10, keys: [expect.anything(), expect.anything()] })
  expect(await copyChanges(link, reporters, copied.rows, changes)).toBe(2)
  copied = await fromNow(changes)
  expect(await emailsIn(to)).toEqual(await emailsIn(from))
  expect(await changesOf(source, reporters, whole, copied)).toMatchObject({ rows: 10, keys: [] })
})

test('a range with deleted rows has to be copied whole', async () => {
  await from.pool.query(`delete from reporters where email like '5@%'`)
  await from.pool.query(`insert into reporters (id, email, created_at)
    values (md5('11')::uuid, '11@reporters.example', '2026-01-01')`)
  const before = await emailsIn(to)
  const changes = await changesOf(source, reporters, whole, copied)
  expect(await copyChanges(link, reporters, copied.rows, changes)).toBeUndefined()
  expect(await emailsIn(to)).toEqual(before)
  await copyRange(link, reporters, whole)
  expect(await emailsIn(to)).toEqual(await emailsIn(from))
})
