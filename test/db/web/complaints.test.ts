import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { App } from '../../../src/app.ts'
import { runOperation } from '../../../src/cli/command.ts'
import { operations } from '../../../src/cli/explain.ts'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import type { ReportJson } from '../../../src/web/api/reports.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { analyzeReports } from '../../support/judge.ts'
import { replyMessage, sampleNetworks, spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'
import { until } from '../../support/process.ts'
import { uuidv7 } from '../../../src/world.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite({ FORM_WAIT_SECONDS: '10' }))
await importNetworks(sampleNetworks, site.app)
const ann = await site.addPerson('ann@reporters.example')
const browser = await signedInBrowser(site.url, ann)
const boss = await site.addPerson('boss@reporters.example', { role: 'administrator' })
const admin = await signedInBrowser(site.url, boss)
const title = 'Do you really not want this message?'

const analyze = (id: string) => analyzeReports({ ...site.app, parser }, [id])

/** Reports a reply and has it analyzed. */
async function reportReply(mark: string): Promise<string> {
  const id = await site.report(ann, replyMessage(mark))
  await analyze(id)
  return id
}

async function api(id: string, path = '', method = 'GET'): Promise<ReportJson> {
  const headers = { authorization: ann.basic }
  const answer = await fetch(`${site.url}/api/v1/reports/${id}${path}`, { method, headers })
  expect(answer.status).toBe(200)
  return (await answer.json()) as ReportJson
}

async function feedbackOf(id: string): Promise<number> {
  const { rowCount } = await site.app.pool.query(
    'select 1 from feedback_reports where report_id = $1',
    [id],
  )
  return rowCount ?? 0
}

test('the page asks about mail that looks wanted, and forwards it once confirmed', async () => {
  const id = await reportReply('page')
  const asked = await (await browser.get(`/reports/${id}`)).text()
  expect(asked).toContain(title)
  expect(asked).toContain('It looks like a reply to one of your messages.')
  expect(await feedbackOf(id)).toBe(0)
  const { rows } = await site.app.pool.query('select * from reports where id = $1', [id])
  expect(rows).toMatchObject([{ state: 'kept', is_confirmed: false }])
  expect((await browser.post(`/reports/${id}/confirm`, {})).status).toBe(303)
  await analyze(id)
  expect(await feedbackOf(id)).toBe(1)
  expect(await (await browser.get(`/reports/${id}`)).text()).not.toContain(title)
})

test('the answer of the form waits for the analysis, and asks too', async () => {
  const raw = replyMessage('form').toString()
  const answer = browser.post('/report', { 'reporting[raw_email]': raw })
  const id = await until('the stored report', async () => {
    const { rows } = await site.app.pool.query<{ id: string }>(
      `select id from reports where channel = 'form'`,
    )
    return rows[0]?.id
  })
  await analyze(id)
  const page = await (await answer).text()
  expect(page).toContain(title)
  expect(page).toContain(`action="/reports/${id}/confirm"`)
})

test('the API asks and takes the confirmation, once', async () => {
  const id = await reportReply('api')
  expect(await api(id)).toMatchObject({ status: 'kept', confirmation_asked: true })
  const answers = await Promise.all([1, 2, 3].map(() => api(id, '/confirmation', 'POST')))
  expect(answers.map((one) => one.confirmation_asked)).toEqual([false, false, false])
  await analyze(id)
  const { timeline } = await api(id, '/confirmation', 'POST')
  const events = timeline.map(({ event }) => event)
  expect(events).toEqual(['received', 'analyzed', 'confirmed', 'analyzed'])
  expect(await feedbackOf(id)).toBe(1)
})

test('a confirmation has no effect on a report about which nobody is asked', async () => {
  const id = await site.report(ann, spamMessage('plain'))
  await analyze(id)
  const before = await api(id)
  expect(await api(id, '/confirmation', 'POST')).toEqual(before)
})

test('a changed statement must be confirmed again', async () => {
  const id = await reportReply('again')
  await api(id, '/confirmation', 'POST')
  const raw = await (await browser.get(`/reports/${id}/message.eml`)).arrayBuffer()
  for (const kind of ['not-spam', 'spam']) {
    await fetch(`${site.url}/api/v1/reports?kind=${kind}`, {
      method: 'POST',
      headers: { authorization: ann.basic, 'content-type': 'message/rfc822' },
      body: raw,
    })
    await analyze(id)
  }
  expect(await api(id)).toMatchObject({ kind: 'spam', confirmation_asked: true })
})

async function explained(id: string): Promise<string> {
  let text = ''
  const stdout = { write: (part: string) => (text += part) }
  const streams = { stdin: Readable.from([]), stdout, stderr: stdout }
  const code = await runOperation(operations, [id], (work) => work(site.app as App), streams)
  return `${code}: ${text}`
}

test('an explanation says what each symbol changed, and what the rules of today say', async () => {
  const asked = await explained(await reportReply('why'))
  expect(asked).toContain('by a reporter with karma 1.00; reply mail\n')
  const lacks =
    '1.7 is missing; the reporter’s confirmation would suffice; ' +
    '2 more reports of the campaign would suffice.'
  expect(asked).toContain(`  score 1.3, forwarded from 3 on. ${lacks}\n`)
  expect(asked).toContain('-1.20  ANSWER  It is a reply from an authenticated author.\n')
  expect(asked).toContain('Notice     confirm: It looks like a reply')
  expect(asked).toContain("Today's rules (version 0) give undecided, score 1.3.\n")
  const confirmed = await reportReply('why-confirmed')
  await api(confirmed, '/confirmation', 'POST')
  await analyze(confirmed)
  expect(await explained(confirmed)).toContain(
    '3 on. Confirmed by the reporter or by an abuse team, which counts 2.5',
  )
  const id = await site.report(ann, spamMessage('clear'))
  await analyze(id)
  expect(await explained(id)).toContain(
    '6.00  REPORTED_SPAM  The reporter says that this is spam. Without it: undecided, not forwarded.',
  )
  const page = await (await admin.get(`/admin/reports/${id}`)).text()
  expect(page).toMatch(/<td[^>]*>undecided, not forwarded<\/td>/)
  expect(await explained(uuidv7(new Date()))).toContain('There is no analyzed report with this id.')
})
