import type { App } from '../app.ts'
import { ensureConsumers } from '../db/consumers.ts'
import type { Feedback } from '../db/feedback-reports.ts'
import { withdrawUnsent } from '../db/feedback-waiting.ts'
import {
  listDisowning,
  listFeedbackOf,
  listPageNotices,
  markNoticeFollowed,
  markNoticeQueued,
  type PageNotice,
} from '../db/page-notices.ts'
import { listPageReports, lockPage, type Page } from '../db/pages.ts'
import { listEnabledPartners } from '../db/partners.ts'
import type { Db } from '../db/pool.ts'
import { listReporterEmails } from '../db/reporters.ts'
import { listWithMessages } from '../db/reports.ts'
import { listShadowedAmong } from '../db/shadow-bans.ts'
import { partners } from '../phishing/partners.ts'
import type { Stopper } from '../phishing/stoppers.ts'
import { chooseContact, type OwnAddresses } from '../verdict/choose-contact.ts'
import { knownContacts } from './known-contacts.ts'
import { queueFeedback } from './queue-feedback.ts'

type Needs = Pick<App, 'boss' | 'config'>

/** Of how many reports of a page one is chosen whose message goes with the notices. */
const REPORTS_MAX = 100

/**
 * Queues the notices about a confirmed page that are owed: one for each network, registrar and
 * platform that has none, to its first contact who may get mail. A notice that was withdrawn before
 * it left, or taken back since then, is queued again.
 */
export async function queueNotices(tx: Db, pageId: string, app: Needs, now: Date): Promise<void> {
  const page = await lockPage(tx, pageId)
  if (page?.state !== 'confirmed') return
  const notices = await listPageNotices(tx, pageId)
  const fallen = await listFallen(tx, notices, now)
  const disowning = await listDisowning(tx, page.host, new Date(0))
  const told = new Set((await listMailedPartners(tx, page)).map(stopperOf))
  for (const [stopper, its] of Map.groupBy(notices, stopperOf)) {
    if (its[0]?.role === 'partner' && !told.has(stopper)) continue
    const queued = its.filter(({ state }) => state === 'queued')
    if (queued.some(({ contact }) => !fallen.has(contact))) continue
    const again = queued.filter(({ contact }) => !disowning.has(contact))
    await queueNotice(tx, page, [...again, ...its.filter(isSpare)], app, now)
  }
}

/** Returns the partners who get mail about a confirmed page: once enabled, not about older ones. */
export async function listMailedPartners(
  db: Db,
  { type, confirmedAt }: Pick<Page, 'type' | 'confirmedAt'>,
): Promise<Stopper[]> {
  const enabled = await listEnabledPartners(db)
  return enabled.flatMap(({ key, contact, enabledAt }) => {
    const partner = partners.find((one) => one.key === key)
    if (!partner?.takes.includes(type) || partner.http || contact === null) return []
    if (confirmedAt === null || confirmedAt < enabledAt) return []
    return [{ role: 'partner' as const, name: partner.name, addresses: [contact] }]
  })
}

export function stopperOf({ role, name }: Pick<PageNotice, 'role' | 'name'>): string {
  return `${role} ${name}`
}

function isSpare({ state }: PageNotice): boolean {
  return state === 'spare'
}

/**
 * Up to which number of feedback about its report a notice is repeated after its withdrawal: a
 * reporter who takes a report back and restores it again and again must not flood a desk.
 */
const REPEATED_NUMBER_MAX = 20

/**
 * Returns the contacts whose notices do not stand. A withdrawal that has not left is withdrawn
 * itself, so that its notice stands.
 */
async function listFallen(tx: Db, notices: readonly PageNotice[], now: Date): Promise<Set<string>> {
  const feedbackOf = await listFeedbackOf(tx, notices)
  const fallen = new Set<string>()
  for (const notice of notices) {
    const { contact, reportId, withdrawalNumber: number } = notice
    if (feedbackOf(notice)?.state === 'withdrawn') fallen.add(contact)
    if (reportId === null || number === null) continue
    if (isSent(feedbackOf({ reportId, number }))) {
      if (number < REPEATED_NUMBER_MAX) fallen.add(contact)
    } else {
      await withdrawUnsent(tx, [{ reportId, number }], now)
      await markNoticeFollowed(tx, notice, 'withdrawal', null)
    }
  }
  return fallen
}

function isSent(feedback: Pick<Feedback, 'state'> | undefined): boolean {
  return feedback?.state === 'sent' || feedback?.state === 'bounced'
}

/**
 * Queues a notice for the first of some contacts who may get mail. Returns its address; undefined
 * if there is none, or no report whose message can be shown.
 */
async function queueNotice(
  tx: Db,
  page: Page,
  notices: readonly PageNotice[],
  app: Needs,
  now: Date,
): Promise<string | undefined> {
  const sample = notices.length > 0 ? await findSample(tx, page) : undefined
  if (!sample) return undefined
  const contacts = notices.map(({ contact }) => contact)
  const { byAddress } = await knownContacts(tx, contacts, now)
  const { mailFrom, returnPathDomain: domain, forwardTo } = app.config
  const own: OwnAddresses = { addresses: [mailFrom, ...sample.emails], domain }
  const choice = chooseContact({ contacts }, byAddress, forwardTo, own, page.type)
  if (!('to' in choice)) return undefined
  const queued = await queueOne(tx, sample.reportId, choice.to, 'complaint', app, now)
  if (!queued) return undefined
  await markNoticeQueued(tx, { pageId: page.id, contact: choice.to }, queued, now)
  return choice.to
}

async function queueOne(
  tx: Db,
  reportId: string,
  address: string,
  kind: 'complaint' | 'redeemed',
  app: Pick<App, 'boss'>,
  now: Date,
) {
  const consumers = await ensureConsumers(tx, [{ address, source: 'network' }], now)
  const consumer = consumers.get(address)
  const owed = consumer ? [{ reportId, consumer, kind, recipientRole: 'page' as const }] : []
  const [queued] = await queueFeedback(tx, owed, app, now)
  return queued
}

/**
 * Returns a report whose message goes with the notices: the latest one that leads to exactly the
 * address of the page. Its reporter has not taken it back, and no person of the site called it
 * something else. `emails`: the addresses of the reporters, who are never notified.
 */
async function findSample(
  tx: Db,
  page: Page,
): Promise<{ reportId: string; emails: string[] } | undefined> {
  const reports = (await listPageReports(tx, page.id, REPORTS_MAX)).filter(
    ({ decision, isAccusing }) => decision !== 'other' && (isAccusing || decision !== null),
  )
  const ids = reports.map(({ reportId }) => reportId)
  if (ids.length === 0) return undefined
  const [shadowed, readable, emails] = await Promise.all([
    listShadowedAmong(tx, ids),
    listWithMessages(tx, ids),
    listReporterEmails(tx, [...new Set(reports.map(({ reporterId }) => reporterId))]),
  ])
  const alive = new Set(readable).difference(shadowed)
  const fit = reports.filter(({ reportId }) => alive.has(reportId))
  const best = fit.find(({ url }) => url === page.url) ?? fit[0]
  return best && { reportId: best.reportId, emails: [...emails.values()] }
}

/**
 * Notifies another contact about a page after one that is not responsible or cannot be reached: the
 * next one of the same network, registrar or platform, or else of another one. Returns its address;
 * undefined if there is none, after a partner, or if the page is not confirmed any more.
 */
export async function notifyNextStopper(
  tx: Db,
  { pageId, contact }: Pick<PageNotice, 'pageId' | 'contact'>,
  app: Needs,
  now: Date,
): Promise<string | undefined> {
  const page = await lockPage(tx, pageId)
  if (page?.state !== 'confirmed') return undefined
  const notices = await listPageNotices(tx, pageId)
  const before = notices.find((one) => one.contact === contact)
  if (before?.role === 'partner') return undefined
  const spare = notices.filter((one) => isSpare(one) && one.role !== 'partner')
  const its = spare.filter((one) => before && stopperOf(one) === stopperOf(before))
  const next = await queueNotice(tx, page, its, app, now)
  return next ?? queueNotice(tx, page, spare, app, now)
}

/**
 * Takes back the notices about a page that is not confirmed any more: withdraws those that have not
 * left, and queues one correction for each recipient that got one. Does nothing if the page was
 * confirmed again in the meantime.
 */
export async function takeBackNotices(
  tx: Db,
  pageId: string,
  app: Pick<App, 'boss'>,
  now: Date,
): Promise<void> {
  const page = await lockPage(tx, pageId)
  if (page?.state === 'confirmed') return
  const notices = await listPageNotices(tx, pageId)
  const feedbackOf = await listFeedbackOf(tx, notices)
  for (const notice of notices) {
    const feedback = feedbackOf(notice)
    if (!feedback) continue
    await withdrawUnsent(tx, [feedback], now)
    if (!isSent(feedback) || notice.withdrawalNumber !== null) continue
    const { reportId, address } = feedback
    const queued = await queueOne(tx, reportId, address, 'redeemed', app, now)
    if (queued) await markNoticeFollowed(tx, notice, 'withdrawal', queued.number)
  }
}
