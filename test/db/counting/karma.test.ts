import { expect, test } from 'vitest'
import { removeOldWitnesses } from '../../../src/db/campaigns.ts'
import { insertReporter } from '../../../src/db/reporters.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { findWholeReputations } from '../../../src/db/reputations.ts'
import { reputationKey } from '../../../src/counting/reputation-reader.ts'
import { isSignedUp, unpackDetail } from '../../../src/verdict/reputation/detail.ts'
import { takeBackEvidence } from '../../../src/counting/evidence.ts'
import type { ReportEvidence } from '../../../src/verdict/reputation/evidence.ts'
import type { Subject } from '../../../src/verdict/reputation/subject.ts'
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
  start,
  vouchedReporters,
} from '../../support/evidence.ts'

const database = await closeAfterTests(freshDatabase(start, 12))

const subjects: Subject[] = [{ kind: 'link-host', name: 'spam.example' }]

async function report(
  ids: readonly string[],
  campaignId: string,
  more: Partial<ReportEvidence> = {},
): Promise<ReportEvidence[]> {
  const { pool } = database
  const reports = await reportedBy(pool, ids, { subjects, campaignId, ...more })
  await append(pool, reports, more.at)
  await foldAll(pool, more.at)
  return reports
}

async function karmaOf(id: string, at = start): Promise<number> {
  return (await readKarmas(database.pool, [id], at)).get(id) ?? NaN
}

test('a newcomer starts with low karma, a vouched-for reporter with full karma', async () => {
  const [known = ''] = await vouchedReporters(database.pool, 1)
  const [fresh = ''] = newcomers(1)
  expect(await karmaOf(known)).toBe(1)
  expect(await karmaOf(fresh)).toBe(0.2)
})

test('a newcomer with whom proven reporters agree is proven after days, not at once', async () => {
  const [fresh = ''] = newcomers(1)
  const known = await vouchedReporters(database.pool, 2)
  for (const day of [0, 0, 0, 0]) {
    const campaignId = uuidv7(daysLater(day))
    await report([fresh], campaignId, { at: daysLater(day) })
    await report(known, campaignId, { at: daysLater(day) })
  }
  expect(await karmaOf(fresh)).toBeCloseTo(2.92 / 10.6, 3)
  for (const day of [1, 2, 3, 4, 5]) {
    expect(await karmaOf(fresh, daysLater(day))).toBeLessThan(0.5)
    const campaignId = uuidv7(daysLater(day))
    await report([...known, fresh], campaignId, { at: daysLater(day) })
  }
  expect(await karmaOf(fresh, daysLater(6))).toBeGreaterThan(0.5)
})

test('one proven account cannot raise a crowd through invented campaigns', async () => {
  const crowd = newcomers(20)
  const [bought = ''] = await vouchedReporters(database.pool, 1)
  for (const day of [0, 1, 2, 3, 4, 5, 6]) {
    await report([bought, ...crowd], uuidv7(daysLater(day)), { at: daysLater(day) })
  }
  const karmas = await readKarmas(database.pool, crowd, daysLater(6))
  expect([...karmas.values()].every((karma) => karma === 0.2)).toBe(true)
})

test('newcomers of one day who only agree with each other stay newcomers', async () => {
  const crowd = newcomers(40)
  for (const day of [0, 1, 2, 3, 4]) {
    await report(crowd, uuidv7(daysLater(day)), { at: daysLater(day), support: 5 })
  }
  const karmas = await readKarmas(database.pool, crowd, daysLater(4))
  expect([...karmas.values()].every((karma) => karma === 0.2)).toBe(true)
})

/** Creates accounts at a mail domain, each on another day. */
async function accountsAt(domain: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => uuidv7(daysLater(-index - 1)))
  for (const id of ids) {
    const account = { email: `${id}@${domain}`, passwordHash: null, role: null }
    await insertReporter(database.pool, { id, ...account, createdAt: start })
  }
  return ids
}

test('independent newcomers who agree are proven after six days, without vouching', async () => {
  const free = await accountsAt('gmail.com', 4)
  const company = await accountsAt('mail.company.example', 8)
  const six = [0, 1, 2, 3, 4, 5]
  for (const day of six) {
    const at = daysLater(day)
    await report(free, uuidv7(at), { at, support: 2 })
    await report(company, uuidv7(at), { at, support: 2 })
  }
  const karmas = await readKarmas(database.pool, [...free, ...company], daysLater(5))
  const all = (ids: readonly string[]) => ids.map((id) => karmas.get(id) ?? NaN)
  expect(Math.min(...all(free))).toBeGreaterThan(0.5)
  expect(all(company)).toEqual(company.map(() => 0.2))
  // They count as sources, but as accounts from sign-up.
  const subject: Subject = { kind: 'link-host', name: 'later.example' }
  const [vouched = ''] = await vouchedReporters(database.pool, 1)
  await report([...free, vouched], uuidv7(daysLater(5)), { at: daysLater(5), subjects: [subject] })
  const [found] = await findWholeReputations(database.pool, [reputationKey(subject)])
  const { sources = [] } = found ? unpackDetail(found.detail) : {}
  expect(sources.map(isSignedUp).toSorted()).toEqual([false, true, true, true, true])
})

test('praise of an unwanted message lowers karma if independent newcomers complain', async () => {
  const honest = await accountsAt('gmail.com', 4)
  const [liar = ''] = newcomers(1)
  const campaignId = uuidv7(start)
  const verdict = { class: 'undecided', confidence: 0.2 } as const
  await report([liar], campaignId, { reportedAs: 'not-spam', verdict, support: 2 })
  await report(honest, campaignId, { support: 2 })
  expect(await karmaOf(liar)).toBeCloseTo(1.92 / 12.6, 3)
})

test('retractions and complaints about wanted mail lower karma', async () => {
  const [hasty = '', wrong = ''] = await vouchedReporters(database.pool, 2)
  const [first] = await report([hasty], uuidv7(start))
  await inTransaction(database.pool, (tx) =>
    takeBackEvidence(tx, [first?.reportId ?? ''], 'retraction', start),
  )
  const verdict = { class: 'legitimate', confidence: 0.99 } as const
  await report([wrong], uuidv7(start), { verdict })
  expect(await karmaOf(hasty)).toBeCloseTo(10 / 11, 3)
  expect(await karmaOf(wrong)).toBeCloseTo(10 / 13, 3)
})

test('an uncertain verdict does not lower the karma of a reporter', async () => {
  const [ann = ''] = await vouchedReporters(database.pool, 1)
  await report([ann], uuidv7(start), { verdict: { class: 'legitimate', confidence: 0.6 } })
  await report([ann], uuidv7(start), { verdict: { class: 'undecided', confidence: 0.2 } })
  expect(await karmaOf(ann)).toBe(1)
})

test('a complaint is forgiven if the mail is later judged spam', async () => {
  const [ann = ''] = await vouchedReporters(database.pool, 1)
  const verdict = { class: 'legitimate', confidence: 0.99 } as const
  const [first] = await report([ann], uuidv7(start), { verdict })
  expect(await karmaOf(ann)).toBeLessThan(0.8)
  await append(
    database.pool,
    first ? [{ ...first, verdict: { class: 'spam', confidence: 1 } }] : [],
  )
  await foldAll(database.pool)
  expect(await karmaOf(ann)).toBeCloseTo(1, 6)
})

test('contradiction by several people or an administrator’s decision lowers karma', async () => {
  const [liar = '', overruled = '', ...others] = await vouchedReporters(database.pool, 5)
  const campaignId = uuidv7(start)
  const wanted = {
    reportedAs: 'not-spam',
    verdict: { class: 'legitimate', confidence: 0.9 },
  } as const
  await report([liar], campaignId, wanted)
  await report(others, campaignId)
  const [false_] = await report([overruled], uuidv7(start))
  await inTransaction(database.pool, (tx) =>
    takeBackEvidence(tx, [false_?.reportId ?? ''], 'overruling', start),
  )
  await foldAll(database.pool)
  expect(await karmaOf(liar)).toBeCloseTo(10 / 13, 3)
  expect(await karmaOf(overruled)).toBeCloseTo(10 / 14, 3)
  expect(await karmaOf(others[0] ?? '')).toBe(1)
})

test('events lose half their weight in 180 days', async () => {
  const [wrong = ''] = await vouchedReporters(database.pool, 1)
  await report([wrong], uuidv7(start), { verdict: { class: 'legitimate', confidence: 0.99 } })
  expect(await karmaOf(wrong, daysLater(180))).toBeCloseTo(10 / 11.5, 3)
})

test('witnesses are deleted in steps after the last report of their campaign', async () => {
  const day = (at: Date) => at.toISOString().slice(0, 10)
  const late = daysLater(60)
  await report(newcomers(1), uuidv7(late), { at: late })
  const { pool } = database
  expect(await removeOldWitnesses(pool, day(late), 3)).toBe(3)
  while ((await removeOldWitnesses(pool, day(late), 100)) > 0);
  const { rows } = await pool.query('select campaign_id from campaign_witnesses')
  expect(rows).toHaveLength(1)
})
