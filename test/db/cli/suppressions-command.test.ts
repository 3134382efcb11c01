import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseSuppressions, runSuppressions } from '../../../src/cli/suppressions.ts'
import { runProgram } from '../../support/process.ts'
import { freshDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

const now = new Date('2026-11-22T06:00:00Z')

async function told(...args: string[]) {
  return runSuppressions(parseSuppressions(args), { pool: database.pool, clock: () => now })
}

test('an address is added for a while, listed, and removed, with the audit log', async () => {
  await told('add', 'Bob@Desk.example', '--why', 'He telephoned.', '--days', '30')
  await told('add', 'abuse@other.example', '--why', 'A lawyer wrote.')
  expect((await told('list')).told.split('\n')).toEqual([
    'abuse@other.example  operator  since 2026-11-22, permanent  A lawyer wrote.',
    'bob@desk.example  operator  since 2026-11-22, until 2026-12-22  He telephoned.',
    '',
  ])
  expect((await told('list', 'DESK')).told).toMatch(/^bob@desk\.example/)
  expect(await told('remove', 'bob@desk.example')).toMatchObject({ isDone: true })
  expect(await told('remove', 'bob@desk.example')).toMatchObject({ isDone: false })
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
  [['add', 'nobody', '--why', 'x'], /not a valid email address/],
  [['add', 'a@b.example'], /reason with --why/],
  [['add', 'a@b.example', '--why', 'x', '--days', '0'], /--days must be/],
  [['remove', 'a@b.example', 'c@d.example'], /Use "suppressions list/],
] as const)('%s is misuse', ([args, message]) => {
  expect(() => parseSuppressions(args)).toThrow(message)
})

test('the command runs', async () => {
  const env = { DATABASE_URL: database.url, LOG_LEVEL: 'warn' }
  const ran = await runProgram(['suppressions', 'remove', 'no@body.example'], env)
  expect(ran).toMatchObject({ code: 1, stdout: 'no@body.example is not suppressed.\n', stderr: '' })
})
