import { pino } from 'pino'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { floods } from '../../../src/activity/floods.ts'
import { pairTypes, pieceTypes } from '../../../src/pieces/shingles/piece-types.ts'
import { hexOf, shingleHash } from '../../../src/pieces/shingles/hash.ts'
import { countMessages, readCounted } from '../../../src/counting/count-messages.ts'
import { halvesOf, pairKey } from '../../../src/counting/keys.ts'
import { type Counts, createCounterReader } from '../../../src/counting/reader.ts'
import { listReportsByIds } from '../../../src/db/reports.ts'
import { retractReport } from '../../../src/reports/change-report.ts'
import { setRelays } from '../../../src/reports/set-relays.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runKeepHouse } from '../../../src/reports/keep-house.ts'
import { WHOLE_PART } from '../../../src/counting/evidence.ts'
import { foldParts } from '../../../src/counting/fold-evidence.ts'
import { rollUp } from '../../../src/counting/roll-up.ts'
import { runRollUps } from '../../../src/counting/run-roll-ups.ts'
import { REPORTS } from '../../../src/db/counter-rows.ts'
import { runRedeemReport } from '../../../src/reports/redeem-report.ts'
import { closeAfterTests, closeAfterThisTest } from '../../support/after-tests.ts'
import { openTestApp, type TestApp } from '../../support/app.ts'
import { linesOf } from '../../support/counter-model.ts'
import { rollUpAll, storedModel } from '../../support/counter-rows.ts'
import { freshDatabase } from '../../support/database.ts'
import { relayedMessage, spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'

const app = await closeAfterTests(openTestApp())

beforeEach(async () => {
  const tables =
    'counters, counter_members, counter_deltas, counter_gates, counted_reports, reports_to_count'
  await app.pool.query(`truncate ${tables}`)
})

type Payload = { reportId: string }

const analyze = (...payloads: Payload[]) => runAnalyzeReport(payloads, { ...app, parser })
const retract = ({ reportId }: Payload) => retractReport(app, reportId, { isReporter: true })
const redeem = (...payloads: Payload[]) => runRedeemReport(payloads, app)

async function reported(mark: string, more: Parameters<TestApp['report']>[1] = {}) {
  return { reportId: (await app.report(spamMessage(mark), more)).id }
}

/** Returns the counts of the author of all messages. */
async function counted(pair?: (typeof pairTypes)[number]['name']): Promise<Partial<Counts>> {
  await rollUpAll(app.pool, new Date())
  const reader = createCounterReader(app, { keysMax: 10, freshMs: 0 })
  const { number } = pieceTypes['author-address']
  const author = shingleHash(number, 'offers@shop.example')
  const type = pairTypes.find(({ name }) => name === pair)
  const key = type ? pairKey(type.number, halvesOf(author)) : halvesOf(author)
  const [windows] = await reader.readWindows([(BigInt(key.hi) << 32n) | BigInt(key.lo)])
  const { reports } = windows ?? {}
  // Uses two weeks and not one day, because the test may run at midnight.
  return reports ? reports.twoWeeks : {}
}

test('a report makes its campaign grow once, however often it is analyzed', async () => {
  const note = vi.spyOn(floods, 'note')
  onTestFinished(() => note.mockRestore())
  const words = Array.from({ length: 150 }, (_, n) => `word${n * 7919}`).join(' ')
  const long = (n: number) => Buffer.from(`${spamMessage(`grows ${n}`)}\r\n${words}\r\n`)
  const payloads = await Promise.all(
    Array.from({ length: 12 }, async (_, n) => ({ reportId: (await app.report(long(n))).id })),
  )
  await analyze(...payloads)
  await app.pool.query(`delete from analyses`)
  await app.pool.query(`update reports set state = 'received'`)
  await analyze(...payloads)
  const sizes = await app.rows('select campaign_id as who, reports from campaign_days')
  expect(sizes).toMatchObject([{ reports: 12 }])
  const noted = note.mock.calls.filter(([kind]) => kind === 'campaign')
  expect(noted).toEqual(Array(12).fill(['campaign', sizes[0]?.['who']]))
})

test('the message of these tests has the author whose counts they read', async () => {
  const payload = await reported('author')
  await analyze(payload)
  const [row] = await app.rows('select content from counted_reports where id = $1', [
    payload.reportId,
  ])
  const hash = hexOf(shingleHash(pieceTypes['author-address'].number, 'offers@shop.example'))
  const content = row?.['content'] as Buffer | undefined
  expect(content?.toString('hex')).toContain(hash)
})

test('a report counts once, however often it is analyzed', async () => {
  const payloads = await app.reports('once-1', 'once-2', 'once-3')
  await Promise.all([analyze(...payloads), analyze(...payloads.toReversed())])
  await analyze(...payloads)
  expect(await counted()).toMatchObject({ spam: 3, complaint: 3, ham: 0, redeemed: 0 })
  expect(await counted('author-reporters')).toMatchObject({ complaint: 3, unique: 1 })
})

test('a report of wanted mail counts as ham, not as a complaint', async () => {
  await analyze(await reported('wanted', { kind: 'not-spam' }))
  expect(await counted()).toMatchObject({ ham: 1, spam: 0, complaint: 0 })
})

test('a retracted report is reversed once, and counted as redeemed', async () => {
  const [kept, payload] = [await reported('stays'), await reported('goes')]
  await analyze(kept, payload)
  expect(await retract(payload)).toBe(true)
  expect(await retract(payload)).toBe(false)
  await Promise.all([redeem(payload), redeem(payload)])
  await redeem(payload)
  expect(await counted()).toMatchObject({ spam: 1, complaint: 1, redeemed: 1 })
  expect(await counted('author-reporters')).toMatchObject({ complaint: 1, unique: 1 })
  await retract(kept)
  await redeem(kept)
  expect(await counted()).toMatchObject({ spam: 0, complaint: 0, redeemed: 2 })
  expect(await counted('author-reporters')).toMatchObject({ complaint: 0, unique: 0 })
})

test('a report retracted or analyzed again before it is counted is counted right', async () => {
  const [gone, changed] = [await reported('gone early'), await reported('changed early')]
  await analyze(gone, changed)
  await retract(gone)
  await redeem(gone)
  const changedTo = { ...changed, kind: 'not-spam' as const }
  await app.report(spamMessage('changed early'), { kind: changedTo.kind })
  await analyze(changed)
  expect(await counted()).toMatchObject({ spam: 0, complaint: 0, ham: 1, redeemed: 2 })
  expect(await counted('author-reporters')).toMatchObject({ complaint: 0, ham: 1, unique: 1 })
})

test('reports that are retracted while they are counted leave no count', async () => {
  const log = pino({ level: 'silent' })
  const rollers = [1, 2].map(() => runRollUps({ pool: app.pool, clock: app.clock, log }))
  const payloads = await app.reports(...Array.from({ length: 24 }, (_, index) => `race-${index}`))
  for (let at = 0; at < payloads.length; at += 6) {
    const some = payloads.slice(at, at + 6)
    await analyze(...some)
    for (const payload of some) await retract(payload)
    await Promise.all([redeem(...some), rollUp(app.pool, [REPORTS], new Date())])
  }
  await Promise.all(rollers.map((roller) => roller.close()))
  expect(await counted()).toMatchObject({ spam: 0, complaint: 0, redeemed: payloads.length })
  expect(await counted('author-reporters')).toMatchObject({ complaint: 0, unique: 0 })
})

test('a retraction has its own job, which reverses no other report', async () => {
  const payload = await reported('own-job')
  await analyze(payload)
  await redeem(payload)
  expect(await counted()).toMatchObject({ spam: 1, redeemed: 0 })
  await retract(payload)
  const jobs = await app.rows(
    `select data from pgboss.job where name = 'redeem-report' and data ->> 'reportId' = $1`,
    [payload.reportId],
  )
  expect(jobs).toEqual([{ data: payload }])
})

test('a report retracted before its analysis is never counted', async () => {
  const payload = await reported('hasty')
  await retract(payload)
  await analyze(payload)
  await redeem(payload)
  expect(await counted()).toEqual({})
})

test('a report analyzed again counts with its new analysis, once', async () => {
  const unsure = await closeAfterThisTest(openTestApp())
  const { id } = await unsure.report(relayedMessage('again'))
  const shingles = async () => {
    await runAnalyzeReport([{ reportId: id }], { ...unsure, parser })
    const [row] = await unsure.rows('select content from counted_reports where id = $1', [id])
    return readCounted(row?.['content'] as Buffer).shingles
  }
  const before = await shingles()
  await setRelays(unsure, unsure.ann, [{ cidr: '192.0.2.10/32', name: null, how: 'set' }])
  const after = await shingles()
  expect(after.equals(before)).toBe(false)
  await rollUpAll(unsure.pool, new Date())
  const message = { prefix: 'reports', amounts: { spam: 1, complaint: 1 } } as const
  const at = (await listReportsByIds(unsure.pool, [id]))[0]?.receivedAt ?? new Date()
  const other = await closeAfterThisTest(freshDatabase())
  await countMessages(other.pool, [{ ...message, shingles: after, at }], at)
  await rollUpAll(other.pool, new Date())
  expect(linesOf(await storedModel(unsure.pool))).toEqual(linesOf(await storedModel(other.pool)))
})

test('a retraction whose job was lost is still reversed', async () => {
  const [gone, stays] = [await reported('lost-job'), await reported('not-lost')]
  await analyze(gone, stays)
  await retract(gone)
  await app.pool.query('delete from pgboss.job')
  const inAnHour = () => new Date(Date.now() + 3_600_000)
  await runKeepHouse({ ...app, clock: inAnHour })
  const jobs = await app.rows(`select data from pgboss.job where name = 'redeem-report'`)
  expect(jobs).toEqual([{ data: gone }])
  await redeem(gone)
  await app.pool.query('delete from pgboss.job')
  await runKeepHouse({ ...app, clock: inAnHour })
  expect(await app.rows(`select data from pgboss.job where name = 'redeem-report'`)).toEqual([])
})

test('reports of a campaign are counted as its members until they are retracted', async () => {
  const text = 'The same long offer of watches, sent to everybody who can be found anywhere at all,'
  const wordy = (mark: string) =>
    Buffer.concat([spamMessage(mark), Buffer.from(`${text} ${text.toUpperCase()}\r\n`)])
  const reports = await Promise.all(['one', 'two'].map((mark) => app.report(wordy(mark))))
  const payloads = reports.map(({ id }) => ({ reportId: id }))
  await analyze(...payloads)
  const members = await app.rows('select distinct campaign_id as id from counted_reports')
  expect(members).toEqual([{ id: expect.any(String) as string }])
  const days = () =>
    app.rows('select reports from campaign_days where campaign_id = $1', [members[0]?.['id']])
  expect(await days()).toEqual([{ reports: 2 }])
  const [gone] = payloads
  if (!gone) throw new Error('A report is missing.')
  await retract(gone)
  await redeem(gone)
  await redeem(gone)
  expect(await days()).toEqual([{ reports: 1 }])
})

test('a retraction by an administrator counts against its reporter as overruled', async () => {
  const [own, theirs] = [await reported('mine to take back'), await reported('overruled')]
  await analyze(own, theirs)
  await retract(own)
  await retractReport(app, theirs.reportId, { isReporter: false, administratorId: app.bob })
  const jobs = await app.rows(
    `select data from pgboss.job where name = 'redeem-report' and data->>'reportId' = any($1)`,
    [[own.reportId, theirs.reportId]],
  )
  const before = await karma()
  await redeem(...jobs.map(({ data }) => data as Payload))
  const { retractions, overrulings } = await karma()
  expect(retractions).toBe(before.retractions + 1)
  expect(overrulings).toBe(before.overrulings + 1)
})

async function karma(): Promise<{ retractions: number; overrulings: number }> {
  while (((await foldParts(app.pool, [WHOLE_PART], new Date()))?.rows ?? 0) > 0);
  const text = 'select retractions, overrulings from karmas where reporter_id = $1'
  const [row] = await app.rows(text, [app.ann])
  return { retractions: Number(row?.['retractions']), overrulings: Number(row?.['overrulings']) }
}
