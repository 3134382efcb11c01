import { beforeEach, expect, test } from 'vitest'
import {
  addToCampaignDays,
  type CampaignDayChange,
  insertCampaigns,
} from '../../src/db/campaigns.ts'
import { inTransaction } from '../../src/db/pool.ts'
import { uuidv7 } from '../../src/world.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'

const now = new Date()
const [one, other] = [uuidv7(now), uuidv7(now)].sort() as [string, string]

const database = await closeAfterTests(freshDatabase())
await insertCampaigns(
  database.pool,
  [one, other].map((id) => ({ id, firstReportId: id, fingerprints: { words: '9' } })),
)

beforeEach(() => database.pool.query('delete from campaign_days'))

const add = (...changes: CampaignDayChange[]) => addToCampaignDays(database.pool, changes)

async function days() {
  const { rows } = await database.pool.query<{ id: string; day: string; reports: number }>(
    `select campaign_id as id, day::text, reports from campaign_days order by 1, 2`,
  )
  return rows.map(({ id, day, reports }) => [id, day, reports])
}

test('reports are counted by campaign and day, at any hour', async () => {
  await add(
    { campaignId: other, day: '2026-11-20', reports: 1 },
    { campaignId: one, day: new Date('2026-11-20T23:59:59.999Z'), reports: 2 },
    { campaignId: one, day: new Date('2026-11-20T00:00:00Z'), reports: 1 },
    { campaignId: one, day: new Date('2026-11-21T00:00:00Z'), reports: 1 },
  )
  await add({ campaignId: one, day: '2026-11-20', reports: 4 })
  expect(await days()).toEqual([
    [one, '2026-11-20', 7],
    [one, '2026-11-21', 1],
    [other, '2026-11-20', 1],
  ])
})

test('a retracted report leaves no trace in the counts', async () => {
  await add({ campaignId: one, day: '2026-11-20', reports: 2 })
  await add({ campaignId: one, day: '2026-11-20', reports: -1 })
  expect(await days()).toEqual([[one, '2026-11-20', 1]])
  await add(
    { campaignId: one, day: '2026-11-20', reports: 1 },
    { campaignId: one, day: '2026-11-20', reports: -1 },
  )
  expect(await days()).toEqual([[one, '2026-11-20', 1]])
})

test('a report older than its campaign’s counts can be retracted', async () => {
  const gone = uuidv7(new Date('2020-01-01'))
  await add(
    { campaignId: gone, day: '2026-11-20', reports: -1 },
    { campaignId: one, day: '2026-11-20', reports: 3 },
  )
  expect(await days()).toEqual([[one, '2026-11-20', 3]])
})

test('concurrent transactions lock in one order and lose no count', async () => {
  const changes = [one, other].flatMap((campaignId) =>
    ['2026-11-20', '2026-11-21', '2026-11-22'].map((day) => ({ campaignId, day, reports: 1 })),
  )
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      inTransaction(database.pool, (tx) =>
        addToCampaignDays(tx, index % 2 ? changes : changes.toReversed()),
      ),
    ),
  )
  expect((await days()).map(([, , reports]) => reports)).toEqual(changes.map(() => 40))
})
