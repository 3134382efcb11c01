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
/** Mail that was asked for once is complained about more easily than mail nobody asked for. */
const MARKETING = 0.3
/** The word of the reporter alone: without it nothing would ever become known. */
const WORD_ALONE = 0.5

/**
 * Which way a report leans: as its reporter says, in full when the verdict says the same, by half
 * when it does not know. Where they contradict each other nobody is accused or praised.
 */
export function leaningOf({
  reportedAs,
  verdict,
}: Pick<ReportEvidence, 'reportedAs' | 'verdict'>): Leaning {
  const isPraise = reportedAs === 'not-spam'
  switch (verdict.class) {
    case 'undecided':
      return isPraise ? { good: WORD_ALONE, bad: 0 } : { good: 0, bad: WORD_ALONE }
    case 'marketing':
      return isPraise ? { good: 1, bad: 0 } : { good: 0, bad: MARKETING }
    case 'legitimate':
      return isPraise ? { good: 1, bad: 0 } : nothing
    case 'spam':
    case 'phishing':
    case 'malware':
      return isPraise ? nothing : { good: 0, bad: 1 }
  }
}

/** How a report speaks of its campaign; undefined where it leans too little to be a witness. */
export function witnessSideOf(report: Pick<ReportEvidence, 'reportedAs' | 'verdict'>) {
  const { good, bad } = leaningOf(report)
  if (bad >= WORD_ALONE) return 'bad'
  return good >= WORD_ALONE ? 'good' : undefined
}
