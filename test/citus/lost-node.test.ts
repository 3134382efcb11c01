import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { isOutage } from '../../src/db/follow.ts'
import { createPool, type Db, inTransaction } from '../../src/db/pool.ts'
import { migrateAll } from '../../src/processes/migrate.ts'
import { startBoss, stopBoss } from '../../src/queue/boss.ts'
import { sendReadiness } from '../../src/web/health.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { startCitusCluster } from '../support/citus-cluster.ts'
import { AHEAD } from '../support/global-setup.ts'
import { until } from '../support/process.ts'

/** A cluster of its own, because other tests need all nodes. */
const cluster = await startCitusCluster()
await closeAfterTests({ close: () => cluster.stop() })
const url = `${cluster.urls[0]}/${cluster.database}`
await migrateAll(url, new Date(), { backend: 'citus', ahead: AHEAD })
const pool = createPool(url, { connectionsMax: 5, name: 'test', onLost: () => undefined })
await closeAfterTests({ close: () => pool.end() })

let made = 0

/** Writes a row to one shard, or to all. */
async function write(tx: Db, shards: 'one' | 'all'): Promise<void> {
  const rows = Array.from({ length: shards === 'one' ? 1 : 16 }, () => {
    return `(sha256('${++made}'), gen_random_uuid(), now())`
  })
  await tx.query(`insert into inbound_keys (key_hash, mail_id, created_at) values ${rows.join()}`)
}

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

const boss = await startBoss(url, 'sends', { name: 'test', onError: () => undefined })
await closeAfterTests({ close: () => stopBoss(boss, 1_000) })
const server = createServer(
  (_req, res) => void sendReadiness(res, { pool, boss, isClosing: () => false }),
)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
await closeAfterTests({ close: () => server.close() })

async function readiness(): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  return `${answer.status} ${(await answer.text()).trim()}`
}

const read = () => pool.query('select count(*) from reports')

test.for([
  ['w1', 'one'],
  ['w1', 'all'],
  ['w2', 'one'],
  ['w2', 'all'],
] as const)(
  'without %s, what concerns %s of the shards fails as in an outage',
  async ([node, shards]) => {
    await read()
    // A commit that reaches the node before it is stopped, or does not need it, succeeds.
    const lost = await errorOf(
      inTransaction(pool, async (tx) => {
        await write(tx, shards)
        await cluster.kill(node)
      }),
    )
    expect(lost === undefined || isOutage(lost), String(lost)).toBe(true)
    if (shards === 'all') expect(lost).toBeDefined()
    expect(isOutage(await errorOf(read()))).toBe(true)
    expect(isOutage(await errorOf(inTransaction(pool, (tx) => write(tx, 'all'))))).toBe(true)
    expect(await readiness()).toMatch(
      /^200 ready, but not all servers .* answer: 127\.0\.0\.1:\d+$/,
    )
    await cluster.revive(node)
    await until('an answer', async () => (await errorOf(read())) === undefined || undefined)
    await inTransaction(pool, (tx) => write(tx, 'all'))
    expect(await readiness()).toBe('200 ready')
  },
)
