import { expect, test } from 'vitest'
import { parseLists } from '../../../src/cli/lists.ts'
import { UsageError } from '../../../src/errors.ts'

test('the lists are published, and a name may be written in any usual form', () => {
  expect(parseLists(['publish'])).toEqual({ action: 'publish' })
  expect(parseLists(['show', 'hxxp://192.0.2[.]7/'])).toMatchObject({
    action: 'show',
    question: { name: '192.0.2.7' },
  })
})

test.for([
  [[]],
  [['publish', 'all']],
  [['show']],
  [['show', 'nonsense']],
  [['drop', 'bad.example']],
])('%j is a usage error', ([args]) => {
  expect(() => parseLists(args ?? [])).toThrow(UsageError)
})
