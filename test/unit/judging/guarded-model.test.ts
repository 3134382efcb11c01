import { expect, test } from 'vitest'
import { guarded } from '../../../src/judging/models.ts'

test('a model that fails on a message has no effect on it, and is logged once', () => {
  const told: unknown[] = []
  const log = { error: (fields: unknown) => void told.push(fields) }
  const model = guarded(
    {
      version: 3,
      features: ['links.count'],
      apply({ links }) {
        if (links?.['count'] === 9) throw new RangeError('Unreachable.')
        return 0.25
      },
      close: () => undefined,
    },
    log,
  )
  expect(model.apply({ links: { count: 1 } }, [])).toBe(0.25)
  expect(model.apply({ links: { count: 9 } }, [])).toBeNaN()
  expect(model.apply({ links: { count: 9 } }, [])).toBeNaN()
  expect(model.apply({}, [])).toBe(0.25)
  expect(told).toMatchObject([{ version: 3 }])
})
