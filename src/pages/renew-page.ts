import type { WorkApp } from '../app.ts'
import { listCampaignDecisions } from '../db/campaign-decisions.ts'
import { findWitnesses } from '../db/campaigns.ts'
import { findExempted } from '../db/listings.ts'
import { listFeedbackOf, listPageNotices } from '../db/page-notices.ts'
import {
  countPageReports,
  listPageReports,
  lockPage,
  type Page,
  type PageReport,
  removePage,
  updatePage,
} from '../db/pages.ts'
import type { Db } from '../db/pool.ts'
import { DAY_MS } from '../durations.ts'
import { accusable } from '../phishing/accusable.ts'
import { findConfirmation, type PageFinding } from '../phishing/page-gate.ts'
import { send } from '../queue/boss.ts'
import { ownNamesOf } from '../verdict/lists/spare.ts'
import { unpackWitnesses } from '../verdict/reputation/karma.ts'
import { isDangerous } from '../verdict/verdict.ts'
import { uuidTime } from '../world.ts'
import { notifyPage } from './queues.ts'

type Needs = Pick<WorkApp, 'boss' | 'clock' | 'config' | 'log'>

/** Maximum number of reports, the latest, that decide about a page. */
const WITNESSES_MAX = 200

/**
 * Decides again about a page, by its reports and the decisions of operators. A page that no report
 * leads to any longer is removed, unless it was ever confirmed or a person decided about it.
 */
export async function renewPage(tx: Db, id: string, app: Needs): Promise<void> {
  const page = await lockPage(tx, id)
  if (!page) return
  const now = app.clock()
  const rows = await listPageReports(tx, id, WITNESSES_MAX)
  if (rows.length === 0 && page.confirmedAt === null && page.decision === null) {
    return removePage(tx, id)
  }
  const finding = await findingOf(tx, rows)
  const reports = rows.length < WITNESSES_MAX ? rows.length : await countPageReports(tx, id)
  const url = finding.sharedUrl ?? rows[0]?.url ?? `https://${page.key}`
  const shared = finding.sharedUrl !== undefined
  const isSpared = 'spared' in accusable(new URL(url), ownNamesOf(app.config))
  const isExempt = (await findExempted(tx, namesOf(page.host), now)).size > 0
  const after = decided({ ...page, url, shared, reports }, finding, { isSpared, isExempt }, now)
  await updatePage(tx, after)
  if (page.state !== 'confirmed' && after.state === 'confirmed') pageConfirmed(after, app)
  // A report that was taken back or changed takes its notices along; others take their place.
  const isLess =
    page.state === 'confirmed' && (after.reports < page.reports || (await hasFallen(tx, id)))
  // The address that several reporters share may go to partners.
  const isNewlyShared = after.state === 'confirmed' && after.shared && !page.shared
  if (page.state !== after.state || isLess || isNewlyShared)
    await send(app.boss, notifyPage, [{ pageId: id }], tx)
}

/** Whether a notice about a page was withdrawn before it left. */
async function hasFallen(tx: Db, id: string): Promise<boolean> {
  const notices = await listPageNotices(tx, id)
  const feedbackOf = await listFeedbackOf(tx, notices)
  return notices.some((one) => feedbackOf(one)?.state === 'withdrawn')
}

function pageConfirmed({ id, confirmedBy }: Page, { log }: Needs): void {
  log.info({ pageId: id, confirmedBy }, 'A page is confirmed as that of a phisher.')
}

/** What operators say about the page itself holds; the reports decide otherwise. */
function decided(
  page: Page,
  { confirmedBy: byReports, type: said }: PageFinding,
  { isSpared, isExempt }: { isSpared: boolean; isExempt: boolean },
  now: Date,
): Page {
  const { decision } = page
  if (decision === 'cleared' || isExempt) {
    return { ...page, state: 'cleared', clearedAt: page.clearedAt ?? now, confirmedBy: null }
  }
  const confirmedBy = decision === null ? byReports : 'person'
  if (confirmedBy === undefined || isSpared) {
    return { ...page, state: 'seen', clearedAt: null, confirmedBy: null }
  }
  const confirmedAt = page.state === 'confirmed' ? page.confirmedAt : now
  const type = decision ?? said ?? page.type
  return { ...page, type, state: 'confirmed', clearedAt: null, confirmedBy, confirmedAt }
}

async function findingOf(tx: Db, rows: readonly PageReport[]): Promise<PageFinding> {
  const campaignIds = [...new Set(rows.flatMap(({ campaignId }) => campaignId ?? []))]
  const decisions = await listCampaignDecisions(tx, campaignIds)
  const saidOf = new Map(
    decisions.flatMap(({ campaignId, says }): [string, PageReport['decision']][] => {
      if (says === 'resolved') return []
      return [[campaignId, isDangerous(says) ? says : 'other']]
    }),
  )
  const witnesses = (await findWitnesses(tx, campaignIds)).flatMap(({ content }) =>
    unpackWitnesses(content),
  )
  const isDefended = witnesses.some(({ side, isProven }) => side === 'good' && isProven)
  return findConfirmation(
    rows.map((row) => ({
      ...row,
      signUpDay: Math.floor(uuidTime(row.reporterId).getTime() / DAY_MS),
      decision: row.decision ?? saidOf.get(row.campaignId ?? '') ?? null,
    })),
    { isDefended },
  )
}

/** A host and the domains above it, each of which may be exempted from lists. */
export function namesOf(host: string): string[] {
  const labels = host.split('.')
  return labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'))
}
