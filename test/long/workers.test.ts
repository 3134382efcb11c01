import { expect, test } from 'vitest'
import { closeAfterThisTest } from '../support/after-tests.ts'
import { spamMessage } from '../support/messages.ts'
import { makeSite } from '../support/parts.ts'
import { startSmtpSink } from '../support/smtp-sink.ts'

const site = (env: Record<string, string> = {}) => closeAfterThisTest(makeSite(env))

/** In milliseconds; half of the average wait of a job when no notification arrives. */
const START_MS_MAX = 500
const TRIES = 12

test('the analysis of a report starts by notification, not by polling', async () => {
  const here = await site()
  await Promise.all([here.start('web'), here.start('work')])
  const waits: number[] = []
  for (let number = 0; number < TRIES; number++) {
    const { status, id } = await here.client.post(spamMessage(`quick-${number}`))
    const acceptedAt = Date.now()
    expect(status).toBe(202)
    await here.client.untilEvent(id, 'held')
    const { rows } = await here.database.pool.query<{ at: Date }>(
      `select at from report_events where report_id = $1 and event = 'analyzed'`,
      [id],
    )
    waits.push((rows[0]?.at.getTime() ?? Infinity) - acceptedAt)
  }
  const median = waits.toSorted((one, other) => one - other)[TRIES / 2]
  expect(median, `ms: ${waits.join(' ')}`).toBeLessThan(START_MS_MAX)
})

test('two workers share the queue: each report is analyzed and sent once', async () => {
  const far = await closeAfterThisTest(startSmtpSink())
  const here = await site({ SMTP_URL: far.url, FEEDBACK_HOURLY_MAX: '1000' })
  await Promise.all([here.start('web'), here.start('work'), here.start('work')])
  const count = 120
  const receipts = await Promise.all(
    Array.from({ length: count }, (_, number) => here.client.post(spamMessage(`shared-${number}`))),
  )
  await far.received(count)
  await Promise.all(receipts.map(({ id }) => here.client.untilEvent(id, 'sent')))
  const { rows } = await here.database.pool.query<{ event: string; count: number }>(
    `select event, count(*) from report_events group by event order by event`,
  )
  expect(rows).toEqual([
    { event: 'analyzed', count },
    { event: 'sent', count },
  ])
  expect(far.messages).toHaveLength(count)
  expect(new Set(far.messages.map(({ from }) => from)).size).toBe(count)
})
