import { expect, test } from 'vitest'
import { operations } from '../../../src/cli/queue.ts'
import { queueNames } from '../../../src/processes/handlers.ts'
import { parseQueues } from '../../../src/processes/work.ts'
import { runCommand } from '../../support/command.ts'

test.for([
  ['no verb', [], '"queue retry", "queue demote" or "queue purge"'],
  ['an unknown verb', ['drain'], 'Use "queue list"'],
  ['everything at once', ['purge'], 'QUEUE: Name one of the queues'],
  ['an unknown queue', ['purge', 'analyse-report'], 'Name one of the queues analyze-report'],
  ['dead letters, which no worker takes', ['demote', 'dead-letter'], 'Name one of the queues'],
  ['the name of a method', ['retry', 'constructor'], 'Name one of the queues'],
  ['two queues', ['retry', 'analyze-report', 'forward-report'], 'Unexpected argument'],
  ['an option', ['list', '--all'], /--all/],
] as const)('%s is refused', async ([, args, problem]) => {
  await expect(runCommand(operations, args, {})).rejects.toThrow(problem)
})

test('work processes all queues, or the named ones', () => {
  expect(parseQueues([])).toEqual(queueNames)
  expect(parseQueues(['--queues', 'analyze-report, forward-report'])).toEqual([
    'analyze-report',
    'forward-report',
  ])
})

test('work names each unknown queue', () => {
  expect(() => parseQueues(['--queues', 'a,analyze-report,b'])).toThrow(
    /Unknown queue "a".*\nUnknown queue "b"/,
  )
  expect(() => parseQueues(['--queues', ''])).toThrow('Unknown queue ""')
})
