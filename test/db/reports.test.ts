import { expect, test } from 'vitest'
import { inTransaction } from '../../src/db/pool.ts'
import { findReport, insertReports, listReportsByIds, markReports } from '../../src/db/reports.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'
import { addReports, newReport, untilBlocked } from '../support/rows.ts'

const database = await closeAfterTests(freshDatabase())

test('a report is read as it was stored, in the state received', async () => {
  const report = newReport({
    channel: 'signaler',
    kind: 'phishing',
    subject: `Ré: 'quoted' "twice" \\ %s $1; drop table reports; -- 😀`,
    author: null,
    datedAt: new Date('2026-11-20T13:06:07.089Z'),
    comment: 'line one\nline two',
    receivedVia: ['192.0.2.0/24', '2001:db8::/32'],
  })
  await addReports(database.pool, [report])
  expect(await findReport(database.pool, report.id)).toEqual({
    ...report,
    shadow: null,
    isConfirmed: false,
    correctedAs: null,
    state: 'received',
  })
})

test('an unknown id has no report', async () => {
  expect(await findReport(database.pool, newReport().id)).toBeUndefined()
  expect(await listReportsByIds(database.pool, [])).toEqual([])
})

test('a thousand reports are stored by one statement and can all be read', async () => {
  const reports = Array.from({ length: 1_000 }, () => newReport())
  const ids = await addReports(database.pool, reports)
  const found = await listReportsByIds(database.pool, ids)
  expect(new Set(found.map(({ id }) => id))).toEqual(new Set(ids))
})

test.for([
  ['channel', { channel: 'fax' as 'api' }],
  ['kind', { kind: 'ham' as 'spam' }],
] as const)('the database accepts every valid %s, and no other', async ([, fields]) => {
  const report = newReport(fields)
  await expect(addReports(database.pool, [report])).rejects.toMatchObject({ code: '23514' })
})

test('one report that cannot be stored fails its whole transaction', async () => {
  const good = newReport()
  const bad = newReport({ subject: 'NUL \u0000 is no text' })
  await expect(addReports(database.pool, [good, bad])).rejects.toMatchObject({ code: '22021' })
  expect(await findReport(database.pool, good.id)).toBeUndefined()
})

test('only reports in one of the given states are moved and returned', async () => {
  const [a = '', b = '', c = ''] = await addReports(database.pool, [
    newReport(),
    newReport(),
    newReport(),
  ])
  expect(await markReports(database.pool, [a], ['received'], 'analyzed')).toEqual([a])
  const moved = await markReports(database.pool, [a, b, newReport().id], ['received'], 'kept')
  expect(moved).toEqual([b])
  const states = await listReportsByIds(database.pool, [a, b, c])
  expect(new Map(states.map(({ id, state }) => [id, state]))).toEqual(
    new Map([
      [a, 'analyzed'],
      [b, 'kept'],
      [c, 'received'],
    ]),
  )
})

test('of two concurrent runs that move one report, one moves it', async () => {
  const [id = ''] = await addReports(database.pool, [newReport()])
  const other = await database.pool.connect()
  await other.query('begin')
  expect(await markReports(other, [id], ['received'], 'analyzed')).toEqual([id])
  const late = markReports(database.pool, [id], ['received'], 'analyzed')
  await untilBlocked(database.pool)
  await other.query('commit')
  other.release()
  expect(await late).toEqual([])
})

test('a run that is rolled back leaves the report to the next', async () => {
  const [id = ''] = await addReports(database.pool, [newReport()])
  const cut = inTransaction(database.pool, async (tx) => {
    await markReports(tx, [id], ['received'], 'analyzed')
    throw new Error('cut')
  })
  await expect(cut).rejects.toThrow('cut')
  expect(await markReports(database.pool, [id], ['received'], 'kept')).toEqual([id])
})

test('an id is used once', async () => {
  const report = newReport()
  await addReports(database.pool, [report])
  await expect(insertReports(database.pool, [report])).rejects.toMatchObject({ code: '23505' })
})
