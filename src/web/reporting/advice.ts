import { Router } from 'express'
import { findUnsubscribe, type UnsubscribeState } from '../../db/advices.ts'
import type { KeptAnalysis } from '../../db/analyses.ts'
import type { Db } from '../../db/pool.ts'
import { findReport, type Report } from '../../db/reports.ts'
import { findAdvice, unsubscribeWays, type UnsubscribeWays } from '../../letters/advice-letters.ts'
import { requestUnsubscribe } from '../../marketers/unsubscribe-reporter.ts'
import { oneClickLink } from '../../verdict/advice.ts'
import type { AdviceLanguage, Marketer } from '../../verdict/marketers/marketer.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { isUuid } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'

export type ShownAdvice =
  | { kind: 'none' }
  | {
      kind: 'known' | 'cautious'
      /** The name of the marketer, or the signing domain. */
      name: string
      by: 'signature' | 'range'
      proof: string
      declared: { text: string; language: AdviceLanguage } | undefined
      website: string | null
      ways: UnsubscribeWays
      /** The host of the one-click request; absent if it is not allowed or was already sent. */
      clickHost: string | undefined
      asked: UnsubscribeState | undefined
    }

/** Returns the advice to show; undefined if the message is not spam or the report is retracted. */
export async function findShownAdvice(
  db: Db,
  { report, analysis, language, now }: AdviceQuestion,
): Promise<ShownAdvice | undefined> {
  if (!analysis || report.kind === 'not-spam' || report.state === 'retracted') return undefined
  const { details } = analysis
  const { advice, marketer } = await findAdvice(db, report, details)
  const isMessage = details.kind === 'message' && details.verdict.class !== 'legitimate'
  if (!advice) return isMessage ? { kind: 'none' } : undefined
  const request = await findUnsubscribe(db, report.id)
  const link = oneClickLink(details, advice, { receivedAt: report.receivedAt, now })
  const { by, proof } =
    advice.kind === 'known' ? advice.marketer : { by: 'signature' as const, proof: advice.signer }
  return {
    kind: advice.kind,
    name: marketer?.name ?? proof,
    by,
    proof,
    declared: marketer && declaredIn(marketer, language),
    website: marketer?.website ?? null,
    ways: unsubscribeWays(details.unsubscribe),
    clickHost: link === undefined || request ? undefined : new URL(link).hostname,
    asked: request?.state,
  }
}

/** The report with its analysis, the language of its reader, and the present time. */
export type AdviceQuestion = {
  report: Report
  analysis: KeptAnalysis | undefined
  language: AdviceLanguage
  now: Date
}

function declaredIn({ advice }: Marketer, language: AdviceLanguage) {
  const its = ([language, 'en', 'fr', 'ru'] as const).find((one) => advice[one] !== undefined)
  return its && { text: advice[its] ?? '', language: its }
}

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config'> & FormReader

/** The action on advice: send an unsubscribe request. */
export function adviceRoutes(site: Needs): Router {
  const router = Router()
  router.post('/reports/:id/unsubscribe', async (req, res) => {
    await readShortForm(req, res, site)
    const reporter = requireReporter(req)
    const { id } = req.params
    const report = isUuid(id) ? await findReport(site.pool, id) : undefined
    if (report?.reporterId !== reporter.id) {
      throw new ProblemError('not-found', 'There is no such report, or it is not yours.')
    }
    await requestUnsubscribe(site, report)
    res.redirect(303, `/reports/${report.id}#unsubscribe`)
  })
  return router
}
