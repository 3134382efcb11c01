import { expect, test } from 'vitest'
import { parseOutbox } from '../../../src/cli/outbox.ts'
import { UsageError } from '../../../src/errors.ts'

test.for([
  [['list'], { action: 'list', state: undefined }],
  [['list', 'held'], { action: 'list', state: 'held' }],
  [['release'], { action: 'release', what: 'feedback' }],
  [['release', '--letters'], { action: 'release', what: 'letters' }],
  [
    ['release', '--to', 'Abuse@Example.org'],
    { action: 'release', what: { to: 'abuse@example.org' } },
  ],
] as const)('%j is read', ([args, request]) => {
  expect(parseOutbox(args)).toEqual(request)
})

test.for([
  [[], 'Use "outbox list'],
  [['list', 'gone'], 'Unknown state "gone"'],
  [['list', 'held', 'sent'], 'Use "outbox list'],
  [['list', '--letters'], 'Use "outbox list'],
  [['release', 'held'], 'Use "outbox list'],
  [['release', '--letters', '--to', 'abuse@example.org'], 'Use "outbox list'],
] as const)('%j is a misuse', ([args, problem]) => {
  expect(() => parseOutbox(args)).toThrow(UsageError)
  expect(() => parseOutbox(args)).toThrow(problem)
})
