import { Router } from 'express'
import type { AnalysisDetails } from '../../db/analyses.ts'
import { findCampaignOf } from '../../db/campaigns.ts'
import { listFeedback } from '../../db/feedback-reports.ts'
import { listEvents } from '../../db/report-events.ts'
import { listReporterEmails } from '../../db/reporters.ts'
import { findReportOrAlias } from '../../db/report-aliases.ts'
import { findRawMessage, type Report } from '../../db/reports.ts'
import { shownBytes } from '../../mail/text.ts'
import { explainReport } from '../../reports/explain-report.ts'
import { withOutcomes } from '../../reports/own-reports.ts'
import type { VerdictSymbol } from '../../verdict/verdict.ts'
import { shownWalk } from '../history/story.ts'
import { sayMeaning } from '../history/symbols.ts'
import { isUuid, sendMessage } from '../pages/render.ts'
import type { Texts } from '../../texts/messages.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { adminPage, type PageCall } from './page.ts'
import { requireRole } from './require-role.ts'

export type Frequency = { value: string; count: number }

/**
 * Returns the most frequent values, at most `limit`; equally frequent ones stay in input order.
 * `more` is the number of different values left out.
 */
export function mostFrequent(
  values: readonly string[],
  limit: number,
): { lines: Frequency[]; more: number } {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  const all = [...counts].map(([value, count]) => ({ value, count }))
  all.sort((a, b) => b.count - a.count)
  return { lines: all.slice(0, limit), more: Math.max(0, all.length - limit) }
}

type Authentication = NonNullable<AnalysisDetails['authentication']>

/** One row of the table: the check, its domain, the result and an explanation. */
export type AuthenticationRow = {
  check: string
  /** A domain as written by an untrusted sender. */
  domain: string | null
  result: string
  tone: 'good' | 'warn' | 'bad' | ''
  meaning: string
}

/** The authentication results of a message for operators: SPF, DKIM, DMARC and ARC. */
export function authenticationRows(
  { spf, dkim, dmarc, arc }: Authentication,
  texts: Texts,
): AuthenticationRow[] {
  const sealers = arc.seals.map(({ domain }) => domain).join(', ')
  return [
    spf
      ? row('SPF', spf.domain, spf.result, texts(`authentication.spf.${spf.result}`))
      : row('SPF', null, 'unchecked', texts('authentication.spf.unchecked')),
    ...dkim.map(({ domain, result, aligned, why }) => {
      const whose = texts(aligned ? 'authentication.aligned' : 'authentication.notAligned')
      return row('DKIM', domain, result, `${texts(`authentication.dkim.${why}`)} ${whose}`)
    }),
    row('DMARC', dmarc.domain, dmarc.result, dmarcMeaning(dmarc, texts)),
    row('ARC', sealers || null, arc.result, texts(`authentication.arc.${arc.why}`)),
  ]
}

function dmarcMeaning(
  { result, policy, alignedBy }: Authentication['dmarc'],
  texts: Texts,
): string {
  const names = alignedBy.map((name) => name.toUpperCase()).join(', ')
  const isKnown = result === 'pass' || result === 'fail' || result === 'none'
  const meaning =
    result === 'pass'
      ? texts('authentication.dmarc.pass', { names })
      : texts(`authentication.dmarc.${isKnown ? result : 'temperror'}`)
  if (policy === null || result === 'none') return meaning
  return `${meaning} ${texts(`authentication.policies.${policy}`)}`
}

function row(
  check: string,
  domain: string | null,
  result: string,
  meaning: string,
): AuthenticationRow {
  return { check, domain, result, tone: tones[result] ?? '', meaning }
}

const tones: Readonly<Record<string, AuthenticationRow['tone']>> = {
  pass: 'good',
  fail: 'bad',
  softfail: 'warn',
  policy: 'warn',
  permerror: 'warn',
}

const RAW_BYTES_SHOWN = 256 * 1024

export function adminReportRoutes(site: Site): Router {
  const router = Router()
  router.use(
    adminPage(site, {
      at: '/:id',
      view: 'admin/report',
      title: 'adminReport.title',
      data: (call) => describeReport(call, site),
    }),
  )
  router.get('/:id/message.eml', requireRole(site, 'analyst'), async (req, res) => {
    const report = await requireReport(req.params['id'], site)
    const raw = await findRawMessage(site.pool, report.id)
    if (!raw) throw new ProblemError('not-found', 'The message has been deleted.')
    await sendMessage(res, `${report.id}.eml`, raw, 'other')
  })
  return router
}

async function requireReport(id: unknown, { pool }: Pick<Site, 'pool'>): Promise<Report> {
  const report = isUuid(id) ? await findReportOrAlias(pool, id) : undefined
  if (!report) throw new ProblemError('not-found', 'Report not found.')
  return report
}

async function describeReport({ req, language, texts }: PageCall, site: Pick<Site, 'pool'>) {
  const report = await requireReport(req.params['id'], site)
  const [explanation, events, feedback, emails, raw, campaignId, [shown]] = await Promise.all([
    explainReport(site.pool, report.id),
    listEvents(site.pool, report.id),
    listFeedback(site.pool, [report.id]),
    listReporterEmails(site.pool, [report.reporterId]),
    findRawMessage(site.pool, report.id),
    findCampaignOf(site.pool, report.id),
    withOutcomes(site.pool, [report]),
  ])
  const analysis = explanation?.analysis
  const authentication = analysis?.details.authentication
  return {
    report,
    reporterEmail: emails.get(report.reporterId),
    explanation,
    analysis,
    found: analysis?.details,
    meaning: (symbol: VerdictSymbol) => sayMeaning(symbol, language, 'operator'),
    walk: analysis && shownWalk(analysis),
    checks: authentication ? authenticationRows(authentication, texts) : undefined,
    events,
    feedback,
    campaignId,
    shown,
    rawText: raw && shownBytes(raw, RAW_BYTES_SHOWN),
    isRawCut: (raw?.length ?? 0) > RAW_BYTES_SHOWN,
  }
}
