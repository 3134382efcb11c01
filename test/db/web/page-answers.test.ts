import { expect, test } from 'vitest'
import { insertPageNotices, markNoticeQueued } from '../../../src/db/page-notices.ts'
import { putPageReports, touchPages, updatePage } from '../../../src/db/pages.ts'
import type { SentFeedback } from '../../support/sent-feedback.ts'
import { uuidv7 } from '../../../src/world.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startNotifyingSite } from './notifying-site.ts'

const { site, ann, told, linkOf } = await startNotifyingSite()
const { pool } = site.app
const recipient = new Browser(site.url)
const reporter = await signedInBrowser(site.url, ann)
const url = 'https://secure.page-answers.com/login/Zq9xK2vLw7RtB41nPs80'

/** A notice about a page that was sent to somebody who can stop it. */
async function noticed(): Promise<SentFeedback> {
  const feedback = await told()
  const { reportId } = feedback
  const now = new Date()
  const seen = { url, host: 'secure.page-answers.com', scope: 'host', type: 'phishing' } as const
  const more = { key: reportId, imitates: null, through: [], lastSeen: now }
  const [page] = await touchPages(pool, [{ ...seen, ...more, id: uuidv7(now) }])
  if (!page) throw new Error('The page was not stored.')
  const state = { state: 'confirmed', confirmedBy: 'person', confirmedAt: now } as const
  await updatePage(pool, { ...page, ...state, reports: 1 })
  await putPageReports(pool, [
    {
      ...{ pageId: page.id, reportId, url, seenAt: now, campaignId: null, reporterId: ann.id },
      ...{
        isVouched: false,
        isProven: true,
        isYoung: false,
        circle: 1,
        recipient: Buffer.alloc(8),
      },
      ...{ isAccusing: true, isSupported: true, decision: null, signs: [] },
    },
  ])
  const contact = 'abuse@access-two.example'
  const stopper = { contact, role: 'host', name: 'NET', ips: [], state: 'spare', place: 0 } as const
  await insertPageNotices(pool, [{ ...stopper, pageId: page.id, isOverride: false }], now)
  await markNoticeQueued(pool, { pageId: page.id, contact }, feedback, now)
  await pool.query(`update feedback_reports set told_as = 'page' where report_id = $1`, [reportId])
  return feedback
}

test('operators see whom a notice went to, on the page of the page', async () => {
  const { reportId } = await noticed()
  const { rows } = await pool.query<{ id: string }>(`select id from pages where key = $1`, [
    reportId,
  ])
  const analyst = await site.addPerson('analyst@desk.example', { role: 'analyst' })
  const browser = await signedInBrowser(site.url, analyst)
  const page = await (await browser.get(`/admin/pages/${rows[0]?.id}`)).text()
  expect(page).toContain('Notices to those who can stop it')
  expect(page).toContain('network of the host')
  expect(page).toContain(`href="/admin/outbox/${reportId}/1"`)
  expect(page).toContain('abuse@access-two.example')
})

test('the page for answers to a notice says nothing of the sender of the message', async () => {
  const page = await (await recipient.get(linkOf(await noticed(), 'not-ours'))).text()
  expect(page).toContain('We cannot do anything about this page')
  expect(page).not.toContain('198.51.100.')
  // The same page about a message does.
  expect(await (await recipient.get(linkOf(await told(), 'not-ours'))).text()).toContain('198.51.')
})

test('the reporter sees the address that is asked for, and decides', async () => {
  const notice = await noticed()
  const at = `/reports/${notice.reportId}/original`
  const asked = await (await recipient.post(linkOf(notice, 'original'), {})).text()
  expect(asked).toContain('If the reporter agrees, the exact address is sent to you.')
  const page = await (await reporter.get(at)).text()
  expect(page).toContain('May the address of the page be passed on?')
  expect(page).toContain(url)
  expect(page).not.toContain('for &lt;you@provider.example&gt;')
  await reporter.post(at, { answer: 'yes' })
  expect(await (await reporter.get(at)).text()).toContain('You agreed. The address is sent.')
  expect(await (await reporter.get(`/reports/${notice.reportId}`)).text()).toMatch(
    /Exact address to <span[^>]*>[^<]*<\/span>: is about to leave/,
  )
})
