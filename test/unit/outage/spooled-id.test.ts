import { expect, test } from 'vitest'
import { isSpooledId, spooledId } from '../../../src/outage/spooled-id.ts'
import { ringOf } from '../../support/key-ring.ts'
import { shardOf, uuidTime, uuidv7 } from '../../../src/world.ts'

const reporter = '01999999-0000-7000-8000-000000000001'
const other = '01999999-0000-7000-8000-000000000002'
const [secret, otherSecret] = [
  ringOf('a secret of this test, long enough'),
  ringOf('another secret, long enough too'),
]

test('an id of a spool is known to be one, for its reporter and with its secret only', () => {
  const id = uuidv7(new Date())
  const spooled = spooledId(id, reporter, secret)
  expect(isSpooledId(spooled, reporter, secret)).toBe(true)
  expect(isSpooledId(spooled.toUpperCase(), reporter, secret)).toBe(true)
  expect(isSpooledId(spooled, other, secret)).toBe(false)
  expect(isSpooledId(spooled, reporter, otherSecret)).toBe(false)
  expect(isSpooledId(id, reporter, secret)).toBe(false)
})

test('it keeps the time, the version and the shard of the id', () => {
  const now = new Date('2026-11-20T10:00:00.123Z')
  const id = uuidv7(now)
  const spooled = spooledId(id, reporter, secret)
  expect(uuidTime(spooled)).toEqual(now)
  expect(shardOf(spooled)).toBe(shardOf(id))
  expect(spooled).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
