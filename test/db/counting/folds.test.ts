import { pino } from 'pino'
import { expect, test } from 'vitest'
import { findWitnesses } from '../../../src/db/campaigns.ts'
import { inShardTransaction } from '../../../src/db/nodes.ts'
import { inTransaction, type Pool } from '../../../src/db/pool.ts'
import {
  claimEvidence,
  listEvidenceBacklogs,
  shardOfPart,
} from '../../../src/db/reported-evidence.ts'
import { shardOfSubject } from '../../../src/db/reputations.ts'
import { KARMA_PART, takeBackEvidence, WHOLE_PART } from '../../../src/counting/evidence.ts'
import { foldParts, runFolds, splitEvidence } from '../../../src/counting/fold-evidence.ts'
import { reputationKey } from '../../../src/counting/reputation-reader.ts'
import { unpackWitnesses } from '../../../src/verdict/reputation/karma.ts'
import type { Subject } from '../../../src/verdict/reputation/subject.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import { breaking, listAdvisoryLocks } from '../../support/breaking-pool.ts'
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

const partOfSubject = (subject: Subject) => shardOfSubject(reputationKey(subject))

const reading = [/pg_try_advisory/, /octet_length/, /^delete from reputation_evidence/]
const folding = [...reading, /from reputations/, /insert into reputations/, /^commit/]

test('each piece of evidence counts once, at whatever step a fold crashes', async () => {
  const { pool } = database
  const subjects = hosts('killed', 12)
  const reporters = await vouchedReporters(pool, 3)
  await append(pool, await reportedBy(pool, reporters, { subjects }))
  const crash = async (steps: readonly RegExp[], work: (pool: Pool) => Promise<unknown>) => {
    for (const step of steps) {
      let died = false
      const isFatal = (text: string) => step.test(text.trim()) && (died = true)
      await work(breaking(pool, isFatal)).catch(() => undefined)
      expect([step, died]).toEqual([step, true])
      await expect.poll(() => listAdvisoryLocks(pool)).toEqual([])
    }
  }
  await crash(folding, (its) => foldParts(its, [WHOLE_PART], start))
  await crash([...reading, /insert into reputation_evidence/, /^commit/], (its) =>
    splitEvidence(its, start),
  )
  await splitEvidence(pool, start)
  const parts = [...new Set(subjects.map(partOfSubject))]
  for (const part of parts) await crash(folding, (its) => foldParts(its, [part], start))
  expect(await weights(subjects)).toEqual(subjects.map(() => 0))
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

test('what belongs to a part that another process folds waits for it, and only that', async () => {
  const { pool } = database
  const all = hosts('held', 60)
  // Whole evidence is folded on the server that has this shard.
  const subject = all.find((one) => shardOfPart(partOfSubject(one)) === 0)
  if (!subject) throw new Error('There is no subject.')
  const part = partOfSubject(subject)
  const free = all.filter((one) => partOfSubject(one) !== part).slice(0, 12)
  const subjects = [subject, ...free]
  await append(pool, await reportedBy(pool, await vouchedReporters(pool, 2), { subjects }))
  await inShardTransaction(pool, 0, async (tx) => {
    expect(await claimEvidence(tx, [part])).toEqual([part])
    expect(await foldParts(pool, [WHOLE_PART], start)).toMatchObject({ rows: 1 })
    expect(await weights(subjects)).toEqual([0, ...free.map(() => 2)])
    expect(await listEvidenceBacklogs(pool)).toMatchObject([{ part, rows: 1 }])
    expect(await foldParts(pool, [part], start)).toBeUndefined()
  })
  expect(await foldParts(pool, [part], start)).toMatchObject({ rows: 1 })
  expect(await weights(subjects)).toEqual(subjects.map(() => 2))
})

test('testimonies are folded in order, even if another fold left some of them', async () => {
  const { pool } = database
  const [subject] = hosts('order', 1)
  const campaignId = uuidv7(start)
  const [reporterId = ''] = await vouchedReporters(pool, 1)
  const subjects = subject ? [subject] : []
  const report = async (at: Date) => {
    const reports = await reportedBy(pool, [reporterId], { subjects, campaignId, at })
    await append(pool, reports, at)
    return reports.map(({ reportId }) => reportId)
  }
  const minute = (number: number) => new Date(start.getTime() + number * 60_000)
  const ids = await report(minute(1))
  await inTransaction(pool, (tx) => takeBackEvidence(tx, ids, 'new-analysis', minute(2)))
  await inShardTransaction(pool, 0, async (tx) => {
    expect(await claimEvidence(tx, [KARMA_PART])).toEqual([KARMA_PART])
    await foldParts(pool, [WHOLE_PART], start)
  })
  expect(await listEvidenceBacklogs(pool)).toMatchObject([{ part: KARMA_PART, rows: 2 }])
  await report(minute(3))
  await foldParts(pool, [WHOLE_PART], start)
  expect(await listEvidenceBacklogs(pool)).toEqual([])
  const [row] = await findWitnesses(pool, [campaignId])
  const witnesses = unpackWitnesses(row?.content ?? Buffer.alloc(0))
  expect(witnesses).toMatchObject([{ reporterId, side: 'bad' }])
})

test('a shard that cannot be folded delays no other, and is logged once', async () => {
  const { pool } = database
  const subjects = hosts('sound', 12)
  const [trapped] = subjects
  const others = subjects.filter((one) => trapped && partOfSubject(one) !== partOfSubject(trapped))
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
  expect(backlogs).toMatchObject([{ part: WHOLE_PART, rows: 1 }])
})
