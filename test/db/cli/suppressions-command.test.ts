import { expect, test } from 'vitest'
import { operations } from '../../../src/cli/suppressions.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { runCommand } from '../../support/command.ts'
import { runProgram } from '../../support/process.ts'
import { freshDatabase } from '../../support/database.ts'

const database = await closeAfterTests(freshDatabase())

const now = new Date()
const dayAfter = (days: number) =>
  new Date(now.getTime() + days * 86_400_000).toISOString().slice(0, 10)

async function run(...args: string[]) {
  return runCommand(operations, args, { pool: database.pool, clock: () => now })
}

test('an address is suppressed for a time, listed, and removed, with the audit log', async () => {
  await run('add', 'Bob@Desk.example', '--why', 'He telephoned.', '--days', '30')
  await run('add', 'abuse@other.example', '--why', 'A lawyer wrote.')
  expect((await run('list')).stdout.split('\n')).toEqual([
    `abuse@other.example  operator  since ${dayAfter(0)}, permanent  A lawyer wrote.`,
    `bob@desk.example  operator  since ${dayAfter(0)}, until ${dayAfter(30)}  He telephoned.`,
    '',
  ])
  expect((await run('list', 'DESK')).stdout).toMatch(/^bob@desk\.example/)
  expect(await run('remove', 'bob@desk.example')).toMatchObject({ code: 0 })
  expect(await run('remove', 'bob@desk.example')).toMatchObject({ code: 1 })
  const { rows } = await database.pool.query(
    'select action, reporter_id from audit_log order by action',
  )
  expect(rows).toEqual([
    { action: 'suppress', reporter_id: null },
    { action: 'suppress', reporter_id: null },
    { action: 'unsuppress', reporter_id: null },
  ])
})

test.for([
  [['drop'], /Use "suppressions list/],
  [['add', 'nobody', '--why', 'x'], /ADDRESS: Enter a valid email address/],
  [['add', 'a@b.example'], /--why: Please give a reason/],
  [
    ['add', 'a@b.example', '--why', 'x', '--days', '0'],
    /--days: Enter a whole number from 1 to 3,650/,
  ],
  [['remove', 'a@b.example', 'c@d.example'], /Unexpected argument/],
] as const)('%s is a usage error', async ([args, message]) => {
  await expect(run(...args)).rejects.toThrow(message)
})

test('the command runs', async () => {
  const env = { ...database.env, LOG_LEVEL: 'warn' }
  const ran = await runProgram(['suppressions', 'remove', 'no@body.example'], env)
  expect(ran).toMatchObject({ code: 1, stdout: 'The address is not suppressed.\n', stderr: '' })
})
