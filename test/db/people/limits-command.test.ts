import { expect, test } from 'vitest'
import { describeAll } from '../../../src/cli/command.ts'
import { operations } from '../../../src/cli/limits.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { runCommand } from '../../support/command.ts'
import { freshDatabase } from '../../support/database.ts'

const database = await closeAfterTests(freshDatabase())

async function run(...args: string[]) {
  return runCommand(operations, args, { pool: database.pool, clock: () => new Date() })
}

test('limits are listed, and changed with the audit log', async () => {
  expect((await run('list')).stdout).toContain(
    'lookup-minute  lookup by address: 60 in 60 s, refuse\n',
  )
  const set = await run('set', 'lookup-minute', '--attempts', '90', '--behavior', 'off')
  expect(set).toEqual({ code: 0, stdout: 'lookup-minute: 90 in 60 s, off\n', stderr: '' })
  const { rows } = await database.pool.query('select action, reporter_id, detail from audit_log')
  expect(rows).toEqual([
    {
      ...{ action: 'set limit', reporter_id: null },
      detail: 'lookup-minute: 90 in 60 s, off; before: 60 in 60 s, refuse',
    },
  ])
})

test('a limit that does not exist is refused', async () => {
  expect(await run('set', 'nothing', '--attempts', '5')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'signalpost limits: NAME: Unknown limit. "limits list" shows the limits.\n',
  })
})

test.for([
  [['drop'], /Use "limits list" or "limits set"\./],
  [['set'], /NAME: Name a limit/],
  [['set', 'lookup-minute'], /Give at least one of attempts/],
  [['list', '--attempts', '5'], /Unknown option '--attempts'/],
  [['set', 'lookup-minute', 'more', '--attempts', '5'], /Unexpected argument "more"/],
  [['set', 'lookup-minute', '--attempts', 'many'], /--attempts: Enter a whole number/],
  [['set', 'lookup-minute', '--seconds', '0.5'], /--seconds: The window must be/],
  [['set', 'lookup-minute', '--behavior', 'ban'], /--behavior: Choose one of refuse/],
] as const)('%j is a usage error', async ([args, words]) => {
  await expect(run(...args)).rejects.toThrow(words)
})

test('the usage text is derived from the operations', () => {
  expect(describeAll(operations).map(({ usage }) => usage)).toEqual([
    'limits list',
    'limits set NAME [--attempts N] [--seconds N] [--behavior refuse|shadow|off]',
  ])
})
