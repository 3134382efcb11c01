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
  [[], 'Say "outbox list'],
  [['list', 'gone'], 'There is no state "gone"'],
  [['list', 'held', 'sent'], 'Say "outbox list'],
  [['list', '--letters'], 'Say "outbox list'],
  [['release', 'held'], 'Say "outbox list'],
  [['release', '--letters', '--to', 'abuse@example.org'], 'Say "outbox list'],
] as const)('%j is a misuse', ([args, problem]) => {
  expect(() => parseOutbox(args)).toThrow(UsageError)
  expect(() => parseOutbox(args)).toThrow(problem)
})
