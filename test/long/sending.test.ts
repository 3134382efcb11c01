import { expect, test } from 'vitest'
import { tortureSending } from '../support/torture/sending/torture-sending.ts'

test('each feedback report arrives or is refused, whatever fails while sending', async () => {
  const seed = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000)
  console.info(`sending: KILL_SEED=${seed}`)
  const done = await tortureSending({ kills: 2, seed, reports: 60 })
  expect(done.faults).toEqual([])
  expect(done.sent + done.refused).toBe(60)
})
