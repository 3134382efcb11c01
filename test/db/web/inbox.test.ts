import { beforeEach, expect, test } from 'vitest'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { handleInboundMail } from '../../../src/feedback/handle-inbound.ts'
import { phrase } from '../../../src/phrase.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { arrive, reply } from '../../support/inbound-mail.ts'
import { sampleNetworks, spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'
import { createSentFeedback, type SentFeedback } from '../../support/sent-feedback.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

let made = 0

const site = await closeAfterTests(startWebSite({ RETURN_PATH_DOMAIN: 'bounces.test.example' }))
await importNetworks(sampleNetworks, site.app)
const ann = await site.addPerson('ann@reporters.example')
const desk = await signedInBrowser(
  site.url,
  await site.addPerson('admin@desk.example', { role: 'administrator' }),
)

beforeEach(async () => {
  for (const table of ['suppressions', 'contact_corrections', 'inbound_mails', 'audit_log']) {
    await site.app.pool.query(`delete from ${table}`)
  }
  await site.app.pool.query(`update consumers set state = 'found'`)
})

async function told(): Promise<SentFeedback> {
  const id = await site.report(ann, spamMessage(`inbox-${++made}`))
  return createSentFeedback(site.app, parser, id)
}

/** Handles a person's answer to a feedback report. */
async function answered(feedback: SentFeedback | undefined, text: string, header: string[] = []) {
  const raw = reply('bob@desk.example', text.split('\n'), header)
  const purpose = feedback ? 'feedback-answer' : 'other'
  const mail = await arrive(site.app, raw, { ...feedback, purpose, mailFrom: 'bob@desk.example' })
  await handleInboundMail(mail, { ...site.app, parser })
  return mail.mailId
}

async function rows(text: string, params: unknown[] = []): Promise<Record<string, unknown>[]> {
  return (await site.app.pool.query<Record<string, unknown>>(text, params)).rows
}

const page = async (path: string) => (await desk.get(path)).text()

test('the inbox is for administrators', async () => {
  const reporter = await signedInBrowser(site.url, ann)
  const mailId = await answered(undefined, 'Hello')
  for (const path of ['/admin/inbox', `/admin/inbox/${mailId}`, '/admin/suppressions']) {
    expect((await reporter.get(path)).status).toBe(403)
    expect((await reporter.post(path, { do: 'handled' })).status).toBe(403)
  }
})

test('mail from a person is among the unread, and the overview counts it', async () => {
  expect(await page('/admin')).not.toContain('a look</a>')
  await answered(await told(), 'Which customer do you mean?')
  expect(await page('/admin/inbox')).toContain('bob@desk.example')
  expect(await page('/admin')).toContain('1 mail to read in the inbox</a>')
  await answered(undefined, 'And this?')
  expect(await page('/admin')).toContain('2 mails to read in the inbox</a>')
})

test('each kind of mail has a list, and so has unmatched mail', async () => {
  await answered(await told(), 'matched', ['Subject: to a report'])
  await answered(undefined, 'unmatched', ['Subject: to nothing'])
  const replies = await page('/admin/inbox?filter=reply')
  expect(replies).toContain('to a report')
  expect(replies).toContain('to nothing')
  const unmatched = await page('/admin/inbox?filter=unmatched')
  expect(unmatched).not.toContain('to a report')
  expect(unmatched).toContain('to nothing')
  expect(await page('/admin/inbox?filter=bounce')).toContain('No mail here.')
  expect(await page('/admin/inbox?filter=nonsense')).toContain('to nothing')
})

test('a long list has pages, and each mail is on one of them', async () => {
  for (let at = 0; at < 53; at++) await answered(undefined, 'x', [`Subject: mail-${at}-`])
  const firstPage = await page('/admin/inbox?filter=reply')
  const [, next = ''] = /href="\/admin\/inbox(\?[^"]*before=[^"]*)"/.exec(firstPage) ?? []
  const secondPage = await page(`/admin/inbox${next.replaceAll('&amp;', '&')}`)
  const subjects = [...`${firstPage}${secondPage}`.matchAll(/mail-\d+-/g)].map(([name]) => name)
  expect(subjects).toHaveLength(53)
  expect(new Set(subjects).size).toBe(53)
})

test('a mail is shown as text, with its thread', async () => {
  const feedback = await told()
  const first = await answered(feedback, 'the first', ['Subject: one'])
  const evil = '<script>alert(1)</script> \u202eevil'
  const mailId = await answered(feedback, 'the second', [`Subject: ${evil}`])
  const shown = await page(`/admin/inbox/${mailId}`)
  expect(shown).not.toContain('<script>')
  expect(shown).toContain('‹U+202E›')
  expect(shown).toContain(`/admin/outbox/${feedback.reportId}/1`)
  expect(shown).toContain(`/admin/inbox/${first}`)
  const file = await desk.get(`/admin/inbox/${mailId}/message.eml`)
  expect(file.headers.get('content-disposition')).toContain('attachment')
  expect(await file.text()).toContain('the second')
})

test('the outcome of a mail is shown, with its parameters escaped', async () => {
  const mailId = await answered(undefined, 'Hello')
  const path = `/admin/inbox/${mailId}`
  expect(await page(path)).toContain('<dd>It matches none of our mail.</dd>')
  const phrases = [phrase('domain-takes-complaints', { domain: 'an <odd> domain' })]
  await rows('update inbound_mails set phrases = $1', [JSON.stringify(phrases)])
  expect(await page(path)).toContain('an &lt;odd&gt; domain')
  expect(await page('/admin/inbox')).toContain('an &lt;odd&gt; domain')
})

test('a handled mail leaves the list, and the audit log names the administrator', async () => {
  const mailId = await answered(await told(), 'Hello')
  const answer = await desk.post(`/admin/inbox/${mailId}`, { do: 'handled' })
  expect(answer.status).toBe(303)
  await desk.post(`/admin/inbox/${mailId}`, { do: 'handled' })
  expect(await page('/admin/inbox')).toContain('No mail here.')
  expect(await rows('select action, detail from audit_log')).toEqual([
    { action: 'handle mail', detail: mailId },
  ])
})

test.for(['resolved', 'wrong', 'not-ours', 'stop'])(
  'an operator answers for the desk: %s',
  async (kind) => {
    const feedback = await told()
    const mailId = await answered(feedback, 'I told you on the telephone')
    await desk.post(`/admin/inbox/${mailId}`, { do: kind })
    await desk.post(`/admin/inbox/${mailId}`, { do: kind })
    expect(
      await rows(
        'select answer, how, said, mail_id as "mailId" from feedback_answers where report_id = $1',
        [feedback.reportId],
      ),
    ).toEqual([{ answer: kind, how: 'operator', said: null, mailId }])
    expect(await page('/admin/inbox')).toContain('No mail here.')
    expect(await rows('select action, detail from audit_log order by detail')).toMatchObject([
      { action: 'answer for a desk', detail: expect.stringContaining('repeated') as string },
      { action: 'answer for a desk', detail: expect.stringContaining(`${kind}: `) as string },
    ])
    const [consumer] = await rows(`select state from consumers where address = $1`, [
      'abuse@access-two.example',
    ])
    expect(consumer).toEqual({ state: kind === 'stop' ? 'stopped' : 'found' })
  },
)

test('without a known feedback report no one can answer for a desk', async () => {
  const mailId = await answered(undefined, 'Hello')
  const answer = await desk.post(`/admin/inbox/${mailId}`, { do: 'stop' })
  expect(answer.headers.get('location')).toContain('done=unknown')
  expect(await rows('select address from suppressions')).toEqual([])
})

test('addresses are suppressed and released by hand, with the audit log', async () => {
  const form = { do: 'set', address: 'Bob@Desk.example', reason: 'He telephoned.', term: 'good' }
  expect((await desk.post('/admin/suppressions', form)).status).toBe(303)
  expect(await rows('select address, reason, detail, until from suppressions')).toEqual([
    { address: 'bob@desk.example', reason: 'operator', detail: 'He telephoned.', until: null },
  ])
  expect(await page('/admin/suppressions?part=DESK')).toContain('bob@desk.example')
  expect(await page('/admin/suppressions?part=other')).toContain('No suppressed addresses found.')
  await desk.post('/admin/suppressions', { do: 'lift', address: 'bob@desk.example' })
  expect(await rows('select address from suppressions')).toEqual([])
  expect(await rows('select action from audit_log order by action')).toEqual([
    { action: 'suppress' },
    { action: 'unsuppress' },
  ])
})

test.for<[string, Record<string, string>]>([
  ['no address', { address: 'nobody', reason: 'x', term: 'good' }],
  ['no reason', { address: 'a@b.example', reason: ' ', term: 'good' }],
  ['no term', { address: 'a@b.example', reason: 'x', term: '' }],
])('an entry with %s is not suppressed', async ([, form]) => {
  expect((await desk.post('/admin/suppressions', { do: 'set', ...form })).status).toBe(422)
  expect(await rows('select address from suppressions')).toEqual([])
})
