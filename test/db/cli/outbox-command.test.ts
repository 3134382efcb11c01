import { expect, test } from 'vitest'
import { operations } from '../../../src/cli/outbox.ts'
import { operations as queueOperations } from '../../../src/cli/queue.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import { queueLetter } from '../../../src/letters/send-letter.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { runCommand } from '../../support/command.ts'
import { openTestApp } from '../../support/app.ts'
import { parser } from '../../support/parser.ts'

const app = await closeAfterTests(openTestApp({ SMTP_URL: 'smtp://127.0.0.1:9' }))
const payloads = await app.reports('one', 'two')
await runAnalyzeReport(payloads, { ...app, parser })
const keys = payloads.map(({ reportId }) => ({ reportId, number: 1 }))
await runForwardReport(keys, { ...app, parser, mailer: undefined })

const states = async () =>
  (await app.rows('select state from feedback_reports')).map((row) => row['state'])
const outbox = (line: string) => runCommand(operations, line.split(' '), app)
const queue = (line: string) => runCommand(queueOperations, line.split(' '), app)
const noted = () => app.rows('select reporter_id, action, detail from audit_log order by id')

test('held mail is listed as one JSON object per line', async () => {
  const { stdout } = await outbox('list held')
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatchObject({ state: 'held', address: 'abuse@access-two.example' })
  expect(await outbox('list sent')).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('an address without held mail has nothing to release', async () => {
  expect(await outbox('release --to nobody@example.org')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'signalpost outbox: --to: No consumer has this address.\n',
  })
  expect(await states()).toEqual(['held', 'held'])
})

test('held mail for a desk is sent when released, once, and logged', async () => {
  expect(await outbox('release --to Abuse@access-two.example')).toEqual({
    code: 0,
    stdout: '2 held feedback reports were released.\n',
    stderr: '',
  })
  expect(await states()).toEqual(['queued', 'queued'])
  expect(await outbox('release')).toMatchObject({
    stdout: '0 held feedback reports were released.\n',
  })
  expect(await noted()).toEqual([
    { reporter_id: null, action: 'release', detail: '2 held feedback reports' },
  ])
})

test('refused mail of both kinds is sent again, and logged', async () => {
  await app.pool.query('truncate audit_log')
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
  expect(await outbox('resend')).toMatchObject({
    stdout: '2 refused feedback reports were queued to be sent again.\n',
  })
  expect(await states()).toEqual(['queued', 'queued'])
  expect(await outbox('resend --letters')).toMatchObject({
    stdout: '1 refused letter was queued to be sent again.\n',
  })
  expect(await app.rows('select state from letters')).toEqual([{ state: 'queued' }])
  expect(await noted()).toMatchObject([{ action: 'resend' }, { action: 'resend' }])
})

test('demoted jobs are counted and logged, and a job is demoted once', async () => {
  await app.pool.query('truncate audit_log')
  await app.pool.query('delete from pgboss.job')
  expect(await queue('demote forward-report')).toMatchObject({
    stdout: expect.stringContaining('No waiting jobs to demote') as string,
  })
  expect(await noted()).toEqual([])
  await app.boss.send('forward-report', { reportId: payloads[0]?.reportId, number: 1 })
  await app.boss.send('forward-report', { reportId: payloads[1]?.reportId, number: 1 })
  expect(await queue('demote forward-report')).toEqual({
    code: 0,
    stdout: 'New jobs are processed before 2 waiting jobs.\n',
    stderr: '',
  })
  expect((await queue('demote forward-report')).stdout).toContain('No waiting jobs to demote')
  expect(await noted()).toEqual([
    {
      ...{ reporter_id: null, action: 'demote' },
      detail: 'New jobs of forward-report are processed before 2 waiting jobs.',
    },
  ])
})

test('retried dead letters and purged jobs are logged', async () => {
  await app.pool.query('truncate audit_log')
  expect((await queue('retry')).stdout).toContain('0 dead letters')
  expect(await noted()).toEqual([])
  await queue('purge forward-report')
  expect(await noted()).toMatchObject([{ action: 'purge' }])
})
