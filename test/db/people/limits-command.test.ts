import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseLimits, runLimits } from '../../../src/cli/limits.ts'
import { freshDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

const now = new Date()

async function told(...args: string[]) {
  return runLimits(parseLimits(args), { pool: database.pool, clock: () => now })
}

test('limits are listed, and changed with the audit log', async () => {
  expect((await told('list')).told).toContain(
    'lookup-minute  lookup by address: 60 in 60 s, refuse',
  )
  const set = await told('set', 'lookup-minute', '--attempts', '90', '--behavior', 'off')
  expect(set).toEqual({
    told: 'lookup-minute  lookup by address: 90 in 60 s, off\n',
    isDone: true,
  })
  const { rows } = await database.pool.query('select action, reporter_id, detail from audit_log')
  expect(rows).toEqual([
    { action: 'set limit', reporter_id: null, detail: 'lookup-minute: 90 in 60 s, off' },
  ])
})

test('what a limit cannot be is said, and nothing is changed', async () => {
  expect(await told('set', 'lookup-minute', '--seconds', '0.5')).toMatchObject({
    told: expect.stringMatching(/^The window must be/) as string,
    isDone: false,
  })
  expect(await told('set', 'nothing', '--attempts', '5')).toMatchObject({ isDone: false })
})

test.for([
  [['drop'], /Use "limits list"/],
  [['set', 'lookup-minute'], /Use "limits list"/],
  [['list', '--attempts', '5'], /Use "limits list"/],
  [['set', 'lookup-minute', '--attempts', 'many'], /--attempts must be a number/],
  [['set', 'lookup-minute', '--behavior', 'ban'], /--behavior must be one of/],
] as const)('%j is refused', ([args, words]) => {
  expect(() => parseLimits([...args])).toThrow(words)
})
