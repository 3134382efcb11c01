import { expect, test } from 'vitest'
import { runAction } from '../../../src/actions.ts'
import { insertReporter } from '../../../src/db/reporters.ts'
import { insertKarma } from '../../../src/db/reputations.ts'
import { runFindPages } from '../../../src/pages/find-pages.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runRedeemReport } from '../../../src/reports/redeem-report.ts'
import { restoreOwnReport, takeReportBack } from '../../../src/reports/undo-retraction.ts'
import {
  runActOnReports,
  startMassAction,
  undoMassAction,
} from '../../../src/search/mass-actions.ts'
import { massEffects, type MassKind, massKinds } from '../../../src/search/mass-effects.ts'
import { uuidv7 } from '../../../src/world.ts'
import { openNoticingApp, phishingMessage } from '../../support/noticed-pages.ts'

const at = await openNoticingApp()
const { app, tools } = at
const DAY_MS = 86_400_000
const desks = ['abuse@host-net.example', 'abuse@registrar.example']
let made = 0

/** Makes three reports of one page by independent people whom operators know. */
async function reportsOf(host: string, kind: 'phishing' | 'spam' = 'phishing'): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < 3; n++) {
    const createdAt = new Date(Date.now() - (++made + 1) * DAY_MS)
    const reporterId = uuidv7(createdAt)
    const account = { email: `p${made}@of-${made}.example`, passwordHash: null, role: null }
    await insertReporter(app.pool, { id: reporterId, ...account, createdAt })
    await insertKarma(app.pool, { reporterId, isVouched: true, now: createdAt })
    const raw = phishingMessage(`undo${made}`, `https://${host}/login`)
    ids.push((await app.report(raw, { kind, reporterId })).id)
  }
  await app.boss.insert(
    'analyze-report',
    ids.map((reportId) => ({ data: { reportId } })),
  )
  await work()
  return ids
}

async function take(name: string, field: string): Promise<string[]> {
  const jobs = await app.rows(
    'delete from pgboss.job where name = $1 returning data ->> $2 as id',
    [name, field],
  )
  return [...new Set(jobs.map(({ id }) => String(id)))]
}

/** Runs the jobs about reports and pages, without sending mail. */
async function work(): Promise<void> {
  const byReport = (ids: readonly string[]) => ids.map((reportId) => ({ reportId }))
  const analyses = byReport(await take('analyze-report', 'reportId'))
  await runAnalyzeReport(analyses, { ...tools, dns: undefined })
  await runRedeemReport(byReport(await take('redeem-report', 'reportId')), app)
  await runFindPages(byReport(await take('find-pages', 'reportId')), tools)
  await at.notify(...(await take('notify-page', 'pageId')))
}

/** Sends the mail about pages; returns its recipients. */
async function mailed(): Promise<string[]> {
  return (await at.send()).flatMap(({ to }) => to).toSorted()
}

/** What the site says about the page of a host, and what each desk was told last. */
async function saidOf(host: string) {
  const pages = await app.rows(
    `select state, type, confirmed_by, decision, shared, reports, url, imitates, first_seen
     from pages where host = $1`,
    [host],
  )
  const reports = await app.rows(
    `select report_id, page_reports.url, seen_at, campaign_id, is_vouched, is_accusing,
       is_supported, page_reports.decision, signs
     from page_reports join pages on pages.id = page_id where host = $1 order by report_id`,
    [host],
  )
  const told = await app.rows(
    `select distinct on (contact) contact, kind, feedback_reports.state
     from page_notices join pages on pages.id = page_id
       join feedback_reports using (report_id)
     where host = $1 and told_as = 'page' and address = contact
       and feedback_reports.state <> 'withdrawn'
     order by contact, feedback_reports.number desc`,
    [host],
  )
  return { pages, reports, told }
}

async function act(kind: MassKind, ids: readonly string[]): Promise<string> {
  const given = { kind, ids, reason: 'a mistake' }
  const outcome = await runAction(startMassAction, given, app, null)
  if (!('done' in outcome)) throw new Error(JSON.stringify(outcome))
  const actionId = outcome.id ?? ''
  while ((await runActOnReports({ actionId }, app)) !== 'done');
  await work()
  return actionId
}

async function undo(actionId: string): Promise<void> {
  expect(await runAction(undoMassAction, { id: actionId }, app, null)).toMatchObject({
    done: 'undoing',
  })
  while ((await runActOnReports({ actionId }, app)) !== 'done');
  await work()
}

const kinds = massKinds.filter((kind) => {
  return 'undo' in massEffects[kind] && /retract|correct|again/.test(kind)
})
/** After these, the page is not one of a phisher. */
const isAgainst = (kind: MassKind) => /retract|correct-(?:spam|marketing|legitimate)/.test(kind)

test.for(kinds)('after %s was undone, a page and its notices stand as before', async (kind) => {
  const host = `login.after-${kind}.com`
  const ids = await reportsOf(host)
  expect(await mailed()).toEqual(desks)
  const before = await saidOf(host)
  expect(before).toMatchObject({
    pages: [{ state: 'confirmed', reports: 3 }],
    reports: [{}, {}, {}],
    told: desks.map((contact) => ({ contact, kind: 'complaint', state: 'sent' })),
  })
  const action = await act(kind, ids)
  const isTakenBack = isAgainst(kind)
  if (isTakenBack) expect(await saidOf(host)).toMatchObject({ pages: [{ state: 'seen' }] })
  // The desks are told that the page is none of a phisher, and then that it is one.
  expect(await mailed()).toEqual(isTakenBack ? desks : [])
  await undo(action)
  expect(await mailed()).toEqual(isTakenBack ? desks : [])
  expect(await saidOf(host)).toEqual(before)
})

test.for(kinds)('notices that wait are neither lost nor doubled by %s', async (kind) => {
  const host = `login.waits-${kind}.com`
  const action = await act(kind, await reportsOf(host))
  if (!isAgainst(kind)) {
    expect((await saidOf(host)).told).toMatchObject([{ state: 'queued' }, { state: 'queued' }])
  }
  await undo(action)
  expect(await mailed()).toEqual(desks)
  expect(await saidOf(host)).toMatchObject({ pages: [{ state: 'confirmed' }] })
})

test('a withdrawal that has not left is withdrawn when the page stands again', async () => {
  const host = 'login.not-left.com'
  const ids = await reportsOf(host)
  expect(await mailed()).toEqual(desks)
  const before = await saidOf(host)
  const action = await act('correct-legitimate', ids)
  await undo(action)
  expect(await mailed()).toEqual([])
  expect(await saidOf(host)).toEqual(before)
})

test.for(['correct-phishing', 'correct-malware'] as const)(
  'a page that %s accused by mistake is accused no longer',
  async (kind) => {
    const host = `login.mistaken-${kind}.com`
    const ids = await reportsOf(host, 'spam')
    expect((await saidOf(host)).pages).toEqual([])
    const action = await act(kind, ids)
    expect(await saidOf(host)).toMatchObject({ pages: [{ state: 'confirmed' }] })
    expect(await mailed()).toEqual(desks)
    await undo(action)
    expect(await saidOf(host)).toMatchObject({ pages: [{ state: 'seen' }], reports: [] })
    const mails = await at.send()
    expect(mails.flatMap(({ to }) => to).toSorted()).toEqual(desks)
    expect(mails.every(({ raw }) => raw.includes('We withdraw our notice'))).toBe(true)
  },
)

test('a report that its reporter restores says again what it said about a page', async () => {
  const host = 'login.own-undo.com'
  const [id = ''] = await reportsOf(host)
  expect(await mailed()).toEqual(desks)
  const before = await saidOf(host)
  await takeReportBack(app, id)
  await work()
  expect(await saidOf(host)).toMatchObject({ pages: [{ state: 'seen', reports: 2 }] })
  expect(await mailed()).toEqual(desks)
  expect(await restoreOwnReport(app, id)).toBe(true)
  await work()
  expect(await saidOf(host)).toEqual({ ...before, told: expect.anything() as unknown })
  expect(await mailed()).toEqual(desks)
})
