import { expect, test } from 'vitest'
import { tortureComposing } from '../support/torture/sending/torture-composing.ts'
import { tortureHanging } from '../support/torture/sending/torture-hanging.ts'
import { tortureMove } from '../support/torture/torture-move.ts'
import { tortureRelay } from '../support/torture/sending/torture-relay.ts'

// Short forms of torture runs whose parts no other test uses, so that changes do not break them
// unnoticed.
const quiet = () => undefined
/** These mostly wait for a mail server. */
const waiting = test.concurrent

waiting('a mail server that refuses everything for a while loses no mail', async ({ expect }) => {
  expect(await tortureRelay(quiet, 1)).toEqual([])
})

waiting.for(['rcpt', 'kept'] as const)(
  'mail resumes within half a minute after the mail server hung: %s',
  async (way, { expect }) => {
    expect(await tortureHanging(quiet, { ways: [way], hangsMs: 32_000 })).toEqual([])
  },
)

test('messages that are hard to compose are sent, and delay no others', async () => {
  expect(await tortureComposing(quiet)).toEqual([])
})

test('an instance under load is moved to another server', async () => {
  const seed = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000)
  console.info(`move: KILL_SEED=${seed}`)
  const done = await tortureMove({ stored: 2_000, seed, isToCitus: false }, quiet)
  expect(done.faults).toEqual([])
  expect(done.acceptedMeanwhile).toBeGreaterThan(0)
})
