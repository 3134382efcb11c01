import path from 'node:path'
import { expect, test } from 'vitest'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runAction } from '../../../src/actions.ts'
import { releaseHeld } from '../../../src/feedback/release-held.ts'
import { refusal } from '../../../src/phrase.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import { queueLetter, runSendLetter } from '../../../src/letters/send-letter.ts'
import type { Mailer, OutgoingMail } from '../../../src/net/mailer.ts'
import { answerLinks, composeAnswerAddress } from '../../../src/mail/verp.ts'
import { concealKeysIn } from '../../../src/mail/conceal-keys.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { testJudge } from '../../support/judge.ts'
import { spamMessage } from '../../support/messages.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'
import { parser } from '../../support/parser.ts'

const site = await closeAfterTests(
  startWebSite({
    ...{ RDAP_BOOTSTRAP_URL: 'none', DNS_SERVERS: 'none' },
    SMTP_URL: 'smtp://127.0.0.1:9',
  }),
)
const file = path.join(import.meta.dirname, '../../../src/db/sample-networks.csv')
await importNetworks(file, site.app)
const ann = await site.addPerson('ann@reporters.example')
const own = await signedInBrowser(site.url, ann)
const other = await signedInBrowser(site.url, await site.addPerson('bob@reporters.example'))
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const desk = await signedInBrowser(site.url, admin)

async function analyzed(mark: string): Promise<string> {
  const reportId = await site.report(ann, Buffer.from(spamMessage(mark)))
  const judge = testJudge(site.app.pool, site.app.clock)
  await runAnalyzeReport([{ reportId }], { ...site.app, rdap: undefined, parser, judge })
  return reportId
}

async function forward(reportId: string, isSending = true): Promise<OutgoingMail[]> {
  const mails: OutgoingMail[] = []
  const send: Mailer['send'] = (mail) => {
    mails.push(mail)
    return Promise.resolve({ outcome: 'accepted', reply: '250 taken' })
  }
  const mailer = isSending ? { send, close: () => Promise.resolve() } : undefined
  await runForwardReport([{ reportId, number: 1 }], { ...site.app, parser, mailer })
  return mails
}

const bytesOf = async (answer: Promise<Response>) => Buffer.from(await (await answer).arrayBuffer())

test('the preview and the stored copy equal the sent mail except for its keys', async () => {
  const id = await analyzed('preview')
  const page = await (await own.get(`/reports/${id}/told/1`)).text()
  expect(page).toContain('as we would send it now')
  expect(page).toContain('Feedback-Type: abuse')
  expect(await (await own.get(`/reports/${id}`)).text()).toContain(`/reports/${id}/told/1`)
  const before = await bytesOf(own.get(`/reports/${id}/told/1/message.eml`))
  const atDesk = await bytesOf(desk.get(`/admin/outbox/${id}/1/message.eml`))
  const [mail] = await forward(id)
  const after = await bytesOf(own.get(`/reports/${id}/told/1/message.eml`))
  expect(mail && concealKeysIn(mail.raw).equals(atDesk)).toBe(true)
  expect(atDesk.equals(before)).toBe(true)
  expect(after.equals(before)).toBe(true)
  expect(await (await own.get(`/reports/${id}/told/1`)).text()).toContain('exactly as we sent it')
})

test('a copy of the mail does not let anyone answer for the desk', async () => {
  const id = await analyzed('concealed')
  const [mail] = await forward(id)
  const { publicUrl, secret, returnPathDomain: domain } = site.app.config
  const secrets = [
    ...Object.values(answerLinks({ reportId: id, number: 1 }, { publicUrl, secret })),
    composeAnswerAddress({ reportId: id, number: 1 }, { domain, secret }),
  ]
  const atDesk = String(await bytesOf(desk.get(`/admin/outbox/${id}/1/message.eml`)))
  const file = String(await bytesOf(own.get(`/reports/${id}/told/1/message.eml`)))
  const page = await (await own.get(`/reports/${id}/told/1`)).text()
  for (const one of secrets) {
    expect(String(mail?.raw).includes(one)).toBe(true)
    expect(atDesk.includes(one.slice(-30))).toBe(false)
    expect(file.includes(one.slice(-30)) || page.includes(one.slice(-30))).toBe(false)
  }
  expect(file).toContain('****************')
})

test('the mail about a report is visible to its reporter only', async () => {
  const id = await analyzed('private')
  for (const address of [`/reports/${id}/told/1`, `/reports/${id}/told/1/message.eml`]) {
    expect((await other.get(address)).status).toBe(404)
  }
  for (const wrong of ['2', '0', 'x', '1000']) {
    expect((await own.get(`/reports/${id}/told/${wrong}`)).status).toBe(404)
  }
})

test('a reporter sees only their own part of a digest', async () => {
  const [first, second] = [await analyzed('digest-1'), await analyzed('digest-2')]
  const { pool } = site.app
  await pool.query(
    `update feedback_reports set state = 'merged', merged_into = $2, merged_number = 1
     where report_id = $1`,
    [second, first],
  )
  await pool.query(
    `update feedback_reports set is_digest = true, incidents = 2 where report_id = $1`,
    [first],
  )
  const [mail] = await forward(first)
  expect(String(mail?.raw)).toContain(`<${second}.1@`)
  const shown = await bytesOf(own.get(`/reports/${first}/told/1/message.eml`))
  expect(String(shown)).toContain(`<${first}.1@`)
  expect(String(shown)).not.toContain(second)
  const member = await bytesOf(own.get(`/reports/${second}/told/1/message.eml`))
  expect(String(member)).toContain(`<${second}.1@`)
  expect(String(member)).not.toContain(first)
})

test('held feedback is sent once when an administrator releases it, with a log entry', async () => {
  const [one, two] = [await analyzed('held-1'), await analyzed('held-2')]
  await forward(one, false)
  await forward(two, false)
  const path = `/admin/outbox/${one}/1/release`
  expect(await (await desk.get(`/admin/outbox/${one}/1`)).text()).not.toContain('Finished')
  const config = { ...site.app.config, smtpUrl: undefined }
  const refused = await runAction(releaseHeld, {}, { ...site.app, config }, null)
  expect(refused).toEqual({ problems: [{ message: refusal('refused.no-smtp') }] })
  expect((await own.post(path, { which: 'one' })).status).toBe(403)
  expect((await desk.post(path, { which: 'one' })).headers.get('location')).toMatch(/count=1$/)
  expect((await desk.post(path, { which: 'one' })).headers.get('location')).toMatch(/count=0$/)
  expect(await forward(one)).toHaveLength(1)
  expect(await forward(two)).toHaveLength(0)
  const all = await desk.post('/admin/outbox/release', {})
  expect(all.headers.get('location')).toMatch(/count=1$/)
  expect(await forward(two)).toHaveLength(1)
  const { rows } = await site.app.pool.query(
    `select detail from audit_log where action = 'release' order by at`,
  )
  expect(rows).toHaveLength(2)
})

test('letters are listed with their copies, and held ones are sent when released', async () => {
  const { pool, clock } = site.app
  const letter = { kind: 'advice', to: 'ann@reporters.example', subject: 'Hello' } as const
  const said = { ...letter, text: 'How to leave the list.', language: 'en' as const }
  const id = await queueLetter(pool, { ...said, autoSubmitted: 'generated' }, site.app, clock())
  await runSendLetter([{ letterId: id }], { ...site.app, mailer: undefined })
  const list = await (await desk.get('/admin/outbox/letters?state=held')).text()
  expect(list).toContain(`/admin/outbox/letters/${id}`)
  const page = await (await desk.get(`/admin/outbox/letters/${id}`)).text()
  expect(page).toContain('How to leave the list.')
  expect((await desk.post('/admin/outbox/letters/release', { id: 'x' })).status).toBe(422)
  const released = await desk.post('/admin/outbox/letters/release', { id })
  expect(released.headers.get('location')).toMatch(/count=1$/)
  expect((await desk.get('/admin/outbox/letters/x')).status).toBe(404)
})
