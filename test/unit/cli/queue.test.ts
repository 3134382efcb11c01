import { expect, test } from 'vitest'
import { parseQueue } from '../../../src/cli/outbox.ts'
import { queueNames } from '../../../src/processes/queues.ts'
import { parseQueues } from '../../../src/processes/work.ts'

test.for([
  [['list'], { action: 'list' }],
  [['retry'], { action: 'retry', source: undefined }],
  [['retry', 'forward-report'], { action: 'retry', source: 'forward-report' }],
  [['purge', 'analyze-report'], { action: 'purge', queue: 'analyze-report' }],
  [['purge', 'dead-letter'], { action: 'purge', queue: 'dead-letter' }],
] as const)('%j is understood', ([args, request]) => {
  expect(parseQueue(args)).toEqual(request)
})

test.for([
  ['no verb', [], 'Use "queue list"'],
  ['an unknown verb', ['drain'], 'Use "queue list"'],
  ['everything at once', ['purge'], 'Use "queue list"'],
  ['an unknown queue', ['purge', 'analyse-report'], 'Name one of the queues analyze-report'],
  ['the name of a method', ['retry', 'constructor'], 'Name one of the queues'],
  ['two queues', ['retry', 'analyze-report', 'forward-report'], 'Name one of the queues'],
  ['an option', ['list', '--all'], /--all/],
] as const)('%s is refused', ([, args, problem]) => {
  expect(() => parseQueue(args)).toThrow(problem)
})

test('work takes every queue, or those named', () => {
  expect(parseQueues([])).toEqual(queueNames)
  expect(parseQueues(['--queues', 'analyze-report, forward-report'])).toEqual([
    'analyze-report',
    'forward-report',
  ])
})

test('work names each queue that it does not know', () => {
  expect(() => parseQueues(['--queues', 'a,analyze-report,b'])).toThrow(
    /Unknown queue "a".*\nUnknown queue "b"/,
  )
  expect(() => parseQueues(['--queues', ''])).toThrow('Unknown queue ""')
})
