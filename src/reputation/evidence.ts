import type { Subject } from './subject.ts'

/** What a report says for or against each of the subjects of its message; amounts are not karma. */
export type Leaning = { good: number; bad: number }

/** A report as evidence. */
export type ReportEvidence = {
  reportId: string
  reporterId: string
  /** Of the reporter when the report was judged, 0 to 1: see `readKarmas`. */
  karma: number
  /** What the reporter says it is. */
  reportedAs: 'spam' | 'phishing' | 'not-spam'
  /** The class of the verdict, and how sure that is, 0 to 1. */
  verdict: { class: VerdictWord; confidence: number }
  campaignId: string | undefined
  /** With the autonomous system, where it is known. */
  subjects: readonly Subject[]
  /** When it was received. */
  at: Date
}

/** The classes of `verdict/verdict.ts`. */
export type VerdictWord = 'spam' | 'phishing' | 'malware' | 'marketing' | 'legitimate' | 'undecided'

const nothing: Leaning = { good: 0, bad: 0 }
/** Mail that was asked for once, and mail that nobody asked for. */
const MARKETING = 0.3

/**
 * Which way a report leans. Where the reporter and the verdict contradict each other it says
 * nothing, and nor does what is undecided: in doubt nobody is accused or praised.
 */
export function leaningOf({
  reportedAs,
  verdict,
}: Pick<ReportEvidence, 'reportedAs' | 'verdict'>): Leaning {
  const isWanted = verdict.class === 'legitimate' || verdict.class === 'marketing'
  if (reportedAs === 'not-spam') return isWanted ? { good: 1, bad: 0 } : nothing
  if (verdict.class === 'marketing') return { good: 0, bad: MARKETING }
  const isBad = ['spam', 'phishing', 'malware'].includes(verdict.class)
  return isBad ? { good: 0, bad: 1 } : nothing
}
