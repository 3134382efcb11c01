import { pino } from 'pino'
import { expect, test } from 'vitest'
import { inTransaction, type Pool } from '../../../src/db/pool.ts'
import { claimEvidence, listEvidenceBacklogs } from '../../../src/db/reported-evidence.ts'
import { shardOfSubject } from '../../../src/counting/evidence.ts'
import { foldShards, runFolds } from '../../../src/counting/fold-evidence.ts'
import { reputationKey } from '../../../src/counting/reputation-reader.ts'
import type { Subject } from '../../../src/verdict/reputation/reputation.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import {
  append,
  foldAll,
  reportedBy,
  standing,
  start,
  vouchedReporters,
} from '../../support/evidence.ts'

const database = await closeAfterTests(freshDatabase(start))

const hosts = (name: string, count: number): Subject[] =>
  Array.from({ length: count }, (_, index) => ({
    kind: 'link-host',
    name: `${name}-${index}.example`,
  }))

async function weights(subjects: readonly Subject[]): Promise<number[]> {
  const all = await Promise.all(subjects.map((subject) => standing(database.pool, subject)))
  return all.map(({ weight }) => Math.round(weight * 100) / 100)
}

/** Returns a pool whose connections break when a statement chosen by `isFatal` is sent. */
function breaking(pool: Pool, isFatal: (text: string) => boolean): Pool {
  const connect = async () => {
    const client = await pool.connect()
    const { query } = client
    return Object.assign(Object.create(client) as typeof client, {
      query(statement: string | { text: string }, ...more: unknown[]) {
        const text = (typeof statement === 'string' ? statement : statement.text).trimStart()
        if (!isFatal(text)) return Reflect.apply(query, client, [statement, ...more]) as unknown
        // Simulates a crash of the process: the connection is cut without a rollback.
        const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
        connection.stream.destroy()
        return Promise.reject(new Error('Killed.'))
      },
    })
  }
  return Object.assign(Object.create(pool) as Pool, { connect })
}

/**
 * Lists the advisory locks that are held. The server keeps those of a cut connection until it
 * notices the cut.
 */
async function listAdvisoryLocks(pool: Pool): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select objid from pg_locks
     where locktype = 'advisory'
       and database = (select oid from pg_database where datname = current_database())`,
  )
  return rows
}

test('each piece of evidence counts once, at whatever step a fold crashes', async () => {
  const { pool } = database
  const subjects = hosts('killed', 12)
  const reporters = await vouchedReporters(pool, 3)
  await append(pool, await reportedBy(pool, reporters, { subjects }))
  const steps = [
    /pg_try_advisory/,
    /octet_length/,
    /^\s*delete from reputation_evidence/,
    /from reputations/,
    /insert into reputations/,
    /^commit/,
  ]
  for (const step of steps) {
    const died = new Set<number>()
    for (const shard of [0, 1, 2, 3]) {
      const isFatal = (text: string) => step.test(text.trim()) && died.add(shard).has(shard)
      await foldShards(breaking(pool, isFatal), [shard], start).catch(() => undefined)
    }
    expect([step, died.size]).toEqual([step, 4])
  }
  expect(await weights(subjects)).toEqual(subjects.map(() => 0))
  await expect.poll(() => listAdvisoryLocks(pool)).toEqual([])
  await foldAll(pool)
  expect(await weights(subjects)).toEqual(subjects.map(() => 3))
})

test('two concurrent folds share the shards, and each piece counts once', async () => {
  const { pool } = database
  const subjects = hosts('shared', 20)
  for (const reporterId of await vouchedReporters(pool, 6)) {
    await append(pool, await reportedBy(pool, [reporterId], { subjects }))
  }
  await Promise.all([foldAll(pool), foldAll(pool), foldAll(pool)])
  await foldAll(pool)
  expect(await weights(subjects)).toEqual(subjects.map(() => 6))
})

test('while one process folds a shard, another continues with the next', async () => {
  const { pool } = database
  const [subject] = hosts('held', 1)
  if (!subject) throw new Error('There is no subject.')
  const shard = shardOfSubject(reputationKey(subject))
  await append(
    pool,
    await reportedBy(pool, await vouchedReporters(pool, 1), { subjects: [subject] }),
  )
  await inTransaction(pool, async (tx) => {
    expect(await claimEvidence(tx, [shard])).toEqual([shard])
    expect(await foldShards(pool, [shard], start)).toBeUndefined()
  })
  expect(await foldShards(pool, [shard], start)).toMatchObject({ rows: 1 })
})

test('a shard that cannot be folded delays no other, and is logged once', async () => {
  const { pool } = database
  const subjects = hosts('sound', 12)
  const [trapped] = subjects
  const shardOf = (subject: Subject) => shardOfSubject(reputationKey(subject))
  const others = subjects.filter((one) => trapped && shardOf(one) !== shardOf(trapped))
  expect(others.length).toBeGreaterThan(0)
  await append(pool, await reportedBy(pool, await vouchedReporters(pool, 1), { subjects }))
  await pool.query(`alter table reputations add constraint reputations_trap
    check (name <> 'sound-0.example') not valid`)
  const told: unknown[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void told.push(JSON.parse(line)) })
  const folds = runFolds({ pool, clock: () => start, log })
  await expect.poll(() => weights(others)).toEqual(others.map(() => 1))
  await folds.close()
  expect(await listEvidenceBacklogs(pool)).toHaveLength(1)
  expect(told).toMatchObject([
    { msg: 'Could not add new evidence to the reputations. Will retry.' },
  ])
  await pool.query('alter table reputations drop constraint reputations_trap')
  await foldAll(pool)
  expect(await weights(subjects)).toEqual(subjects.map(() => 1))
})

test('the loop folds waiting and new evidence, and ends when it is closed', async () => {
  const { pool } = database
  const [subject, later] = hosts('loop', 2)
  if (!subject || !later) throw new Error('There are no subjects.')
  const reporters = await vouchedReporters(pool, 2)
  await append(pool, await reportedBy(pool, reporters, { subjects: [subject] }))
  const folds = runFolds({ pool, clock: () => start, log: pino({ level: 'silent' }) })
  await expect.poll(() => weights([subject])).toEqual([2])
  await append(pool, await reportedBy(pool, reporters, { subjects: [later] }))
  await expect.poll(() => weights([later])).toEqual([2])
  await folds.close()
  await append(pool, await reportedBy(pool, reporters, { subjects: [subject] }))
  const backlogs = await listEvidenceBacklogs(pool)
  expect(backlogs.map(({ shard }) => shard)).toEqual([shardOfSubject(reputationKey(subject))])
})
