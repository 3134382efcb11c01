import { expect, test } from 'vitest'
import { judgeLimits } from '../../support/torture/limits/judge-limits.ts'
import type { Plan } from '../../support/torture/limits/plan.ts'
import { tortureLimits } from '../../support/torture/limits/torture-limits.ts'
import { freshDatabase } from '../../support/database.ts'

const plan: Omit<Plan, 'url' | 'startsAt'> = {
  processes: 4,
  atOnce: 16,
  windowMs: 1_200,
  attemptsMax: 20,
  attackedKeys: 40,
  groups: 8,
  attackMs: 300,
  attempts: 2_500,
  steadyKeys: 8,
  steadyAttempts: 60,
}

test('no window ever exceeds the limit, whatever several processes do', async () => {
  const database = await freshDatabase()
  const done = await tortureLimits({ url: database.url, ...plan })
  expect(done.faults).toEqual([])
  expect(done.filled).toBeGreaterThan(0)
  expect(done.mostInWindow).toBe(plan.attemptsMax)
  await database.close()
})

test('the test detects a limit that is one too high, and one that is too low', () => {
  const whole = { ...plan, url: '', startsAt: 0 }
  const tried = (admitted: number) =>
    Array.from({ length: 30 }, (_, n) => ({
      key: 0,
      sentAt: n,
      toldAt: n + 1,
      isAdmitted: n < admitted,
    }))
  expect(judgeLimits(whole, tried(20)).faults).toEqual([])
  expect(judgeLimits(whole, tried(21)).faults).not.toEqual([])
  expect(judgeLimits(whole, tried(19)).faults).not.toEqual([])
})
