import { expect, test } from 'vitest'
import { putShadowBan } from '../../src/db/shadow-bans.ts'
import { insertToken } from '../../src/db/sessions.ts'
import { createToken } from '../../src/people/credentials.ts'
import { sampleMessage, startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { changeLimit } from '../support/limits.ts'

const USERS = 20_000
const HOSTILE = ['hostile-1', 'hostile-2', 'hostile-3']
const AT_ONCE = 40

const site = await closeAfterTests(startWebSite())
const { pool } = site.app
// A provider of this size asks its operator for more than a report each 10 ms.
await changeLimit(pool, 'provider-minute', { attempts: 1_000_000 })
const provider = await site.addPerson('postmaster@provider.example')
const made = createToken()
const about = { reporterId: provider.id, name: 'x', createdAt: new Date() }
await insertToken(pool, { ...made, ...about, scopes: ['report', 'on-behalf'] })

async function report(user: string, mark: string): Promise<number> {
  const response = await fetch(`${site.url}/api/v1/reports`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${made.token}`,
      'content-type': 'message/rfc822',
      'on-behalf-of': user,
    },
    body: sampleMessage(mark),
  })
  await response.arrayBuffer()
  return response.status
}

/** Runs some work on all items, several at once. Returns how often each answer came. */
async function tallyAll<T>(items: readonly T[], run: (item: T) => Promise<number>) {
  const answers = new Map<number, number>()
  const left = items.values()
  const worker = async () => {
    for (const item of left) {
      const answer = await run(item)
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return Object.fromEntries(answers)
}

async function held(): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::integer as count from reports where shadow = 'held'`,
  )
  return rows[0]?.count ?? -1
}

test('of 20,000 users behind one token, limits and bans touch the three hostile ones', async () => {
  const users = Array.from({ length: USERS }, (_, n) => `user-${n}`)
  const start = performance.now()
  // The hostile users flood meanwhile: the limit is 300 an hour for each.
  const floods = HOSTILE.flatMap((user) =>
    Array.from({ length: 500 }, (_, n) => [user, n] as const),
  )
  const [peaceful, hostile] = await Promise.all([
    tallyAll(users, (user) => report(user, `of ${user}`)),
    tallyAll(floods, ([user, n]) => report(user, `of ${user}, ${n}`)),
  ])
  const seconds = (performance.now() - start) / 1_000
  console.log(`${((USERS + floods.length) / seconds).toFixed(0)} requests a second`)
  expect(peaceful).toEqual({ 202: USERS })
  expect(hostile).toEqual({ 202: 900, 429: 600 })

  const { rows } = await pool.query<{ id: string }>(
    `select reporter_id as id from reports group by reporter_id having count(*) > 1`,
  )
  expect(rows).toHaveLength(HOSTILE.length)
  for (const { id: reporterId } of rows) {
    await putShadowBan(pool, { reporterId, reason: 'x', imposedAt: new Date(), imposedBy: null })
  }
  // As after an hour: otherwise the reports of the banned users would be refused.
  await pool.query(`delete from rate_counts`)
  const again = await tallyAll(users.slice(0, 500), (user) => report(user, `again of ${user}`))
  expect(again).toEqual({ 202: 500 })
  expect(await held()).toBe(0)
  expect(await tallyAll(HOSTILE, (user) => report(user, `held of ${user}`))).toEqual({ 202: 3 })
  expect(await held()).toBe(HOSTILE.length)
})
