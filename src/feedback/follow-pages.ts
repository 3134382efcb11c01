import type { App } from '../app.ts'
import { feedbackName, listFeedback } from '../db/feedback-reports.ts'
import {
  type HostLook,
  listOpenNotices,
  listPagesToAsk,
  listTimesOfPage,
  type OpenNotice,
  type PageEnding,
  type PageToAsk,
  upsertHostLooks,
  upsertPageEndings,
} from '../db/page-endings.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { parseIp } from '../mail/ip.ts'
import { askableHost } from '../phishing/askable-host.ts'
import { afterNotice, noReports, withReports } from '../verdict/after-notice.ts'
import type { Resolve } from '../world.ts'
import { followedSince } from './did-it-stop.ts'

type Needs = Pick<App, 'pool' | 'clock' | 'config'> & {
  /** Undefined if this installation asks no DNS server. */
  dns?: { resolve: Resolve } | undefined
}

/** Age of a notice that is looked at: by then, it is sent. */
const SETTLED_MS = DAY_MS
const NOTICES_AT_ONCE = 500
/** Number of the latest reports of a page that are counted. */
const REPORTS_MAX = 400
/** How long after a notice the host of a page is looked up, and how often. */
const ASKED_MS = 60 * DAY_MS
const AGAIN_MS = 12 * HOUR_MS
/** Number of hosts that are looked up in a run, of which each costs two queries. */
const HOSTS_AT_ONCE = 100

/**
 * Counts the reports of pages around the notices about them, and looks up whether their hosts still
 * have an address. Never asks about a host that may identify a recipient.
 */
export async function runFollowPages(app: Needs): Promise<void> {
  const now = app.clock()
  const to = new Date(now.getTime() - SETTLED_MS)
  const bounds = { from: followedSince(app.config, now), to, limit: NOTICES_AT_ONCE }
  const endings = await endingsOf(await listOpenNotices(app.pool, bounds), app)
  await upsertPageEndings(app.pool, endings, now)
  const { dns } = app
  if (!dns) return
  const pages = await listPagesToAsk(app.pool, {
    noticedSince: new Date(now.getTime() - ASKED_MS),
    askedBefore: new Date(now.getTime() - AGAIN_MS),
    limit: HOSTS_AT_ONCE,
  })
  const looks: HostLook[] = []
  for (const page of pages) looks.push(await lookAtHost(page, dns.resolve, now))
  await upsertHostLooks(app.pool, looks)
}

async function endingsOf(
  notices: readonly OpenNotice[],
  { pool }: Pick<Needs, 'pool'>,
): Promise<PageEnding[]> {
  if (notices.length === 0) return []
  const feedback = await listFeedback(pool, [...new Set(notices.map((one) => one.reportId))])
  const mailOf = new Map(feedback.map((one) => [feedbackName(one), one]))
  const endings: PageEnding[] = []
  for (const { pageId, contact, reportId, number } of notices) {
    const mail = mailOf.get(feedbackName({ reportId, number }))
    if (mail?.state !== 'sent' || mail.finishedAt === null) continue
    const times = await listTimesOfPage(pool, pageId, REPORTS_MAX)
    const [lastAt] = times
    if (!lastAt) continue
    const { finishedAt: noticedAt, consumerId } = mail
    const seen = afterNotice(withReports(noReports(), times), noticedAt)
    endings.push({ pageId, contact, consumerId, reportId, noticedAt, lastAt, ...seen })
  }
  return endings
}

/** Looks up the host of a page; one that may not be asked about counts as having an address. */
async function lookAtHost(page: PageToAsk, resolve: Resolve, askedAt: Date): Promise<HostLook> {
  const { pageId, host, shared, goneAt, misses } = page
  const isAskable = !parseIp(host) && askableHost(host, () => shared) === host
  if (!isAskable) return { pageId, askedAt, goneAt: null, misses: 0 }
  const answers = await Promise.all([resolve(host, 'A'), resolve(host, 'AAAA')])
  if (answers.some(({ is }) => is === 'found')) return { pageId, askedAt, goneAt: null, misses: 0 }
  // A server that does not answer says nothing.
  if (answers.some(({ is }) => is === 'unknown')) return { pageId, askedAt, goneAt, misses }
  return { pageId, askedAt, goneAt: goneAt ?? askedAt, misses: misses + 1 }
}
