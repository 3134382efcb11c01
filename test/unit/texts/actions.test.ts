import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { messageOf } from '../../../src/actions.ts'
import { endSilence, forgetProcesses, noteBackup } from '../../../src/health/health-actions.ts'
import { resetBounds, setBounds, silenceCondition } from '../../../src/health/health-actions.ts'
import { retryMail } from '../../../src/feedback/release-held.ts'
import { resumeQueues } from '../../../src/queue/control-queues.ts'
import { demoteWaiting, retryDeadLetters } from '../../../src/queue/redrive.ts'
import { message } from '../../../src/texts/messages.ts'

/** The actions of pages in all languages. */
const actions = [
  ...[demoteWaiting, retryDeadLetters, resumeQueues, retryMail, forgetProcesses, noteBackup],
  ...[setBounds, resetBounds, silenceCondition, endSilence],
]

const codes = actions.flatMap(({ name, messages }) =>
  Object.keys(messages).map((code) => `done.${name.replaceAll(' ', '-')}.${code}`),
)

test.for(['fr', 'ru'] as const)('the results of actions are told in %s', (language) => {
  const file = path.join(import.meta.dirname, '../../../src/texts', language, 'actions.json')
  const catalog = JSON.parse(readFileSync(file, 'utf8')) as object
  expect(Object.keys(catalog).toSorted()).toEqual(codes.toSorted())
  for (const code of codes) expect(message(language, code, { count: 5 })?.text).not.toBe('')
})

test('English is in the declarations', () => {
  expect(message('en', 'done.health-set.set')).toBeUndefined()
  expect(messageOf(setBounds, 'set')).toBe('Bounds changed.')
})
