import { expect, test } from 'vitest'
import { ensureConsumers } from '../../../src/db/consumers.ts'
import { listFeedback } from '../../../src/db/feedback-reports.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import { runPaceFeedback } from '../../../src/feedback/pace-feedback.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'

const app = {
  ...(await closeAfterTests(openTestApp({ OPERATOR_NAME: 'Example Association' }))),
  parser,
}

/** Merges one message from each address, with the client's port. */
async function mergedFrom(ips: readonly string[]): Promise<string> {
  const accepted = await Promise.all(
    ips.map((ip, index) => {
      const raw = String(spamMessage(`m${ip}`, { ip }))
        .replace(`[${ip}])`, `[${ip}]:${20_000 + index})`)
        .replace('10:00:00', `10:00:${String(index).padStart(2, '0')}`)
      return app.report(Buffer.from(raw))
    }),
  )
  const ids = accepted.map(({ id }) => id)
  await runAnalyzeReport(
    ids.map((reportId) => ({ reportId })),
    app,
  )
  const address = 'abuse@merged.example'
  const consumers = await ensureConsumers(app.pool, [{ address, source: 'network' }], new Date())
  await app.pool.query(
    `update feedback_reports set consumer_id = $2, address = $3, state = 'waiting', due_at = now()
     where report_id = any($1::uuid[])`,
    [ids, consumers.get(address)?.id, address],
  )
  await app.pool.query(
    `insert into counted_reports (id, shard, campaign_id, content)
     select id, shard_of(id), $2::uuid, ''::bytea from unnest($1::uuid[]) as id
     on conflict (id, shard) do update set campaign_id = excluded.campaign_id`,
    [ids, ids[0]],
  )
  await runPaceFeedback({ ...app, clock: () => new Date(Date.now() + 3_600_000) })
  const queued = (await listFeedback(app.pool, ids)).filter(({ state }) => state === 'queued')
  const sent: string[] = []
  const mailer = {
    send: (mail: { raw: Buffer }) => {
      sent.push(mail.raw.toString('latin1'))
      return Promise.resolve({ outcome: 'accepted', reply: '250 taken' } as const)
    },
    close: () => Promise.resolve(),
  }
  await runForwardReport(queued, { ...app, mailer })
  expect(sent).toHaveLength(1)
  return sent[0] ?? ''
}

test('a report that represents many messages lists the source and time of each', async () => {
  const ips = Array.from({ length: 35 }, (_, index) => `198.51.100.${index + 10}`)
  const mail = await mergedFrom(ips)
  expect(mail).toMatch(/^Incidents: 35\r$/m)
  expect(mail).toMatch(/^From: "Example Association" </m)
  expect(mail).toContain('All 35 messages')
  const listed = [...mail.matchAll(/^- (198\.51\.100\.\d+ port \d+, \S+)\r$/gm)].map(
    ([, line]) => line,
  )
  expect(listed).toEqual(
    ips.map((ip, index) => {
      const second = String(index).padStart(2, '0')
      return `${ip} port ${20_000 + index}, 2026-11-16T10:00:${second}Z`
    }),
  )
})
