import { expect, test } from 'vitest'
import { inTransaction } from '../../../src/db/pool.ts'
import { takeBackEvidence } from '../../../src/counting/evidence.ts'
import { forgetReputations } from '../../../src/counting/fold-evidence.ts'
import type { Subject } from '../../../src/verdict/reputation/subject.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import {
  append,
  daysLater,
  foldAll,
  newcomers,
  reportedBy,
  start,
  vouchedReporters,
} from '../../support/evidence.ts'

const database = await closeAfterTests(freshDatabase(start, 12))

const hosts = (name: string): Subject[] =>
  Array.from({ length: 60 }, (_, index) => ({ kind: 'link-host', name: `${name}${index}.example` }))

/** Runs the cleanup for all hours that together process every slice of the keys. */
async function forgetAll(days: number, daysMax = 400) {
  for (let hour = 0; hour < 11; hour++) {
    await forgetReputations(database.pool, daysLater(days + hour / 24), daysMax)
  }
}

async function names(): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `select distinct regexp_replace(name, '[0-9].*', '') as name from reputations order by name`,
  )
  return rows.map(({ name }) => name)
}

test('subjects seen by few are deleted sooner than those seen by many', async () => {
  const { pool } = database
  const many = await vouchedReporters(pool, 3)
  await append(pool, await reportedBy(pool, many, { subjects: hosts('many') }))
  await append(pool, await reportedBy(pool, newcomers(1), { subjects: hosts('few') }))
  const late = { subjects: hosts('late'), at: daysLater(30) }
  await append(pool, await reportedBy(pool, newcomers(1), late))
  await foldAll(pool)
  await forgetAll(44)
  expect(await names()).toEqual(['few', 'late', 'many'])
  await forgetAll(46)
  expect(await names()).toEqual(['late', 'many'])
  await forgetAll(80)
  expect(await names()).toEqual(['many'])
  await forgetAll(201)
  expect(await names()).toEqual([])
})

test('retracting a report about a deleted subject does not restore it', async () => {
  const { pool } = database
  const subjects = hosts('again')
  const reports = await reportedBy(pool, newcomers(1), { subjects })
  await append(pool, reports)
  await foldAll(pool)
  await forgetAll(60)
  const ids = reports.map(({ reportId }) => reportId)
  const late = daysLater(61)
  await inTransaction(pool, (tx) => takeBackEvidence(tx, ids, 'retraction', late))
  await foldAll(pool, late)
  expect(await names()).toEqual([])
})

test('nothing is kept longer than reports are', async () => {
  const { pool } = database
  const at = daysLater(20)
  const reporters = await vouchedReporters(pool, 5)
  await append(pool, await reportedBy(pool, reporters, { subjects: hosts('brief'), at }), at)
  await foldAll(pool, at)
  await forgetAll(49, 30)
  expect(await names()).toContain('brief')
  await forgetAll(51, 30)
  expect(await names()).not.toContain('brief')
})
