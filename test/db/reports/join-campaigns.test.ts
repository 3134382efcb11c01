import { beforeEach, expect, inject, test } from 'vitest'
import { migrateAll } from '../../../src/processes/migrate.ts'
import { campaignKeys, type Fingerprints } from '../../../src/pieces/fingerprints.ts'
import { claimFounding, insertCampaignKeys, insertCampaigns } from '../../../src/db/campaigns.ts'
import {
  dropCounterPartitions,
  ensureCounterPartitions,
  GENERATION_DAYS,
  generationOf,
} from '../../../src/db/partitions.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { joinCampaigns } from '../../../src/reports/join-campaigns.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import { changed, longText, sharingKeys } from '../../support/fingerprints.ts'
import { untilBlocked } from '../../support/rows.ts'

const now = new Date()
const DAY_MS = 86_400_000
const GENERATION_MS = GENERATION_DAYS * DAY_MS
const later = (generations: number) => new Date(now.getTime() + generations * GENERATION_MS)
const database = await closeAfterTests(freshDatabase())
await migrateAll(database.url, new Date(), { backend: inject('backend') })
await ensureCounterPartitions(database.pool, now, 4)

beforeEach(() => database.pool.query('truncate campaigns, campaign_keys, campaign_days'))

/** Joins messages in one batch, and returns their campaigns in the same order. */
async function join(fingerprints: readonly Fingerprints[], at = now) {
  const messages = fingerprints.map((one) => ({ reportId: uuidv7(at), fingerprints: one }))
  const joined = await joinCampaigns(database.pool, messages, () => at)
  return messages.map(({ reportId }) => joined.get(reportId))
}

async function count(table: 'campaigns' | 'campaign_keys'): Promise<number | undefined> {
  const { rows } = await database.pool.query<{ n: number }>(`select count(*) as n from ${table}`)
  return rows[0]?.n
}

const one = longText('one')

test('similar messages join one campaign, different ones do not', async () => {
  const [first] = await join([one])
  const [like, other] = await join([changed(one, 20), longText('other')])
  expect(first).toBeTruthy()
  expect(like).toBe(first)
  expect(other).toBeTruthy()
  expect(other).not.toBe(first)
  expect(await count('campaigns')).toBe(2)
})

test('a campaign that waited for the creation of another is newer than it', async () => {
  const { pool } = database
  let at = now
  const tick = () => {
    at = new Date(at.getTime() + 5)
    return at
  }
  let late: Promise<Map<string, string>> | undefined
  const early = await inTransaction(pool, async (tx) => {
    await claimFounding(tx)
    const messages = [{ reportId: uuidv7(tick()), fingerprints: longText('late') }]
    late = joinCampaigns(pool, messages, () => at)
    await untilBlocked(pool)
    const id = uuidv7(tick())
    await insertCampaigns(tx, [{ id, fingerprints: one, firstReportId: id }])
    tick()
    return id
  })
  const [founded = ''] = [...((await late) ?? [])].map(([, id]) => id)
  expect(founded > early).toBe(true)
})

test('a campaign created with a slow clock is newer than those created before it', async () => {
  const [early] = await join([one])
  const [slow = ''] = await join([longText('late')], new Date(now.getTime() - 120_000))
  expect(slow > (early ?? '')).toBe(true)
})

test('messages of one batch find each other', async () => {
  const [a, b, c, d] = await join([one, longText('other'), changed(one, 20), changed(one, 20, 7)])
  expect([c, d]).toEqual([a, a])
  expect(b).not.toBe(a)
  expect(await count('campaigns')).toBe(2)
})

test('a second run finds the campaign of the first', async () => {
  const messages = [{ reportId: uuidv7(now), fingerprints: one }]
  const first = await joinCampaigns(database.pool, messages, () => now)
  expect(await joinCampaigns(database.pool, messages, () => now)).toEqual(first)
  expect(await count('campaigns')).toBe(1)
})

test('a message without keys has no campaign', async () => {
  expect(await join([{ words: '2' }])).toEqual([undefined])
  expect(await joinCampaigns(database.pool, [], () => now)).toEqual(new Map())
  expect(await count('campaigns')).toBe(0)
})

test('many concurrent workers create a campaign once', async () => {
  const texts = Array.from({ length: 8 }, (_, index) => longText(`text ${index}`))
  const batches = Array.from({ length: 12 }, (_, shift) =>
    texts.map((text) => changed(text, 60, shift)).toSorted(() => (shift % 2 ? 1 : -1)),
  )
  await Promise.all(batches.map((batch) => join(batch)))
  expect(await count('campaigns')).toBe(texts.length)
})

test('a worker that waited for another looks up the campaign again', async () => {
  const id = uuidv7(now)
  const generation = generationOf(Math.floor(now.getTime() / DAY_MS))
  const waiting = await inTransaction(database.pool, async (tx) => {
    await claimFounding(tx)
    const joining = join([changed(one, 20)])
    await untilBlocked(database.pool)
    await insertCampaigns(tx, [{ id, firstReportId: id, fingerprints: one }])
    await insertCampaignKeys(
      tx,
      campaignKeys(one).map((key) => ({ key, generation, campaignId: id })),
    )
    return { joining }
  })
  expect(await waiting.joining).toEqual([id])
  expect(await count('campaigns')).toBe(1)
})

test('of two matching campaigns the oldest is joined', async () => {
  const second = changed(one, 10)
  const [older, newer] = [await join([one]), await join([second], new Date(now.getTime() + 1_000))]
  expect(newer).not.toEqual(older)
  const between = changed(one, 20)
  expect(await join([between], new Date(now.getTime() + 2_000))).toEqual(older)
})

test('an active campaign is found in later generations, an ended one is not', async () => {
  const ended = longText('ended')
  const [first, second] = await join([one, ended])
  expect(await join([changed(one, 20)], later(1))).toEqual([first])
  await dropCounterPartitions(database.pool, later(2))
  const [still, anew] = await join([changed(one, 20, 3), ended], later(2))
  expect(still).toBe(first)
  expect(anew).not.toBe(second)
  await ensureCounterPartitions(database.pool, now, 4)
})

test('an active campaign writes its keys once in a generation, and no others', async () => {
  await join([one])
  for (const shift of [1, 2, 3]) await join([changed(one, 20, shift)], later(1))
  expect(await count('campaign_keys')).toBe(2 * campaignKeys(one).length)
})

test('the keys of a deleted campaign are skipped', async () => {
  const [first] = await join([one])
  await database.pool.query('delete from campaigns')
  const [second] = await join([one])
  expect(second).toBeTruthy()
  expect(second).not.toBe(first)
})

test('a key has at most 32 campaigns, the oldest ones', async () => {
  const flood = Array.from({ length: 60 }, (_, index) => sharingKeys(one, 1, `flood ${index}`))
  const founded = await join(flood)
  expect(new Set(founded).size).toBe(60)
  const key = BigInt.asIntN(64, BigInt(`0x${campaignKeys(one)[0]}`))
  const { rows } = await database.pool.query<{ id: string }>(
    'select campaign_id as id from campaign_keys where key = $1 order by 1',
    [key],
  )
  expect(rows.map(({ id }) => id)).toEqual(founded.slice(0, 32))
  // The other messages are found by their own keys, and so is a message that shares only a full
  // key.
  expect(await join(flood.map((text) => changed(text, 40, 39)))).toEqual(founded)
  const [own] = await join([one])
  expect(founded).not.toContain(own)
  expect(await join([changed(one, 20)])).toEqual([own])
})

test('if all keys are full there is no campaign, rather than one for each message', async () => {
  for (const [band, key] of campaignKeys(one).entries()) {
    const start = band * 10
    const sharing = Array.from({ length: 32 }, (_, index) => {
      const other = longText(`band ${band} of ${index}`)
      const near = other.near ?? ''
      const own = near.slice(0, start) + one.near?.slice(start, start + 10) + near.slice(start + 10)
      const shared = { ...other, near: own }
      return campaignKeys(shared).includes(key) ? shared : { ...other, head: one.head ?? '' }
    })
    await join(sharing)
  }
  expect(await join([one, one])).toEqual([undefined, undefined])
})
