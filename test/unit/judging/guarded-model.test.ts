import { expect, test } from 'vitest'
import { guarded } from '../../../src/judging/models.ts'
import type { Facts } from '../../../src/verdict/facts/fact.ts'

test('a model that fails on a message has no effect on it, and is logged once', () => {
  const told: unknown[] = []
  const log = { error: (fields: unknown) => void told.push(fields) }
  const model = guarded(
    {
      version: 3,
      features: ['links.count'],
      readsText: false,
      apply({ links }) {
        if (links?.['count'] === 9) throw new RangeError('Unreachable.')
        return { probability: 0.25, isSure: false, isPhishing: false }
      },
    },
    log,
  )
  const apply = (facts: Facts) => model.apply(facts, [])
  expect(apply({ links: { count: 1 } }).probability).toBe(0.25)
  expect(apply({ links: { count: 9 } })).toMatchObject({ probability: NaN, isSure: false })
  expect(apply({ links: { count: 9 } }).probability).toBeNaN()
  expect(apply({}).probability).toBe(0.25)
  expect(told).toMatchObject([{ version: 3 }])
})
