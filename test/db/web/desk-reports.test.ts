import { simpleParser } from 'mailparser'
import { expect, test } from 'vitest'
import { findFeedback, insertFeedbackMessages } from '../../../src/db/feedback-reports.ts'
import { listAnswers } from '../../../src/db/feedback-answers.ts'
import { pack } from '../../../src/db/rows.ts'
import { consumerLink } from '../../../src/feedback/enroll.ts'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { answerLinks } from '../../../src/mail/verp.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { sampleNetworks, spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'
import { createSentFeedback, keepCopy, type SentFeedback } from '../../support/sent-feedback.ts'
import { Browser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite({ RETURN_PATH_DOMAIN: 'bounces.test.example' }))
await importNetworks(sampleNetworks, site.app)
const you = await site.addPerson('you@provider.example')
const { pool } = site.app
const visitor = new Browser(site.url)
let made = 0

async function told(options: { ip?: string } = {}): Promise<SentFeedback> {
  const id = await site.report(you, spamMessage(`mark-${++made}`, options))
  const sent = await createSentFeedback(site.app, parser, id)
  await keepCopy(site.app, parser, sent)
  return sent
}

async function pathOf(key: SentFeedback): Promise<string> {
  const { consumerId = '' } = (await findFeedback(pool, key)) ?? {}
  return new URL(consumerLink(consumerId, site.app.config).url).pathname
}

async function read(path: string): Promise<string> {
  const answer = await visitor.get(path)
  expect([path, answer.status]).toEqual([path, 200])
  return answer.text()
}

const name = ({ reportId, number }: SentFeedback) => `${reportId}.${number}`

async function answersTo(key: SentFeedback): Promise<string[]> {
  return (await listAnswers(pool, [key.reportId])).map(({ answer }) => answer)
}

const first = await told()
const own = await pathOf(first)

test('the page lists the reports of this desk with what their mails say', async () => {
  const page = await read(`${own}/reports`)
  expect(page).toContain('Cheap watches mark-1')
  expect(page).toContain('198.51.100.23')
  expect(page).toContain('spam')
  expect(page).toContain('Reports per day, 30 days')
  expect(page).toContain(`${own}/reports/${name(first)}`)
})

test('the page of a report shows the message with the codes of its redaction', async () => {
  const page = await read(`${own}/reports/${name(first)}`)
  expect(page).toContain('Buy at https://shop.example/mark-1 now. Café!')
  expect(page).toMatch(/<mark>redacted-[a-z2-7]{16}<\/mark>/)
  expect(page).not.toContain('you@provider.example')
  expect(page).toContain(`name="chosen" value="${name(first)}"`)
  const mail = await visitor.get(`${own}/reports/${name(first)}/message.eml`)
  expect(mail.headers.get('content-type')).toBe('message/rfc822')
  const raw = Buffer.from(await mail.arrayBuffer())
  expect((await simpleParser(raw)).subject).toContain('Cheap watches mark-1')
  expect(raw.toString('latin1')).not.toContain('you@provider.example')
})

test('a desk sees no report of another desk, and none that was not sent', async () => {
  const other = await told({ ip: '192.0.2.7' })
  const theirs = await pathOf(other)
  expect(theirs).not.toBe(own)
  const unsent = await told()
  await pool.query(`update feedback_reports set state = 'held' where report_id = $1`, [
    unsent.reportId,
  ])
  const shadowed = await told()
  await pool.query(`update feedback_reports set state = 'shadowed' where report_id = $1`, [
    shadowed.reportId,
  ])
  const lists = [`${own}/reports`, `${own}/reports.csv`]
  for (const hidden of [other, unsent, shadowed]) {
    for (const path of lists) expect(await read(path)).not.toContain(hidden.reportId)
    for (const rest of ['', '/message.eml']) {
      expect((await visitor.get(`${own}/reports/${name(hidden)}${rest}`)).status).toBe(404)
    }
    const chosen = { chosen: name(hidden), answer: 'resolved' }
    expect((await visitor.post(`${own}/reports`, chosen)).headers.get('location')).toMatch(
      /done=0$/,
    )
    expect(await answersTo(hidden)).toEqual([])
  }
  const forged = `${own.slice(0, -1)}${own.endsWith('a') ? 'b' : 'a'}`
  expect((await visitor.get(`${forged}/reports`)).status).toBe(404)
})

test('one answer goes to all chosen reports, once', async () => {
  const [one, two, three] = [await told(), await told(), await told()]
  const body = new URLSearchParams({ answer: 'wrong', said: 'Not from us.' })
  for (const key of [one, two]) body.append('chosen', name(key))
  const post = () => visitor.send(`${own}/reports`, { method: 'POST', body })
  expect((await post()).headers.get('location')).toMatch(/\?done=2$/)
  expect((await post()).headers.get('location')).toMatch(/\?done=0$/)
  expect(await Promise.all([one, two, three].map(answersTo))).toEqual([['wrong'], ['wrong'], []])
  const open = await read(`${own}/reports?open=1`)
  expect(open).toContain(three.reportId)
  expect(open).not.toContain(one.reportId)
  expect((await visitor.post(`${own}/reports`, { answer: 'resolved' })).status).toBe(422)
})

test('an answer to all reports on the page needs no choice', async () => {
  const page = await read(`${own}/reports?open=1`)
  const listed = [...page.matchAll(/name="listed" value="([^"]+)"/g)].map(([, one]) => one ?? '')
  expect(listed.length).toBeGreaterThan(0)
  const body = new URLSearchParams({ answer: 'resolved', all: 'yes' })
  for (const one of listed) body.append('listed', one)
  const answer = await visitor.send(`${own}/reports?open=1`, { method: 'POST', body })
  expect(answer.headers.get('location')).toBe(`${own}/reports?open=1&done=${listed.length}`)
  expect(await read(`${own}/reports?open=1`)).toContain('You have answered all reports.')
})

test('the CSV file has one line per report, and no formula', async () => {
  const key = await told()
  const raw = Buffer.from('Subject: =HYPERLINK("x")\r\n\r\nx')
  await pool.query('delete from feedback_messages where report_id = $1', [key.reportId])
  await insertFeedbackMessages(pool, [{ ...key, ...(await pack(raw)) }])
  const csv = await read(`${own}/reports.csv`)
  const [head, ...lines] = csv.trimEnd().split('\r\n')
  expect(head).toBe('number,sent_at,type,source_ip,arrived_at,messages,subject,answers')
  const { rows } = await pool.query(
    `select from feedback_reports where state = 'sent'
       and consumer_id = (select consumer_id from feedback_reports where report_id = $1)`,
    [key.reportId],
  )
  expect(lines).toHaveLength(rows.length)
  expect(csv).toContain(`"'=HYPERLINK(""x"")"`)
})

test('a digest is one mail, whose reports are read and answered alone or together', async () => {
  const [head, member] = [await told(), await told()]
  await pool.query('delete from feedback_messages where report_id = any($1)', [
    [head.reportId, member.reportId],
  ])
  await pool.query(
    `update feedback_reports set incidents = 2, is_digest = true where report_id = $1`,
    [head.reportId],
  )
  await pool.query(
    `update feedback_reports set state = 'merged', merged_into = $2, merged_number = 1
     where report_id = $1`,
    [member.reportId, head.reportId],
  )
  await keepCopy(site.app, parser, head)
  const list = await read(`${own}/reports`)
  expect(list).toContain('digest')
  expect(list).not.toContain(member.reportId)
  expect(await read(`${own}/reports/${name(head)}`)).toContain(name(member))
  expect(await read(`${own}/reports/${name(member)}`)).toContain('Buy at https://shop.example/')
  await visitor.post(`${own}/reports`, { chosen: name(head), answer: 'resolved' })
  expect(await Promise.all([head, member].map(answersTo))).toEqual([['resolved'], ['resolved']])
})

test('the message of a report in JSON is shown too', async () => {
  const key = await told()
  const feedback = await findFeedback(pool, key)
  await pool.query(`update consumers set format = 'xarf' where id = $1`, [feedback?.consumerId])
  await pool.query('delete from feedback_messages where report_id = $1', [key.reportId])
  await keepCopy(site.app, parser, key)
  await pool.query(`update consumers set format = 'arf' where id = $1`, [feedback?.consumerId])
  const page = await read(`${own}/reports/${name(key)}`)
  expect(page).toContain('Buy at https://shop.example/')
  expect(page).toContain('198.51.100.23')
})

test('the answer page shows the message it is about', async () => {
  const key = await told()
  const { secret } = site.app.config
  const page = await read(answerLinks(key, { publicUrl: '', secret }).resolved)
  expect(page).toContain('Buy at https://shop.example/')
  expect(page).not.toContain('you@provider.example')
})

test('anyone can see a sample report, whose links do nothing', async () => {
  const page = await read('/consumers/sample')
  expect(page).toContain('your prize is waiting')
  expect(page).not.toContain('ann.smith')
  expect(page).toMatch(/<mark>redacted-/)
  expect(page).not.toMatch(/answer\/[a-z2-7]{28}-[a-z2-7]{16}/)
})

test('the API needs the token of a desk and lists only its reports', async () => {
  const ask = (path: string, token: string) =>
    fetch(`${site.url}/api/v1/desk${path}`, { headers: { authorization: `Bearer ${token}` } })
  const token = own.split('/').at(-1) ?? ''
  expect((await ask('/reports', you.token)).status).toBe(401)
  type Page = { reports: { number: string }[]; next: string }
  const page = (await (await ask('/reports?limit=2', token)).json()) as Page
  expect(page.reports).toHaveLength(2)
  const following = await ask(page.next.slice(page.next.indexOf('/reports')), token)
  const numbers = page.reports.map(({ number }) => number)
  const [third] = ((await following.json()) as Page).reports
  expect(numbers).not.toContain(third?.number)
  const other = await told({ ip: '192.0.2.7' })
  expect((await ask(`/reports/${name(other)}`, token)).status).toBe(404)
})
