import { type Request, type Response, Router } from 'express'
import type { AnalysisDetails } from '../../db/analyses.ts'
import { findCampaignOf } from '../../db/campaigns.ts'
import { listFeedback } from '../../db/feedback-reports.ts'
import { listEvents } from '../../db/report-events.ts'
import { listReporterEmails } from '../../db/reporters.ts'
import { findRawMessage, findReport, type Report } from '../../db/reports.ts'
import { shownBytes } from '../../mail/text.ts'
import type { ArcReason } from '../../origin/authenticity/arc.ts'
import type { DkimReason } from '../../origin/authenticity/dkim.ts'
import { explainReport } from '../../reports/explain-report.ts'
import type { VerdictSymbol } from '../../verdict/verdict.ts'
import { shownWalk } from '../history/story.ts'
import { sayMeaning } from '../history/symbols.ts'
import { isUuid, sendMessage } from '../pages/render.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

/** A value and its number of occurrences. */
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
export function authenticationRows({ spf, dkim, dmarc, arc }: Authentication): AuthenticationRow[] {
  return [
    spf
      ? row('SPF', spf.domain, spf.result, spfMeanings[spf.result])
      : row('SPF', null, 'unchecked', 'The host that handed over the message is unknown.'),
    ...dkim.map(({ domain, result, aligned, why }) => {
      const whose = aligned
        ? 'The domain is aligned with the author’s domain.'
        : 'The domain is not aligned with the author’s domain.'
      return row('DKIM', domain, result, `${dkimMeanings[why]} ${whose}`)
    }),
    row('DMARC', dmarc.domain, dmarc.result, dmarcMeaning(dmarc)),
    row(
      'ARC',
      arc.seals.map(({ domain }) => domain).join(', ') || null,
      arc.result,
      arcMeanings[arc.why],
    ),
  ]
}

const spfMeanings: Record<NonNullable<Authentication['spf']>['result'], string> = {
  pass: 'The domain authorizes this host to send its mail.',
  fail: 'The domain does not authorize this host to send its mail.',
  softfail: 'The domain says that this host is probably not authorized to send its mail.',
  neutral: 'The domain makes no statement about this host.',
  none: 'The domain has no SPF record.',
  temperror: 'The DNS look-up failed temporarily.',
  permerror: 'The SPF record of the domain is invalid.',
}

const dkimMeanings: Record<DkimReason, string> = {
  sha1: 'It uses SHA-1, which is no longer secure.',
  'unknown-algorithm': 'Its algorithm is unknown.',
  'unknown-version': 'Its version is unknown.',
  'unknown-canonicalization': 'Its canonicalization is unknown.',
  'from-not-covered': 'It does not cover the From field.',
  'key-missing': 'Its key does not exist.',
  'key-not-looked-up': 'Its key could not be looked up.',
  'key-revoked': 'Its key was revoked.',
  malformed: 'It is malformed.',
  unchanged: 'The signed content is unchanged.',
  'body-partly-covered': 'It covers only the beginning of the body.',
  'key-weak': 'Its key is too weak.',
  'not-verifiable': 'It cannot be verified.',
  'body-changed': 'The body was changed after signing.',
  'header-changed': 'The header was changed after signing, or the key is a different one.',
  expired: 'It had expired when the message arrived.',
  'expires-before-creation': 'Its expiry is before its creation.',
  'key-malformed': 'Its key is malformed.',
  'key-of-other-algorithm': 'Its key is not for this algorithm.',
  'key-not-for-mail': 'Its key is not for mail.',
}

const arcMeanings: Record<ArcReason, string> = {
  'no-seal': 'The message has no seal.',
  gaps: 'The chain has gaps.',
  'too-long': 'The chain is too long.',
  'only-own-seal': 'Only the receiver sealed the message, and its Received lines show the same.',
  'key-missing': 'The key of a seal does not exist.',
  'key-not-looked-up': 'The key of a seal could not be looked up.',
  mismatch: 'A seal does not match the message.',
  match: 'All seals match the message.',
  unreadable: 'The chain cannot be read.',
}

const policies = {
  none: 'receivers to take no action',
  quarantine: 'receivers to treat mail that fails as suspicious',
  reject: 'receivers to reject mail that fails',
}

function dmarcMeaning({ result, policy, alignedBy }: Authentication['dmarc']): string {
  const policyWords = policy === null ? '' : ` The domain asks ${policies[policy]}.`
  if (result === 'pass')
    return `The author’s domain is confirmed by ${names(alignedBy)}.${policyWords}`
  if (result === 'fail') return `SPF and DKIM do not confirm the author’s domain.${policyWords}`
  if (result === 'none')
    return 'The author’s domain has no DMARC policy, or there is not exactly one author.'
  return `DMARC could not be checked because a DNS look-up failed.${policyWords}`
}

function names(alignedBy: readonly string[]): string {
  return alignedBy.map((name) => name.toUpperCase()).join(' and ')
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

type Needs = Pick<Site, 'pool'>

const RAW_BYTES_SHOWN = 256 * 1024

/** The page of one report. */
export function adminReportRoutes(site: Needs): Router {
  const router = Router()
  router.get('/:id', (req, res) => sendReport(req, res, site))
  router.get('/:id/message.eml', async (req, res) => {
    const report = await requireReport(req.params.id, site)
    const raw = await findRawMessage(site.pool, report.id)
    if (!raw) throw new ProblemError('not-found', 'The message has been deleted.')
    sendMessage(res, `${report.id}.eml`, raw)
  })
  return router
}

async function requireReport(id: string, site: Needs): Promise<Report> {
  const report = isUuid(id) ? await findReport(site.pool, id) : undefined
  if (!report) throw new ProblemError('not-found', 'Report not found.')
  return report
}

async function sendReport(req: Request<{ id: string }>, res: Response, site: Needs): Promise<void> {
  const report = await requireReport(req.params.id, site)
  const [explanation, events, feedback, emails, raw, campaignId] = await Promise.all([
    explainReport(site.pool, report.id),
    listEvents(site.pool, report.id),
    listFeedback(site.pool, [report.id]),
    listReporterEmails(site.pool, [report.reporterId]),
    findRawMessage(site.pool, report.id),
    findCampaignOf(site.pool, report.id),
  ])
  const analysis = explanation?.analysis
  const authentication = analysis?.details.authentication
  sendAdminPage(req, res, {
    view: 'admin/report',
    title: 'Report',
    data: {
      report,
      reporterEmail: emails.get(report.reporterId),
      explanation,
      analysis,
      found: analysis?.details,
      meaning: (symbol: VerdictSymbol) => sayMeaning(symbol, 'en', 'operator').text,
      walk: analysis && shownWalk(analysis),
      checks: authentication ? authenticationRows(authentication) : undefined,
      events,
      feedback,
      campaignId,
      rawText: raw && shownBytes(raw, RAW_BYTES_SHOWN),
      isRawCut: (raw?.length ?? 0) > RAW_BYTES_SHOWN,
    },
  })
}
