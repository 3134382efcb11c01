import { beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import {
  type Action,
  defineAction,
  type Outcome,
  runAction,
  wholeNumber,
} from '../../src/actions.ts'
import { refusal } from '../../src/phrase.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'

const database = await closeAfterTests(freshDatabase())
await database.pool.query('create table done (step int)')

beforeEach(() => database.pool.query('truncate audit_log, done'))

const now = new Date()
const administrator = '0190c0de-0000-7000-8000-000000000001'
const by = { id: administrator, role: 'operator' as const }
const run = (action: Action<z.ZodObject, never>, given: Record<string, unknown> = {}) =>
  runAction(
    action,
    given,
    { pool: database.pool, clock: () => now, config: { needsFourEyes: false } },
    by,
  )
const steps = async () => {
  const { rows } = await database.pool.query<{ step: number }>('select step from done order by 1')
  return rows.map(({ step }) => step)
}
const log = async () => {
  const text = 'select action, reporter_id, at, detail from audit_log order by detail'
  return (await database.pool.query<Record<string, unknown>>(text)).rows
}

const countDown = defineAction({
  name: 'limits save',
  summary: 'insert a row for each step',
  audit: 'set limit',
  role: 'operator',
  input: z.object({ steps: wholeNumber(1, 3), fails: z.boolean().optional() }),
  async run(tx, { steps: most, fails }, { count }): Promise<Outcome<'saved' | 'same'>> {
    await tx.query('insert into done values ($1)', [count])
    if (fails) throw new Error('broken')
    return { done: 'saved', count: 1, audit: `step ${count}`, isPartial: count + 1 < most }
  },
})

test('an action has an audit entry with the time and the administrator', async () => {
  expect(await run(countDown, { steps: '1' })).toMatchObject({ done: 'saved', count: 1 })
  expect(await log()).toEqual([
    { action: 'set limit', reporter_id: administrator, at: now, detail: 'step 0' },
  ])
})

test('an action in steps adds them up, each with its audit entry', async () => {
  expect(await run(countDown, { steps: '3' })).toMatchObject({ count: 3 })
  expect(await steps()).toEqual([0, 1, 2])
  expect((await log()).map(({ detail }) => detail)).toEqual(['step 0', 'step 1', 'step 2'])
})

test('input that is not valid is refused before the action runs', async () => {
  const message = refusal('refused.number', { min: 1, max: 3 })
  expect(await run(countDown, { steps: '4' })).toEqual({ problems: [{ field: 'steps', message }] })
  expect(await run(countDown)).toEqual({ problems: [{ field: 'steps', message }] })
  expect([await steps(), await log()]).toEqual([[], []])
})

test('an action that fails leaves neither a change nor an audit entry', async () => {
  await expect(run(countDown, { steps: '1', fails: true })).rejects.toThrow('broken')
  expect([await steps(), await log()]).toEqual([[], []])
})

test('an action whose audit entry cannot be stored is undone', async () => {
  const unstorable: typeof countDown = {
    ...countDown,
    async run(tx) {
      await tx.query('insert into done values (9)')
      return { done: 'saved', audit: 'not\0storable' }
    },
  }
  await expect(run(unstorable, { steps: '1' })).rejects.toThrow()
  expect([await steps(), await log()]).toEqual([[], []])
})

test('an action that is refused is undone', async () => {
  const problems = [{ message: 'No.' }]
  const refused: typeof countDown = {
    ...countDown,
    async run(tx) {
      await tx.query('insert into done values (9)')
      return { problems }
    },
  }
  expect(await run(refused, { steps: '1' })).toEqual({ problems })
  expect([await steps(), await log()]).toEqual([[], []])
})

test('an action that changes nothing has no audit entry', async () => {
  const idle: typeof countDown = { ...countDown, run: async () => ({ unchanged: 'same' }) }
  expect(await run(idle, { steps: '1' })).toEqual({ unchanged: 'same' })
  expect(await log()).toEqual([])
})

test('entries under other names, and what follows the transaction', async () => {
  let seen: unknown
  const several = defineAction({
    ...countDown,
    run: async () => ({
      done: 'saved',
      audit: ['a', { action: 'suppress', detail: 'b' }],
      afterwards: async () => (seen = await log()),
    }),
  })
  await run(several, { steps: '1' })
  expect(seen).toMatchObject([{ action: 'set limit' }, { action: 'suppress' }])
})
