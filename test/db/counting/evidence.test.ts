import { expect, test } from 'vitest'
import { inTransaction } from '../../../src/db/pool.ts'
import { findWholeReputations } from '../../../src/db/reputations.ts'
import { takeBackEvidence } from '../../../src/counting/evidence.ts'
import { createReputationReader, reputationKey } from '../../../src/counting/reputation-reader.ts'
import type { Subject } from '../../../src/verdict/reputation/subject.ts'
import { unpackDetail } from '../../../src/verdict/reputation/detail.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import {
  append,
  daysLater,
  foldAll,
  newcomers,
  readKarmas,
  reportedBy,
  standing,
  start,
  vouchedReporters,
} from '../../support/evidence.ts'

const database = await closeAfterTests(freshDatabase(start, 12))

const host = (name: string): Subject => ({ kind: 'link-host', name })

async function detailOf(subject: Subject) {
  const [row] = await findWholeReputations(database.pool, [reputationKey(subject)])
  return row && unpackDetail(row.detail)
}

test('five hundred new accounts that report one newsletter affect no one', async () => {
  const { pool } = database
  const newsletter: Subject[] = [
    host('news.letters.example'),
    { kind: 'author', name: 'news@letters.example' },
    { kind: 'address', name: '192.0.2.25' },
  ]
  const readers = await vouchedReporters(pool, 8)
  const wanted = {
    reportedAs: 'not-spam',
    verdict: { class: 'legitimate', confidence: 1 },
  } as const
  await append(pool, await reportedBy(pool, readers, { subjects: newsletter, ...wanted }))
  await foldAll(pool)
  const before = await Promise.all(newsletter.map((subject) => standing(pool, subject)))
  const campaignId = uuidv7(start)
  const crowd = newcomers(500)
  const subjects = [...newsletter, host('never.seen.example')]
  await append(pool, await reportedBy(pool, crowd, { subjects, campaignId }))
  await foldAll(pool)
  const after = await Promise.all(newsletter.map((subject) => standing(pool, subject)))
  expect(after.map(({ flags }) => flags)).toEqual(before.map(({ flags }) => flags))
  for (const [index, { score }] of after.entries()) {
    expect(Math.abs(score - (before[index]?.score ?? 0))).toBeLessThan(0.05)
    expect(score).toBeGreaterThan(0.6)
  }
  const unseen = await standing(pool, host('never.seen.example'))
  expect(unseen.score).toBeGreaterThan(-0.1)
  expect(unseen.weight).toBeLessThan(0.31)
  expect(unseen.flags).toEqual(['new'])
  const karmas = await readKarmas(pool, crowd, start)
  expect(new Set(karmas.values())).toEqual(new Set([0.2]))
})

test('twenty established reporters of real spam get its parts listed', async () => {
  const { pool } = database
  const subject: Subject = { kind: 'address', name: '192.0.2.77' }
  const linked = host('bank.example')
  const old = await vouchedReporters(pool, 20)
  await append(pool, await reportedBy(pool, old, { subjects: [subject, linked] }))
  expect((await standing(pool, subject)).score).toBe(0)
  await foldAll(pool)
  const { score, weight, flags } = await standing(pool, subject)
  expect(score).toBeLessThan(-0.85)
  expect(weight).toBeCloseTo(20, 1)
  expect(flags).toEqual(['listed', 'new'])
  // A linked site gets no other flag, because anyone may link to anyone.
  expect((await standing(pool, linked)).flags).toEqual(['new'])
})

test('one reporter who repeats a report counts as one reporter', async () => {
  const { pool } = database
  const subject = host('feud.example')
  const [foe = ''] = await vouchedReporters(pool, 1)
  await append(pool, await reportedBy(pool, Array(40).fill(foe), { subjects: [subject] }))
  await foldAll(pool)
  const { weight, flags } = await standing(pool, subject)
  expect(weight).toBeGreaterThan(1)
  expect(weight).toBeLessThanOrEqual(1.5)
  expect(flags).not.toContain('listed')
})

test('a retraction restores the earlier state, once', async () => {
  const { pool } = database
  const subject = host('shop.example')
  const [ann = '', ...others] = await vouchedReporters(pool, 4)
  await append(pool, await reportedBy(pool, others, { subjects: [subject] }))
  await foldAll(pool)
  const before = await standing(pool, subject)
  const [mine] = await reportedBy(pool, [ann], { subjects: [subject], at: daysLater(0.5) })
  await append(pool, mine ? [mine] : [])
  await foldAll(pool)
  expect((await standing(pool, subject)).weight).toBeCloseTo(before.weight + 1, 1)
  const takeBack = () =>
    inTransaction(pool, (tx) =>
      takeBackEvidence(tx, [mine?.reportId ?? ''], 'retraction', daysLater(3)),
    )
  expect(await takeBack()).toEqual([mine?.reportId])
  expect(await takeBack()).toEqual([])
  await foldAll(pool)
  const after = await standing(pool, subject)
  expect(after.score).toBeCloseTo(before.score, 6)
  expect(after.recentScore).toBeCloseTo(before.recentScore, 6)
  expect((await detailOf(subject))?.sources).toHaveLength(3)
  const karma = await readKarmas(pool, [ann], start)
  expect(karma.get(ann)).toBeLessThan(1)
})

test('evidence without sources is deleted at once, with its name', async () => {
  const { pool } = database
  const subject: Subject = { kind: 'claimed-author', name: 'ann@home.example' }
  const both = [...(await vouchedReporters(pool, 1)), ...newcomers(1)]
  const reports = await reportedBy(pool, both, { subjects: [subject] })
  await append(pool, reports)
  await foldAll(pool)
  expect(await detailOf(subject)).toBeDefined()
  const later = daysLater(40)
  await inTransaction(pool, (tx) =>
    takeBackEvidence(
      tx,
      reports.map(({ reportId }) => reportId),
      'retraction',
      later,
    ),
  )
  await foldAll(pool, later)
  expect(await detailOf(subject)).toBeUndefined()
})

test('a report that is analyzed again counts with its new analysis, once', async () => {
  const { pool } = database
  const [old, fresh] = [host('old.example'), host('fresh.example')]
  const [ann = ''] = await vouchedReporters(pool, 1)
  const [report] = await reportedBy(pool, [ann], { subjects: [old] })
  if (!report) throw new Error('No report was made.')
  await append(pool, [report])
  await foldAll(pool)
  await append(pool, [{ ...report, subjects: [fresh] }])
  await append(pool, [{ ...report, subjects: [fresh] }])
  await foldAll(pool)
  expect((await standing(pool, old)).weight).toBeCloseTo(0, 6)
  expect((await standing(pool, fresh)).weight).toBeCloseTo(1, 6)
  expect((await readKarmas(pool, [ann], start)).get(ann)).toBe(1)
})

test('a complaint counts against a relay as far as the relay answers for it', async () => {
  const { pool } = database
  const [relay, partly, author] = [host('relay.example'), host('partly.example'), host('a.example')]
  const subjects = [{ ...relay, answers: 0 }, { ...partly, answers: 0.25 }, author]
  const weights = () =>
    Promise.all([relay, partly, author].map(async (one) => (await standing(pool, one)).weight))
  const some = await vouchedReporters(pool, 1)
  const [report] = await reportedBy(pool, some, { subjects })
  const wanted = {
    reportedAs: 'not-spam',
    verdict: { class: 'legitimate', confidence: 1 },
  } as const
  if (!report) throw new Error('There is no report.')
  await append(pool, [report])
  await foldAll(pool)
  const [none, quarter, whole] = await weights()
  expect([none, quarter, whole]).toEqual([0, expect.closeTo(0.25, 5), expect.closeTo(1, 5)])
  await inTransaction(pool, (tx) => takeBackEvidence(tx, [report.reportId], 'retraction', start))
  await foldAll(pool)
  for (const weight of await weights()) expect(weight).toBeCloseTo(0, 5)
  const others = await vouchedReporters(pool, 1)
  await append(pool, await reportedBy(pool, others, { subjects, ...wanted }))
  await foldAll(pool)
  for (const weight of await weights()) expect(weight).toBeCloseTo(1, 5)
})

test('evidence decays: half of it remains after thirty days', async () => {
  const { pool } = database
  const subject = host('fading.example')
  const some = await vouchedReporters(pool, 2)
  await append(pool, await reportedBy(pool, some, { subjects: [subject] }))
  await foldAll(pool)
  expect((await standing(pool, subject, daysLater(30))).weight).toBeCloseTo(1, 2)
  expect((await standing(pool, subject, daysLater(1))).recentWeight).toBeCloseTo(1, 2)
  expect((await standing(pool, subject, daysLater(8))).flags).toEqual([])
})

test('a subject that is reported by several people after weeks of silence is awake', async () => {
  const { pool } = database
  const [sleeper, busy] = [host('sleeper.example'), host('busy.example')]
  const some = await vouchedReporters(pool, 3)
  const [one = ''] = some
  for (const days of [0, 5, 10, 15]) {
    const subjects = days === 0 ? [sleeper, busy] : [busy]
    await append(pool, await reportedBy(pool, [one], { subjects, at: daysLater(days) }))
  }
  const burst = { subjects: [sleeper, busy], at: daysLater(20) }
  const crowd = await reportedBy(pool, newcomers(50), burst)
  await append(pool, crowd)
  await foldAll(pool, daysLater(20))
  expect((await standing(pool, sleeper, daysLater(20))).flags).not.toContain('awake')
  await append(pool, await reportedBy(pool, some, burst))
  await foldAll(pool, daysLater(20))
  expect((await standing(pool, sleeper, daysLater(20))).flags).toContain('awake')
  expect((await standing(pool, busy, daysLater(20))).flags).not.toContain('awake')
  expect((await standing(pool, sleeper, daysLater(24))).flags).not.toContain('awake')
})

test('a subject that was praised for weeks and now gets complaints has jumped', async () => {
  const { pool } = database
  const [turned, steady] = [host('turned.example'), host('steady.example')]
  const some = await vouchedReporters(pool, 4)
  const wanted = {
    reportedAs: 'not-spam',
    verdict: { class: 'legitimate', confidence: 1 },
  } as const
  for (const days of [0, 2, 4]) {
    const at = daysLater(days)
    await append(pool, await reportedBy(pool, some, { subjects: [turned], at, ...wanted }))
    await append(pool, await reportedBy(pool, some, { subjects: [steady], at }))
  }
  const now = { subjects: [turned, steady], at: daysLater(9) }
  await append(pool, await reportedBy(pool, some, now))
  await foldAll(pool, daysLater(9))
  expect((await standing(pool, turned, daysLater(9))).flags).toContain('jumped')
  expect((await standing(pool, steady, daysLater(9))).flags).not.toContain('jumped')
})

test('a claimed author and the authenticated one are two subjects', async () => {
  const { pool } = database
  const claimed: Subject = { kind: 'claimed-author', name: 'chair@bank.example' }
  const some = await vouchedReporters(pool, 10)
  await append(pool, await reportedBy(pool, some, { subjects: [claimed] }))
  await foldAll(pool)
  expect((await standing(pool, claimed)).score).toBeLessThan(-0.5)
  const real = await standing(pool, { kind: 'author', name: 'chair@bank.example' })
  expect(real).toMatchObject({ score: 0, weight: 0, flags: [], firstSeenAt: null })
})

test('a reader answers in the order of the subjects and caches for a second', async () => {
  const { pool } = database
  let now = start
  const reader = createReputationReader({ pool, clock: () => now }, { keysMax: 2, freshMs: 1_000 })
  const subjects = [host('unknown.example'), host('bank.example'), host('bank.example')]
  expect((await reader.read(subjects)).map(({ score }) => score < -0.5)).toEqual([
    ...[false, true, true],
  ])
  const fresh = host('learned.example')
  expect((await reader.read([fresh]))[0]?.weight).toBe(0)
  await append(pool, await reportedBy(pool, await vouchedReporters(pool, 1), { subjects: [fresh] }))
  await foldAll(pool)
  expect((await reader.read([fresh]))[0]?.weight).toBe(0)
  now = new Date(start.getTime() + 1_000)
  expect((await reader.read([fresh]))[0]?.weight).toBeGreaterThan(0.9)
})
