import { expect, test } from 'vitest'
import { runAction } from '../../../src/actions.ts'
import { type Page, readSharedPages } from '../../../src/db/pages.ts'
import { insertReporter } from '../../../src/db/reporters.ts'
import { insertKarma } from '../../../src/db/reputations.ts'
import { runFindPages } from '../../../src/pages/find-pages.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { decideCampaign, undecideCampaign } from '../../../src/reports/campaign-decisions.ts'
import { retractReport } from '../../../src/reports/change-report.ts'
import { beginErasure, runEraseAccount } from '../../../src/reports/erase-account.ts'
import { runRedeemReport } from '../../../src/reports/redeem-report.ts'
import { runActOnReports, startDeletion } from '../../../src/search/mass-actions.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { parser } from '../../support/parser.ts'

const DAY_MS = 86_400_000
let made = 0

/** A phishing message to an address; `html` is what leads its reader to a page. */
function phish(to: string, html: string, from = 'PayPal <billing@sender.example>'): Buffer {
  return Buffer.from(
    [
      'Return-Path: <billing@sender.example>',
      'Received: from mail.sender.example (mail.sender.example [198.51.100.23])',
      ' by mx.provider.example (Postfix) with ESMTPS id 4ABC',
      ` for <${to}>; Mon, 16 Nov 2026 10:00:00 +0000`,
      `From: ${from}`,
      `To: ${to}`,
      'Subject: Your account is limited',
      'Date: Mon, 16 Nov 2026 09:59:57 +0000',
      `Message-ID: <${++made}@sender.example>`,
      'Content-Type: text/html; charset=utf-8',
      '',
      `<p>Dear customer, your account was limited after an unusual payment. ${html}</p>`,
      '',
    ].join('\r\n'),
  )
}

const linkTo = (url: string) => `<a href="${url}">Verify your account now</a>`
const login = linkTo('https://page.victim.example/login')

async function site() {
  const app = { ...(await closeAfterThisTest(openTestApp())), parser }
  const { pool } = app
  /** Runs the jobs that are queued for pages, and returns their number. */
  const findAll = async () => {
    const jobs = await app.rows(
      `delete from pgboss.job where name = 'find-pages' returning data ->> 'reportId' as id`,
    )
    await runFindPages(
      jobs.map(({ id }) => ({ reportId: String(id) })),
      app,
    )
    return jobs.length
  }
  return {
    ...{ app, findAll },
    pages: async (): Promise<Partial<Page>[]> =>
      app.rows(`select id, url, state, confirmed_by as "confirmedBy", shared, reports, imitates
        from pages order by key`),
    /** Makes an account of its own sign-up day and mail domain. */
    async person({ isVouched = false, isProven = false } = {}) {
      const createdAt = new Date(Date.now() - ++made * DAY_MS)
      const id = uuidv7(createdAt)
      const account = { email: `${id}@of-${++made}.example`, passwordHash: null, role: null }
      await insertReporter(pool, { id, ...account, createdAt })
      await insertKarma(pool, { reporterId: id, isVouched, now: createdAt })
      if (isProven) {
        await pool.query('update karmas set agreed = 1000 where reporter_id = $1', [id])
      }
      return id
    },
    async report(reporterId: string, html = login, kind: 'phishing' | 'spam' = 'phishing') {
      const raw = phish(`u${++made}@provider.example`, html)
      const { id } = await app.report(raw, { reporterId, kind })
      await runAnalyzeReport([{ reportId: id }], app)
      await findAll()
      return id
    },
    async campaignOf(id: string) {
      const [row] = await app.rows('select campaign_id as id from counted_reports where id = $1', [
        id,
      ])
      return String(row?.['id'])
    },
  }
}

test('three independent reporters confirm the page of a message that supports them', async () => {
  const { app, person, report, pages } = await site()
  await report(await person({ isProven: true }))
  await report(await person({ isProven: true }))
  const seen = { url: 'https://page.victim.example/login', imitates: 'PayPal' }
  expect(await pages()).toMatchObject([{ ...seen, state: 'seen', shared: false, reports: 2 }])
  await report(await person())
  const confirmed = { state: 'confirmed', confirmedBy: 'reporters', shared: true, reports: 3 }
  expect(await pages()).toMatchObject([{ ...seen, ...confirmed }])
  expect(await readSharedPages(app.pool, { limit: 5 })).toHaveLength(1)
})

test('a ring that reports the page of a competitor gains nothing', async () => {
  const { app, person, report, pages, campaignOf, findAll } = await site()
  const known = await report(await person({ isVouched: true }))
  // Its accounts are of different days and domains, and one of them is proven.
  const competitor = linkTo('https://competitor.example/login')
  const ring = [await person({ isProven: true })]
  while (ring.length < 6) ring.push(await person())
  for (const one of ring) await report(one, competitor)
  expect(await pages()).toMatchObject([
    { url: 'https://competitor.example/login', state: 'seen', reports: 6 },
    { url: 'https://page.victim.example/login', state: 'seen' },
  ])
  // Nor by a copy of a message that a person calls phishing.
  const decision = { id: await campaignOf(known), says: 'phishing', reason: 'A known phish.' }
  expect(await campaignOf(known)).not.toBe('null')
  await runAction(decideCampaign, decision, app, null)
  expect(await findAll()).toBeGreaterThan(1)
  expect(await pages()).toMatchObject([
    { url: 'https://competitor.example/login', state: 'seen' },
    { url: 'https://page.victim.example/login', state: 'confirmed', confirmedBy: 'person' },
  ])
})

test('what a person decides about a campaign holds until it is taken back', async () => {
  const { app, person, report, pages, campaignOf, findAll } = await site()
  const id = await report(await person({ isVouched: true }), login, 'spam')
  const campaign = await campaignOf(id)
  const decide = (says: string) =>
    runAction(decideCampaign, { id: campaign, says, reason: 'Seen.' }, app, null)
  await decide('malware')
  await findAll()
  expect(await pages()).toMatchObject([{ state: 'confirmed', confirmedBy: 'person' }])
  await runAction(undecideCampaign, { id: campaign }, app, null)
  await findAll()
  expect(await pages()).toMatchObject([{ state: 'seen', confirmedBy: null, reports: 0 }])
})

test('a token of a recipient is in no shared URL, and a second run changes nothing', async () => {
  const { app, person, report, pages, findAll } = await site()
  const ids: string[] = []
  for (const token of [
    '4f9a8b7c6d5e4f3a2b1c0d9e',
    '0a1b2c3d4e5f6a7b8c9d0e1f',
    'aa00bb11cc22dd33',
  ]) {
    const html = linkTo(`https://page.victim.example/c/${token}`)
    ids.push(await report(await person({ isVouched: true }), html))
  }
  const before = await pages()
  expect(before).toMatchObject([{ state: 'confirmed', shared: false, reports: 3 }])
  expect(await findAll()).toBe(0)
  // Neither together nor at the same time, as after the loss of a process.
  await Promise.all([...ids, ...ids].map((reportId) => runFindPages([{ reportId }], app)))
  expect(await pages()).toEqual(before)
})

test('retracted reports take back what they said', async () => {
  const { app, person, report, pages, findAll } = await site()
  const ids: string[] = []
  for (let count = 0; count < 3; count++) ids.push(await report(await person({ isVouched: true })))
  expect(await pages()).toMatchObject([{ state: 'confirmed', shared: true }])
  const retract = async (id: string) => {
    await retractReport(app, id, { isReporter: true })
    await runRedeemReport([{ reportId: id }], app)
    await findAll()
  }
  const [first = '', second = '', third = ''] = ids
  await retract(first)
  expect(await pages()).toMatchObject([{ state: 'seen', shared: false, reports: 2 }])
  await retract(second)
  await retract(third)
  expect(await pages()).toMatchObject([
    { state: 'seen', reports: 0, url: 'https://page.victim.example/login' },
  ])
  // A page that was never confirmed leaves nothing.
  const lone = await report(await person(), linkTo('https://lone.example/x'))
  expect(await pages()).toHaveLength(2)
  await retract(lone)
  expect(await pages()).toHaveLength(1)
})

test('an erased account leaves none of its addresses', async () => {
  const { app, person, report, pages, findAll } = await site()
  const reporter = await person()
  await report(reporter, linkTo('https://page.victim.example/c/4f9a8b7c6d5e4f3a2b1c0d9e'))
  await report(await person({ isVouched: true }), login)
  expect(await pages()).toHaveLength(2)
  const account = { id: reporter, email: 'unused', role: null }
  const begun = await beginErasure(app, account, 'keep')
  if (typeof begun === 'string') throw new Error(begun)
  // What is still being sent would need the message.
  await app.pool.query(`update feedback_reports set state = 'withdrawn'`)
  await runEraseAccount({ erasureId: begun.id }, app)
  await findAll()
  expect(await pages()).toMatchObject([{ url: 'https://page.victim.example/login' }])
})

test('a message that operators delete leaves no address', async () => {
  const { app, person, report, pages, findAll } = await site()
  const id = await report(await person())
  expect(await pages()).toHaveLength(1)
  const kind = { kind: 'delete-messages', ids: [id], reason: 'A request.' }
  const outcome = await runAction(startDeletion, kind, app, null)
  const actionId = 'done' in outcome ? (outcome.id ?? '') : ''
  while ((await runActOnReports({ actionId }, app)) !== 'done');
  expect(await findAll()).toBe(1)
  expect(await pages()).toEqual([])
})

test('wanted mail and mail of others than phishers lead to no page', async () => {
  const { person, report, pages } = await site()
  await report(await person({ isVouched: true }), login, 'spam')
  await report(await person({ isVouched: true }), linkTo('https://www.paypal.com/login'))
  expect(await pages()).toEqual([])
})
