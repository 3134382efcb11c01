import { expect, test } from 'vitest'
import { findReport } from '../../../../src/db/reports.ts'
import { runEraseAccount } from '../../../../src/reports/erase-account.ts'
import { uuidv7 } from '../../../../src/world.ts'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { type Browser, signedInBrowser } from '../browser.ts'
import { startWebSite, type Person } from '../web-site.ts'

const site = await closeAfterTests(startWebSite())

const erase = (browser: Browser, { password }: Person, how: string) =>
  browser.post('/account/erase', { how, now: password })

async function erasuresOf({ id }: Person): Promise<string[]> {
  const { rows } = await site.app.pool.query<{ id: string }>(
    'select id from erasures where reporter_id = $1',
    [id],
  )
  return rows.map((row) => row.id)
}

/** Runs the job as if `minutes` minutes had passed. */
function workIn(minutes: number, erasureId: string) {
  const now = new Date(Date.now() + minutes * 60_000)
  return runEraseAccount({ erasureId }, { ...site.app, clock: () => now })
}

test('two simultaneous clicks start one erasure', async () => {
  const fay = await site.addPerson('twice@mailhouse.example')
  const [one, other] = [await signedInBrowser(site.url, fay), await signedInBrowser(site.url, fay)]
  const answers = await Promise.all([erase(one, fay, 'keep'), erase(other, fay, 'remove')])
  expect(answers.map(({ status }) => status)).toEqual([303, 303])
  const erasures = await erasuresOf(fay)
  expect(erasures).toHaveLength(1)
  expect(await workIn(10, erasures[0] ?? '')).toBe('done')
  expect(await erasuresOf(fay)).toEqual([])
})

test('a report whose sending takes three minutes is still erased with its reporter', async () => {
  const gil = await site.addPerson('slow@mailhouse.example')
  const browser = await signedInBrowser(site.url, gil)
  await erase(browser, gil, 'keep')
  const [erasureId = ''] = await erasuresOf(gil)
  expect(await workIn(3, erasureId)).toHaveProperty('postponedTo')
  const [id, at] = [uuidv7(new Date()), new Date()]
  await site.app.pool.query(
    `insert into reports (id, shard, reporter_id, channel, kind, state, received_at, message_bytes,
       received_via) values ($1, shard_of($1), $2, 'api', 'spam', 'kept', $3, 1, '{}')`,
    [id, gil.id, at],
  )
  expect(await workIn(10, erasureId)).toBe('done')
  expect((await findReport(site.app.pool, id))?.reporterId).not.toBe(gil.id)
})
