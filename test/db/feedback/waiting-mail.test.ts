import { beforeEach, expect, test } from 'vitest'
import { runAction } from '../../../src/actions.ts'
import { pauseQueue } from '../../../src/db/queue-controls.ts'
import { listWaitingMails } from '../../../src/feedback/list-waiting.ts'
import { forwardReport } from '../../../src/feedback/queues.ts'
import { retryMail } from '../../../src/feedback/release-held.ts'
import { sendLetter } from '../../../src/letters/queues.ts'
import { createQueues, startBoss, stopBoss } from '../../../src/queue/boss.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'

const app = await closeAfterTests(openTestApp({ SMTP_URL: 'smtp://mail.test.example' }))
const { pool } = app
const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000)
const soon = new Date(Date.now() + 3_600_000)

type Its = { state: string; to: string; pace?: string; dueAt?: Date | null; tryAt?: Date }

async function feedback({ state, to, pace = 'at-once', dueAt = null, tryAt }: Its) {
  const reportId = uuidv7(new Date())
  await pool.query(
    `insert into consumers (id, address, state, created_at, pace)
     values ($1, $2, 'enrolled', now(), $3) on conflict do nothing`,
    [reportId, to, pace],
  )
  await pool.query(
    `insert into feedback_reports
       (report_id, shard, number, consumer_id, state, address, created_at, due_at)
     select $1, shard_of($1), 1, id, $2, address, $3, $4 from consumers where address = $5`,
    [reportId, state, ago(600), dueAt, to],
  )
  if (tryAt) {
    await pool.query(
      `insert into pgboss.job (name, data, state, start_after, output)
       values ($1, $2, 'retry', $3, '{"message": "451 greylisted"}')`,
      [forwardReport.name, JSON.stringify({ reportId, number: 1 }), tryAt],
    )
  }
  return reportId
}

const stateOf = async (reportId: string) =>
  (await app.rows('select state, due_at from feedback_reports where report_id = $1', [reportId]))[0]

beforeEach(async () => {
  for (const table of ['feedback_reports', 'letters', 'queue_controls', 'consumers']) {
    await pool.query(`delete from ${table}`)
  }
  await pool.query(`delete from pgboss.job`)
  await pool.query(`update mail_relay set refused_since = null, reply = null, next_try_at = null`)
})

const lines = async (settings: { smtpUrl?: undefined } = {}) =>
  listWaitingMails({ ...app, config: { ...app.config, ...settings } })

test('each desk has its reason, and when its oldest mail is tried next', async () => {
  await feedback({ state: 'held', to: 'held@n.example' })
  await feedback({ state: 'waiting', to: 'digest@n.example', pace: 'digest', dueAt: soon })
  await feedback({ state: 'queued', to: 'slow@n.example', tryAt: soon })
  await feedback({ state: 'queued', to: 'slow@n.example' })
  await feedback({ state: 'queued', to: 'fast@n.example', tryAt: ago(1) })
  await feedback({ state: 'sent', to: 'sent@n.example' })
  const found = new Map((await lines()).map((line) => [line.to, line]))
  expect([...found.keys()]).toHaveLength(4)
  expect(found.get('held@n.example')).toMatchObject({ why: 'held', mails: 1, nextTryAt: null })
  expect(found.get('digest@n.example')).toMatchObject({ why: 'digest', nextTryAt: soon })
  expect(found.get('slow@n.example')).toMatchObject({
    ...{ why: 'postponed', mails: 2, nextTryAt: soon, reason: '451 greylisted' },
  })
  expect(found.get('fast@n.example')).toMatchObject({ why: 'next' })
  expect((await lines({ smtpUrl: undefined })).map(({ why }) => why)).toContain('no-relay')
  await pool.query(`update mail_relay set refused_since = now(), reply = '554 no'`)
  expect((await lines()).find(({ to }) => to === 'slow@n.example')).toMatchObject({
    ...{ why: 'relay', reason: '554 no' },
  })
  await pauseQueue(pool, { queue: forwardReport.name, at: ago(1), by: null, reason: 'test' })
  expect((await lines()).find(({ to }) => to === 'slow@n.example')?.why).toBe('queue-paused')
})

test('one desk is sent to now, and no other', async () => {
  const boss = await startBoss(app.database.url, 'works', { name: 't', onError: () => undefined })
  await createQueues(boss, [forwardReport, sendLetter], pool)
  await stopBoss(boss, 1_000)
  const mine = await feedback({ state: 'held', to: 'mine@n.example' })
  const other = await feedback({ state: 'held', to: 'other@n.example' })
  const digest = await feedback({ state: 'waiting', to: 'mine@n.example', dueAt: soon })
  const retried = await feedback({ state: 'queued', to: 'mine@n.example', tryAt: soon })
  await feedback({ state: 'queued', to: 'other@n.example', tryAt: soon })

  expect(await runAction(retryMail, { to: 'nobody@n.example' }, app, null)).toMatchObject({
    problems: [{ field: 'to' }],
  })
  expect(await runAction(retryMail, { to: 'Mine@n.example' }, app, null)).toMatchObject({
    ...{ done: 'retried', count: 3 },
  })
  expect((await stateOf(mine))?.['state']).toBe('queued')
  expect((await stateOf(other))?.['state']).toBe('held')
  expect((await stateOf(digest))?.['due_at']).not.toEqual(soon)
  const late = await app.rows(`select data ->> 'reportId' as id from pgboss.job
    where name = 'forward-report' and start_after > now() + interval '1 minute'`)
  expect(late.map(({ id }) => id)).not.toContain(retried)
  expect(late).toHaveLength(1)

  // Without a mail server, what is held stays held.
  const without = { ...app, config: { ...app.config, smtpUrl: undefined } }
  await runAction(retryMail, {}, without, null)
  expect((await stateOf(other))?.['state']).toBe('held')
  expect(await runAction(retryMail, {}, app, null)).toMatchObject({ done: 'retried' })
  expect((await stateOf(other))?.['state']).toBe('queued')
})
