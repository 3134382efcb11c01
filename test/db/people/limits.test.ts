import { expect, test } from 'vitest'
import { createPool, type Pool } from '../../../src/db/pool.ts'
import { listRateLimits, removeIdleCounts } from '../../../src/db/limits.ts'
import { usualLimit } from '../../../src/people/limit-actions.ts'
import { createLimits, listBusiest } from '../../../src/people/limits.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { changeLimit } from '../../support/limits.ts'
import { freshDatabase } from '../../support/database.ts'
import { ringOf } from '../../support/key-ring.ts'

const secret = ringOf('a secret of the tests, long enough')
const reporterId = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`

const database = await closeAfterTests(freshDatabase())

function open(pool: Pool = database.pool, notBefore?: () => Date) {
  return createLimits({ pool, config: { secret } }, notBefore)
}

test('the usual limits are those of a new installation', async () => {
  for (const { name, windowMs, attemptsMax, behavior } of await listRateLimits(database.pool)) {
    expect([name, usualLimit(name)]).toEqual([name, { windowMs, attemptsMax, behavior }])
  }
  expect(usualLimit('other')).toBeUndefined()
  expect(usualLimit('toString')).toBeUndefined()
})

test('the busiest key of a limit has the most attempts in the present window', async () => {
  const all = await listRateLimits(database.pool)
  const now = Date.now() + 3_600_000
  const knock = async (n: number, attempts: number, agoMs: number) => {
    const limits = open(database.pool, () => new Date(now - agoMs))
    await limits.admit('enroll', { address: `198.51.${n}.7` }, attempts)
    await limits.admit('lookup', { address: `198.51.${n}.7` }, attempts)
  }
  await knock(1, 50, 90_000)
  await knock(2, 9, 30_000)
  await knock(2, 3, 0)
  const busiest = await listBusiest(database.pool, all, new Date(now))
  expect(busiest.get('lookup-minute')).toBe(12)
  expect(busiest.get('enroll-network')).toBe(50)
  expect(busiest.get('webhook-minute')).toBe(0)
})

test('of sixteen concurrent attempts as many are accepted as the limit allows', async () => {
  await changeLimit(database.pool, 'webhook-minute', { attempts: 100 })
  const pools = Array.from({ length: 16 }, () =>
    createPool(database.url, { connectionsMax: 1, name: 'limits', onLost: () => undefined }),
  )
  const all = pools.flatMap((pool) => {
    const limits = open(pool)
    return Array.from({ length: 20 }, () =>
      limits.admit('webhook', { reporterId: reporterId(1) }).then(({ is }) => is),
    )
  })
  const answers = await Promise.all(all)
  expect(answers.filter((is) => is === 'admitted')).toHaveLength(100)
  await Promise.all(pools.map((pool) => pool.end()))
})

test('attempts while limited keep counting: a client that keeps trying stays blocked', async () => {
  let now = Date.now() + 60_000
  const limits = open(database.pool, () => new Date(now))
  const knock = () => limits.admit('webhook', { reporterId: reporterId(2) }, 50)
  expect([(await knock()).is, (await knock()).is, (await knock()).is]).toEqual([
    'admitted',
    'admitted',
    'refused',
  ])
  now += 50_000
  expect(await knock()).toMatchObject({ is: 'refused' })
  now += 20_000
  // The first three attempts have expired; the one of 20 seconds ago still counts.
  expect(await knock()).toMatchObject({ is: 'admitted' })
  expect(await knock()).toMatchObject({ is: 'refused', waitSeconds: expect.any(Number) as number })
})

test('the strictest of several limits decides, and all of them are reported', async () => {
  await changeLimit(database.pool, 'read-minute', { attempts: 3 })
  const limits = open()
  const actor = { reporterId: reporterId(3), address: '192.0.2.7' }
  for (let n = 0; n < 3; n++) expect((await limits.admit('read', actor)).is).toBe('admitted')
  const admission = await limits.admit('read', actor)
  expect(admission.is).toBe('refused')
  expect(admission.limits.map(({ name, remaining }) => [name, remaining])).toEqual([
    ['read-address-minute', 2_996],
    ['read-minute', 0],
  ])
})

test('a limit does not apply to a request without its key', async () => {
  const { limits } = await open().admit('read', { address: '192.0.2.8' })
  expect(limits.map(({ name }) => name)).toEqual(['read-address-minute'])
  expect(await open().admit('read', {})).toEqual({ is: 'admitted', limits: [] })
})

test('a refused machine blocks no one else, and fills no table with names', async () => {
  await changeLimit(database.pool, 'sign-in-address', { attempts: 5 })
  await changeLimit(database.pool, 'sign-in-name', { attempts: 10 })
  await changeLimit(database.pool, 'sign-in-network', { attempts: 10 })
  const limits = open()
  const knock = (address: string, name: string) => limits.admit('sign-in', { address, name })
  const guesses = Array.from({ length: 50 }, () => knock('192.0.2.20', 'ann@reporters.example'))
  const answers = await Promise.all(guesses)
  expect(answers.filter(({ is }) => is === 'admitted')).toHaveLength(5)
  expect((await knock('192.0.2.21', 'ann@reporters.example')).is).toBe('admitted')
  const keys = async () =>
    (await database.pool.query<{ n: number }>('select count(*) as n from rate_counts')).rows[0]?.n
  const before = await keys()
  for (let n = 0; n < 10; n++) await knock('192.0.2.20', `name${n}@reporters.example`)
  expect(await keys()).toBe(before)
})

test('a name is accepted as often as its limit allows, from any number of addresses', async () => {
  await changeLimit(database.pool, 'sign-in-name', { attempts: 10 })
  const limits = open()
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      limits.admit('sign-in', { address: `10.${n}.0.1`, name: 'bob@reporters.example' }),
    ),
  )
  expect(answers.filter(({ is }) => is === 'admitted')).toHaveLength(10)
})

test('a change takes effect in running processes', async () => {
  const limits = open()
  const actor = { name: 'ann@reporters.example', address: '192.0.2.9' }
  expect((await limits.admit('confirm', actor)).limits).toHaveLength(1)
  await changeLimit(database.pool, 'confirm-address', { behavior: 'off' })
  await expect.poll(async () => (await limits.admit('confirm', actor)).limits.length).toBe(0)
})

test('with another window, counting starts again', async () => {
  const actor = { reporterId: reporterId(4) }
  await changeLimit(database.pool, 'webhook-minute', { attempts: 1 })
  expect((await open().admit('webhook', actor)).is).toBe('admitted')
  expect((await open().admit('webhook', actor)).is).toBe('refused')
  await changeLimit(database.pool, 'webhook-minute', { seconds: 30 })
  expect((await open().admit('webhook', actor)).is).toBe('admitted')
})

test('a shadow limit is exceeded silently', async () => {
  await changeLimit(database.pool, 'report-minute', { attempts: 1, behavior: 'shadow' })
  const limits = open()
  const actor = { reporterId: reporterId(5) }
  const answers = [await limits.admit('report', actor), await limits.admit('report', actor)]
  expect(answers.map(({ is }) => is)).toEqual(['admitted', 'shadowed'])
  expect(answers.map(({ limits: told }) => told.map(({ name }) => name))).toEqual([
    ['report-day'],
    ['report-day'],
  ])
})

test.for<[string, Parameters<typeof changeLimit>[2]]>([
  ['a window that 60 does not divide', { seconds: 1.001 }],
  ['a window of more than a day', { seconds: 86_460 }],
  ['no attempts at all', { attempts: 0 }],
  ['putting a reading aside', { behavior: 'shadow' }],
])('%s is refused', async ([, change]) => {
  expect(await changeLimit(database.pool, 'read-minute', change)).toHaveLength(1)
})

test('an unknown limit cannot be changed', async () => {
  expect(await changeLimit(database.pool, 'none', { attempts: 5 })).toHaveLength(1)
})

test('the default limits allow a hundred reports in a minute', async () => {
  const fresh = await freshDatabase()
  const limits = await listRateLimits(fresh.pool)
  const reports = limits.filter(({ attempt }) => attempt === 'report')
  expect(Math.min(...reports.map(({ attemptsMax }) => attemptsMax))).toBeGreaterThan(1_000)
  await fresh.close()
})

test('keys without counts are deleted, others are not', async () => {
  const keys = async () =>
    (await database.pool.query<{ n: number }>('select count(*) as n from rate_counts')).rows[0]?.n
  await open().admit('lookup', { address: '192.0.2.10' })
  const forget = (notBefore?: Date) =>
    removeIdleCounts(
      database.pool,
      { after: reporterId(0).replace(/[78]/g, '0'), limit: 1_000 },
      notBefore,
    )
  const before = await keys()
  await forget()
  expect(await keys()).toBe(before)
  await forget(new Date(Date.now() + 3 * 86_400_000))
  expect(await keys()).toBe(0)
})

test('no request passes while the database cannot count', async () => {
  const away = createPool('postgres://nobody@127.0.0.1:1/none', {
    connectionsMax: 1,
    name: 'away',
    onLost: () => undefined,
  })
  await expect(open(away).admit('sign-in', { name: 'ann' })).rejects.toThrow()
  await away.end()
})
