import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { inTransaction } from '../../src/db/pool.ts'
import { claimReportKeys, removeReportKeys, type ReportKey } from '../../src/db/idempotency-keys.ts'
import { uuidFloor, uuidv7 } from '../../src/world.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase, isDistributed } from '../support/database.ts'
import { untilBlocked } from '../support/rows.ts'

const database = await closeAfterTests(freshDatabase())

const ann = '00000000-0000-7000-8000-00000000000a'
const bob = '00000000-0000-7000-8000-00000000000b'
const now = new Date('2026-11-20T12:00:00Z')

function key(content: string, reporterId = ann, at = now): ReportKey {
  const contentHash = createHash('sha256').update(content).digest()
  return { contentHash, reporterId, reportId: uuidv7(at) }
}

const claim = (keys: readonly ReportKey[]) =>
  inTransaction(database.pool, (tx) => claimReportKeys(tx, keys))

test('the first report of a content owns it, and the second one finds the first', async () => {
  const [first, second] = [key('one'), key('one')]
  expect(await claim([first])).toEqual([first.reportId])
  expect(await claim([second])).toEqual([first.reportId])
})

test('the same bytes from another reporter are another report', async () => {
  const [anns, bobs] = [key('two', ann), key('two', bob)]
  expect(await claim([anns])).toEqual([anns.reportId])
  expect(await claim([bobs])).toEqual([bobs.reportId])
})

test('answers are in the order of the queries, known and new ones mixed', async () => {
  const known = key('three-b')
  await claim([known])
  const asked = [key('three-c'), key('three-b'), key('three-a'), key('three-a', bob)]
  const [c, , a, bobs] = asked.map(({ reportId }) => reportId)
  expect(await claim(asked)).toEqual([c, known.reportId, a, bobs])
})

test('a claim waits for a concurrent one, and then belongs to it', async () => {
  const [early, late] = [key('four'), key('four')]
  const other = await database.pool.connect()
  await other.query('begin')
  await claimReportKeys(other, [early])
  const answer = claim([late])
  await untilBlocked(database.pool)
  await other.query('commit')
  other.release()
  expect(await answer).toEqual([early.reportId])
})

test('a claim that was rolled back is free for the waiting one', async () => {
  const [early, late] = [key('five'), key('five')]
  const other = await database.pool.connect()
  await other.query('begin')
  await claimReportKeys(other, [early])
  const answer = claim([late])
  await untilBlocked(database.pool)
  await other.query('rollback')
  other.release()
  expect(await answer).toEqual([late.reportId])
})

const byHash = [key('seven a'), key('seven b')].toSorted((a, b) =>
  Buffer.compare(a.contentHash, b.contentHash),
)

// Citus claims part by part, in the order of the keys within a part.
test.skipIf(isDistributed).for([
  ['contents', byHash],
  ['reporters of one content', [key('eight', ann), key('eight', bob)]],
] as const)(
  'keys are claimed in order, %s too: two batches never wait for each other',
  async ([, [low, high]]) => {
    const again = ({ contentHash, reporterId }: ReportKey) => ({
      contentHash,
      reporterId,
      reportId: uuidv7(now),
    })
    const [holder, third] = await Promise.all([database.pool.connect(), database.pool.connect()])
    await holder.query('begin')
    await claimReportKeys(holder, [low])
    const batch = claim([again(high), again(low)])
    await untilBlocked(database.pool)
    // The batch waits for the low key, so it cannot hold the high key yet.
    await third.query("set lock_timeout = '1s'")
    expect(await claimReportKeys(third, [high])).toEqual([high.reportId])
    await holder.query('commit')
    expect(await batch).toEqual([high.reportId, low.reportId])
    for (const client of [holder, third]) client.release(true)
  },
)

test('keys expire by the time in the ids of their reports', async () => {
  const day = (n: number) => new Date(now.getTime() + n * 86_400_000)
  const keys = [-1, 0, 1, 2].map((n) => key(`six ${n}`, ann, day(n)))
  await claim(keys)
  await removeReportKeys(database.pool, uuidFloor(day(0)), uuidFloor(day(2)))
  const again = [-1, 0, 1, 2].map((n) => key(`six ${n}`, ann, day(n)))
  const answers = await claim(again)
  const isKept = answers.map((answer, n) => answer === keys[n]?.reportId)
  expect(isKept).toEqual([true, false, false, true])
})
