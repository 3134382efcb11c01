import { expect, test } from 'vitest'
import { isOutage } from '../../src/db/follow.ts'
import { createPool, type Db, inTransaction } from '../../src/db/pool.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'

const database = await closeAfterTests(freshDatabase())
await database.pool.query('create table notes (id int primary key)')

/** Returns the given ids that are stored. */
async function keptOf(...ids: readonly number[]): Promise<number[]> {
  const { rows } = await database.pool.query<{ id: number }>(
    'select id from notes where id = any($1::int[]) order by id',
    [ids],
  )
  return rows.map(({ id }) => id)
}

test('a transaction that returns is stored, one that throws is not', async () => {
  const kept = await inTransaction(database.pool, async (tx) => {
    await tx.query('insert into notes (id) values (1)')
    return 'kept'
  })
  expect(kept).toBe('kept')
  const cut = inTransaction(database.pool, async (tx) => {
    await tx.query('insert into notes (id) values (2)')
    throw new RangeError('cut')
  })
  await expect(cut).rejects.toThrow(RangeError)
  expect(await keptOf(1, 2)).toEqual([1])
})

test('a failed statement rolls everything back, and its connection is reused', async () => {
  const { pool, url } = database
  const small = createPool(url, { connectionsMax: 1, name: 'one', onLost: () => undefined })
  const twice = inTransaction(small, async (tx) => {
    await tx.query('insert into notes (id) values (3)')
    await tx.query('insert into notes (id) values (3)')
  })
  await expect(twice).rejects.toMatchObject({ code: '23505' })
  await inTransaction(small, (tx) => tx.query('insert into notes (id) values (4)'))
  expect(small.totalCount).toBe(1)
  await small.end()
  expect(await keptOf(3, 4)).toEqual([4])
  expect(pool.idleCount).toBeGreaterThan(0)
})

test('statements that come after the end of a transaction are refused', async () => {
  for (const fails of [true, false]) {
    const isOver = Promise.withResolvers<undefined>()
    let late: Promise<unknown> | undefined
    const ended = inTransaction(database.pool, async (tx) => {
      late = isOver.promise.then(() => tx.query('insert into notes (id) values (7)'))
      if (fails) throw new Error('cut')
    })
    await ended.catch(() => undefined)
    isOver.resolve(undefined)
    await expect(late).rejects.toThrow('The transaction has ended.')
  }
  expect(await keptOf(7)).toEqual([])
})

test('a connection that breaks in a transaction is discarded as an outage', async () => {
  const lost: Error[] = []
  const options = { connectionsMax: 1, name: 'dying', onLost: (error: Error) => lost.push(error) }
  const small = createPool(database.url, options)
  const cut = inTransaction(small, async (tx) => {
    const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
    await database.pool.query('select pg_terminate_backend($1::int)', [rows[0]?.pid])
    await tx.query('insert into notes (id) values (5)')
  })
  const error = await cut.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(isOutage(error)).toBe(true)
  await inTransaction(small, (tx) => tx.query('insert into notes (id) values (6)'))
  await small.end()
  expect(await keptOf(5, 6)).toEqual([6])
})

test('a lost idle connection is logged and replaced', async () => {
  const { promise: lost, resolve } = Promise.withResolvers<Error>()
  const options = { connectionsMax: 1, name: 'idle', onLost: resolve }
  const small = createPool(database.url, options)
  const { rows } = await small.query<{ pid: number }>('select pg_backend_pid() as pid')
  await database.pool.query('select pg_terminate_backend($1::int)', [rows[0]?.pid])
  expect(isOutage(await lost)).toBe(true)
  expect((await small.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await small.end()
})

test('64-bit integers are numbers', async () => {
  const { rows } = await database.pool.query(
    'select count(*), 9007199254740991::bigint as max from pg_class where false',
  )
  expect(rows).toEqual([{ count: 0, max: Number.MAX_SAFE_INTEGER }])
})

test('each connection has the name of its process', async () => {
  const pool = createPool(database.url, {
    connectionsMax: 1,
    name: 'signalpost x',
    onLost: () => undefined,
  })
  const { rows } = await pool.query('show application_name')
  expect(rows).toEqual([{ application_name: 'signalpost x' }])
  await pool.end()
})

test('the server ends a transaction whose process hangs', async () => {
  const options = { connectionsMax: 2, name: 'h', onLost: () => undefined, endsIdle: true }
  const own = createPool(database.url, options)
  const limit = async (tx: Db) =>
    (
      await tx.query<{ limit: string }>(`
      select current_setting('idle_in_transaction_session_timeout') as limit`)
    ).rows
  const limits = inTransaction(own, async (tx) => [await limit(tx), await limit(own)])
  expect(await limits).toEqual([[{ limit: '1min' }], [{ limit: '1min' }]])
  const hung = inTransaction(own, async (tx) => {
    await tx.query(`set local idle_in_transaction_session_timeout = '20ms'`)
    await expect
      .poll(() =>
        own.query(`
      select from pg_stat_activity where state = 'idle in transaction' and application_name = 'h'`),
      )
      .toMatchObject({ rowCount: 0 })
    await tx.query('select 1')
  })
  await expect(hung).rejects.toSatisfy(isOutage)
  await own.end()
})
