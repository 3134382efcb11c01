import { expect, test } from 'vitest'
import {
  afterCommit,
  committedBefore,
  groupedByNode,
  inShardTransaction,
  lockedWith,
  nearShard,
  openNodes,
} from '../../src/db/nodes.ts'
import { isOutage } from '../../src/db/follow.ts'
import { openMover, setReadOnly, stopWriting } from '../../src/db/move-rows.ts'
import { createPool, type Db, inTransaction } from '../../src/db/pool.ts'
import { insertEvents } from '../../src/db/report-events.ts'
import { holdReporters } from '../../src/db/reporters.ts'
import { inShard, uuidv7 } from '../../src/world.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { openTestApp } from '../support/app.ts'

const app = await closeAfterTests(openTestApp())
const { pool } = app
const shards = Array.from({ length: 16 }, (_, shard) => shard)

const portOf = async (db: Db) => {
  const { rows } = await db.query<{ port: number }>('select inet_server_port() as port')
  return rows[0]?.port
}

/** Adds an event to the history of a report, and news about it on the coordinator. */
const addEvent = (tx: Db, reportId: string) =>
  insertEvents(tx, [{ reportId, at: new Date(), event: 'analyzed', phrases: [] }])

const news = () => app.rows('select id from report_news')
const events = (id: string) => app.rows(`select id from report_events where report_id = '${id}'`)

test('statements about a shard run on the server that stores it', async () => {
  const placed = await app.rows(`
    select shard, nodeport as port from generate_series(0, 15) as shard
      join pg_dist_placement as placement on placement.shardid =
        get_shard_id_for_distribution_column('raw_messages', shard::smallint)
      join pg_dist_node as node using (groupid) order by shard`)
  expect(new Set(placed.map(({ port }) => port)).size).toBe(2)
  const asked = shards.map(async (shard) => ({
    shard,
    port: await inShardTransaction(pool, shard, portOf),
  }))
  expect(await Promise.all(asked)).toEqual(placed)
  const near = shards.map(async (shard) => ({ shard, port: await portOf(nearShard(pool, shard)) }))
  expect(await Promise.all(near)).toEqual(placed)
  for (const group of groupedByNode(pool, shards, (shard) => shard)) {
    expect(new Set(group.map((shard) => placed[shard]?.['port'])).size).toBe(1)
  }
})

test('the parts on the coordinator commit with the rest, or not at all', async () => {
  const id = inShard(uuidv7(new Date()), 3)
  const order: string[] = []
  const run = (fails: boolean) =>
    inShardTransaction(pool, 3, async (tx) => {
      await addEvent(tx, id)
      await afterCommit(tx, async (db) => {
        order.push(`${(await events(id)).length} event`)
        expect(await portOf(db)).toBe(await portOf(pool))
      })
      order.push('done')
      if (fails) throw new Error('as if it had failed')
    })
  await expect(run(true)).rejects.toThrow('as if it had failed')
  expect([await news(), await events(id)]).toEqual([[], []])
  await run(false)
  expect([(await news()).length, (await events(id)).length]).toEqual([1, 1])
  expect(order).toEqual(['done', 'done', '1 event'])
})

test('if a server is lost at the commit, only the part before it is kept', async () => {
  const id = inShard(uuidv7(new Date()), 4)
  const before = (await news()).length
  const lost = inShardTransaction(pool, 4, async (tx) => {
    await addEvent(tx, id)
    const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
    await nearShard(pool, 4).query('select pg_terminate_backend($1::int)', [rows[0]?.pid])
  })
  await expect(lost).rejects.toSatisfy(isOutage)
  expect((await news()).length).toBe(before + 1)
  expect(await events(id)).toEqual([])
})

test('statements that come after the end of a transaction are refused', async () => {
  const given = { connectionsMax: 1, name: 'test', onLost: () => undefined }
  const own = createPool(app.database.url, given)
  const nodes = await openNodes(own, app.database.url, { ...given, onAway: () => undefined })
  for (const part of [(tx: Db) => tx, committedBefore, lockedWith]) {
    const isOver = Promise.withResolvers<undefined>()
    let late: Promise<unknown> | undefined
    const failed = inShardTransaction(own, 5, async (tx) => {
      late = isOver.promise.then(() => part(tx).query('select 1'))
      throw new Error('as if it had failed')
    })
    await expect(failed).rejects.toThrow('as if it had failed')
    isOver.resolve(undefined)
    await expect(late).rejects.toThrow('The transaction has ended.')
  }
  // No connection is lost to them.
  await inShardTransaction(own, 5, async (tx) => {
    await Promise.all([tx, committedBefore(tx), lockedWith(tx)].map((one) => one.query('select 1')))
  })
  await nodes.close()
  await own.end()
})

test('a process that hangs loses all parts of its transactions', async () => {
  const given = { connectionsMax: 1, name: 'test', onLost: () => undefined, endsIdle: true }
  const own = createPool(app.database.url, given)
  const nodes = await openNodes(own, app.database.url, { ...given, onAway: () => undefined })
  await inShardTransaction(own, 5, async (tx) => {
    for (const part of [tx, committedBefore(tx), lockedWith(tx)]) {
      const { rows } = await part.query('show idle_in_transaction_session_timeout')
      expect(rows).toEqual([{ idle_in_transaction_session_timeout: '1min' }])
    }
  })
  await nodes.close()
  await own.end()
})

test('a reporter is locked on the coordinator until the transaction has committed', async () => {
  const order: string[] = []
  const blocked = Promise.withResolvers<true>()
  const changing = inShardTransaction(pool, 5, async (tx) => {
    expect(await portOf(lockedWith(tx))).toBe(await portOf(committedBefore(tx)))
    await holdReporters(tx, [app.ann], 'keep-still')
    blocked.resolve(true)
    await new Promise((resolve) => setTimeout(resolve, 200))
    order.push('stored')
  })
  await blocked.promise
  await inShardTransaction(pool, 9, async (tx) => {
    await holdReporters(tx, [app.ann], 'change')
    order.push('changed')
  })
  await changing
  expect(order).toEqual(['stored', 'changed'])
})

test('a transaction needs no connection that waits for its locks', async () => {
  const given = { connectionsMax: 1, name: 'test', onLost: () => undefined }
  const own = createPool(app.database.url, given)
  const nodes = await openNodes(own, app.database.url, { ...given, onAway: () => undefined })
  const id = inShard(uuidv7(new Date()), 5)
  let changing: Promise<unknown> | undefined
  await inShardTransaction(own, 5, async (tx) => {
    await holdReporters(tx, [app.ann], 'keep-still')
    changing = inTransaction(own, (other) => holdReporters(other, [app.ann], 'change'))
    await expect
      .poll(() => app.rows(`select from pg_locks where locktype = 'advisory' and not granted`))
      .toHaveLength(1)
    await addEvent(tx, id)
  })
  await changing
  expect(await events(id)).toHaveLength(1)
  await nodes.close()
  await own.end()
})

test('a transaction that lost its locks is not stored, and may be repeated', async () => {
  const given = { connectionsMax: 1, name: 'signalpost test', onLost: () => undefined }
  const own = createPool(app.database.url, given)
  const nodes = await openNodes(own, app.database.url, { ...given, onAway: () => undefined })
  const id = inShard(uuidv7(new Date()), 5)
  const before = (await news()).length
  const change = (isLost: boolean) =>
    inShardTransaction(own, 5, async (tx) => {
      await holdReporters(tx, [app.ann], 'change')
      await addEvent(tx, id)
      if (!isLost) return
      const locks = lockedWith(tx)
      const { rows } = await locks.query<{ pid: number }>('select pg_backend_pid() as pid')
      await own.query('select pg_terminate_backend($1::int)', [rows[0]?.pid])
      const notices = () => locks.query('select 1').catch(String)
      await expect.poll(notices).toContain('not queryable')
    })
  await expect(change(true)).rejects.toSatisfy(isOutage)
  expect([(await news()).length, await events(id)]).toEqual([before, []])
  await change(false)
  expect([(await news()).length, (await events(id)).length]).toEqual([before + 1, 1])
  await nodes.close()
  await own.end()
})

test('the coordinator takes the place of a server that cannot be reached', async () => {
  const given = { connectionsMax: 2, name: 'test', onLost: () => undefined }
  const own = createPool(app.database.url, given)
  const away: string[] = []
  const onAway = (node: string) => void away.push(node)
  // The nodes have no such database.
  const nodes = await openNodes(own, `${app.database.url}_unknown`, { ...given, onAway })
  const coordinator = await portOf(own)
  expect(await portOf(nearShard(own, 0))).toBe(coordinator)
  expect(await inShardTransaction(own, 0, portOf)).toBe(coordinator)
  expect(away).toHaveLength(1)
  await nodes.close()
  await own.end()
})

test('before a move, the database becomes read-only on each server', async () => {
  const given = { connectionsMax: 2, name: 'signalpost test', onLost: () => undefined }
  const own = createPool(app.database.url, given)
  const nodes = await openNodes(own, app.database.url, { ...given, onAway: () => undefined })
  const mover = await openMover(app.database.url)
  const write = (shard: number) =>
    inShardTransaction(own, shard, (tx) =>
      tx.query(`insert into reputation_evidence (part, id, shard, content)
        values (0, gen_random_uuid(), ${shard}, '')`),
    )
  for (const shard of shards) await write(shard)
  await stopWriting(mover)
  for (const shard of shards) await expect(write(shard)).rejects.toThrow(/read-only|terminat/)
  for (const shard of shards) await expect(write(shard)).rejects.toThrow('read-only')
  await setReadOnly(mover, false)
  await mover.end()
  await nodes.close()
  await own.end()
})
