import { expect, test } from 'vitest'
import { deleteExpiredRows } from '../../src/db/expired-rows.ts'
import {
  listSuppressed,
  removeSuppression,
  suppress,
  type Suppression,
} from '../../src/db/suppressions.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'

const database = await closeAfterTests(freshDatabase())

const noon = new Date('2026-11-22T12:00:00Z')
const inAWeek = new Date('2026-11-29T12:00:00Z')

async function keep(change: Partial<Suppression> & { address: string }): Promise<void> {
  const usual = { reason: 'hard-bounce', status: '5.1.1', detail: 'It bounced.' } as const
  await suppress(database.pool, { ...usual, since: noon, until: null, ...change })
}

async function reasonAt(address: string, now: Date): Promise<string | undefined> {
  const found = await listSuppressed(database.pool, [address], now)
  return found.get(address)?.reason
}

test('a suppression applies in any case until it ends', async () => {
  await keep({ address: 'Desk@Example.org', until: inAWeek })
  expect(await reasonAt('desk@example.org', noon)).toBe('hard-bounce')
  expect(await reasonAt('desk@example.org', inAWeek)).toBeUndefined()
  expect(await reasonAt('other@example.org', noon)).toBeUndefined()
})

test('a stop is not weakened by a later bounce', async () => {
  await keep({ address: 'stop@example.org', reason: 'stop' })
  await keep({ address: 'stop@example.org', until: inAWeek })
  expect(await reasonAt('stop@example.org', inAWeek)).toBe('stop')
})

test('an expired suppression is replaced by any other', async () => {
  await keep({ address: 'was@example.org', reason: 'complaint', until: noon })
  await keep({ address: 'was@example.org', reason: 'soft-bounces', until: inAWeek })
  expect(await reasonAt('was@example.org', noon)).toBe('soft-bounces')
})

test('a suppression can be removed, and is deleted long after it ended', async () => {
  await keep({ address: 'lifted@example.org' })
  expect(await removeSuppression(database.pool, 'Lifted@example.org')).toMatchObject({
    address: 'lifted@example.org',
  })
  await keep({ address: 'old@example.org', until: noon })
  await keep({ address: 'forever@example.org' })
  await deleteExpiredRows(database.pool, { suppressions: inAWeek })
  expect(await removeSuppression(database.pool, 'old@example.org')).toBeUndefined()
  expect(await reasonAt('forever@example.org', inAWeek)).toBe('hard-bounce')
})
