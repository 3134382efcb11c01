import type { KeptAnalysis } from '../../db/analyses.ts'
import type { Db } from '../../db/pool.ts'
import type { Report } from '../../db/reports.ts'
import { findUnsubscribe, type UnsubscribeState } from '../../db/unsubscribe-requests.ts'
import { findAdvice } from '../../letters/advice/find-advice.ts'
import { type UnsubscribeWays, unsubscribeWays } from '../../letters/advice/unsubscribe-ways.ts'
import { oneClickLink } from '../../verdict/advice.ts'
import type { AdviceLanguage, Marketer } from '../../verdict/marketers/marketer.ts'

/** What the page of a report says of unsubscribing. */
export type ShownAdvice =
  | { kind: 'none' }
  | {
      kind: 'known' | 'cautious'
      /** Of the marketer, or the signing domain. */
      name: string
      by: 'signature' | 'range'
      proof: string
      declared: { text: string; language: AdviceLanguage } | undefined
      website: string | null
      ways: UnsubscribeWays
      /** The one that one click would ask; absent where it may not be done, or was done. */
      clickHost: string | undefined
      asked: UnsubscribeState | undefined
    }

/** What to show; undefined where nothing is to be said: it is no spam, or was taken back. */
export async function shownAdvice(
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

/** About which report, as whom to answer. */
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
