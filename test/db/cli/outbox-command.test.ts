import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseOutbox, runOutbox, runQueue } from '../../../src/cli/outbox.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import { queueLetter } from '../../../src/letters/send-letter.ts'
import { createParserPool, type ParserPool } from '../../../src/parsing/parser-pool.ts'
import { openTestApp, type TestApp } from '../../support/app.ts'

let app: TestApp
let parser: ParserPool

beforeAll(async () => {
  app = await openTestApp()
  parser = createParserPool(1)
  const payloads = await app.reports('one', 'two')
  await runAnalyzeReport(payloads, { ...app, parser })
  const keys = payloads.map(({ reportId }) => ({ reportId, number: 1 }))
  await runForwardReport(keys, { ...app, parser, mailer: undefined })
})
afterAll(async () => {
  await parser.close()
  await app.close()
})

const states = async () =>
  (await app.rows('select state from feedback_reports')).map((row) => row['state'])
const noted = () => app.rows('select reporter_id, action, detail from audit_log order by id')

test('what is held is listed, a line of JSON each', async () => {
  const { told } = await runOutbox({ action: 'list', state: 'held' }, app)
  const lines = told
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatchObject({ state: 'held', address: 'abuse@access-two.example' })
  expect(await runOutbox({ action: 'list', state: 'sent' }, app)).toEqual({
    told: '',
    isDone: true,
  })
})

test('an address that nobody tells anything has nothing to release', async () => {
  const request = { action: 'release', what: { to: 'nobody@example.org' } } as const
  expect(await runOutbox(request, app)).toMatchObject({ isDone: false })
  expect(await states()).toEqual(['held', 'held'])
})

test('what is held for a desk leaves when somebody says so, once, and that is noted', async () => {
  const request = { action: 'release', what: { to: 'abuse@access-two.example' } } as const
  expect(await runOutbox(request, app)).toEqual({
    told: '2 held feedback reports were released.\n',
    isDone: true,
  })
  expect(await states()).toEqual(['queued', 'queued'])
  expect(await runOutbox({ action: 'release', what: 'feedback' }, app)).toMatchObject({
    told: '0 held feedback reports were released.\n',
  })
  expect(await noted()).toEqual([
    { reporter_id: null, action: 'release', detail: '2 held feedback reports were released.' },
  ])
})

test('what was refused is sent again, of both kinds, and that is noted', async () => {
  await app.pool.query('delete from audit_log')
  await app.pool.query(`update feedback_reports set state = 'refused', reply = '554 no'`)
  const letterId = await inTransaction(app.pool, (tx) =>
    queueLetter(
      tx,
      {
        ...{ kind: 'account', to: 'person@there.example', subject: 'Sign up', text: 'Hello.' },
        ...{ language: 'en', autoSubmitted: 'generated' },
      },
      app,
      app.clock(),
    ),
  )
  await app.pool.query(`update letters set state = 'refused' where id = $1`, [letterId])
  const resend = async (...args: string[]) => runOutbox(parseOutbox(['resend', ...args]), app)
  expect(await resend()).toMatchObject({
    told: '2 refused feedback reports were queued to be sent again.\n',
  })
  expect(await states()).toEqual(['queued', 'queued'])
  expect(await resend('--letters')).toMatchObject({
    told: '1 refused letters were queued to be sent again.\n',
  })
  expect(await app.rows('select state from letters')).toEqual([{ state: 'queued' }])
  expect(await noted()).toMatchObject([{ action: 'resend' }, { action: 'resend' }])
})

test('dead letters that are put back to work, and jobs that are dropped, are noted', async () => {
  await app.pool.query('delete from audit_log')
  expect(await runQueue({ action: 'retry', source: undefined }, app)).toContain('0 dead letters')
  expect(await noted()).toEqual([])
  await runQueue({ action: 'purge', queue: 'forward-report' }, app)
  expect(await noted()).toMatchObject([{ action: 'purge' }])
})
