import { findAnalysis, type KeptAnalysis, listFacts } from '../db/analyses.ts'
import { findCampaignOf, listMemberIds } from '../db/campaigns.ts'
import type { Db } from '../db/pool.ts'
import { findReport, listReportsByIds, type Report } from '../db/reports.ts'
import { complaintAgain } from '../judging/judge-stored.ts'
import { actingRules, shippedMeanings } from '../judging/rule-versions.ts'
import { type Complaint, doubtOf, type Shortfall, shortfallOf } from '../verdict/complaint.ts'
import type { Facts } from '../verdict/facts/fact.ts'
import { factDefinitions, karmaIn, unpackFacts } from '../verdict/facts/facts.ts'
import { compileRules, type RuleBook } from '../verdict/rules/rule-book.ts'
import type { Estimate } from '../verdict/model/model.ts'
import { decide, type Verdict, type VerdictClass } from '../verdict/verdict.ts'

type Result = {
  verdict: VerdictClass
  score: number
  /** Minimum score of a complaint that is forwarded. Less is required without a model. */
  scoreMin: number
  isForwardable: boolean
}

/** A symbol of the verdict, and the result without it if that would be another one. */
export type ExplainedSymbol = Verdict['symbols'][number] & { without: Result | undefined }

/** What the reporter did before that counts for the complaint. */
type HistoryCode = 'confirmed' | 'correspondent' | 'advised' | 'unsubscribed'

type OtherReport = Pick<Report, 'id' | 'reporterId' | 'kind' | 'state'> & { karma: number }

export type Explanation = {
  report: Report
  analysis: KeptAnalysis
  complaint: Complaint
  /** What the complaint lacks to be forwarded. */
  shortfall: Shortfall | undefined
  history: readonly HistoryCode[]
  /** Karma of the reporter when the report was judged, 0 to 1. */
  karma: number
  symbols: readonly ExplainedSymbol[]
  /** The newest other reports of the campaign. */
  others: readonly OtherReport[]
  /** The result of the active rules on the stored facts, with the stored output of the model. */
  today: Result & { rules: number }
}

const OTHERS_MAX = 20

/** Explains a report from its stored facts; undefined if it does not exist or is not analyzed. */
export async function explainReport(db: Db, id: string): Promise<Explanation | undefined> {
  const [report, analysis, campaignId] = await Promise.all([
    findReport(db, id),
    findAnalysis(db, id),
    findCampaignOf(db, id),
  ])
  if (!report || !analysis) return undefined
  const page = { from: 'newest', limit: OTHERS_MAX + 1 } as const
  const members = campaignId === undefined ? [] : await listMemberIds(db, campaignId, page)
  const otherIds = members.filter((one) => one !== id).slice(0, OTHERS_MAX)
  const [known, others, acting] = await Promise.all([
    listFacts(db, [id, ...otherIds]),
    listReportsByIds(db, otherIds),
    actingRules(db),
  ])
  const factsOf = new Map(known.map((one) => [one.id, unpackFacts(one.facts)]))
  const facts = factsOf.get(id) ?? {}
  const { verdict, complaint } = analysis.details
  const compiled = compileRules(acting.content, factDefinitions)
  const rules = 'faults' in compiled ? [] : runAgain(compiled.rules, facts, verdict)
  const resultOf = (symbols: Verdict['symbols'], estimate = verdict.estimate ?? null) =>
    judged({ facts, complaint }, symbols, estimate)
  return {
    report,
    analysis,
    complaint,
    shortfall: shortfallOf(complaint, { verdict, facts }),
    history: historyOf(complaint),
    karma: karmaIn(facts),
    symbols: explained(verdict, resultOf),
    others: others.map(({ id: otherId, reporterId, kind, state }) => {
      return { id: otherId, reporterId, kind, state, karma: karmaIn(factsOf.get(otherId) ?? {}) }
    }),
    today: { ...resultOf(rules), rules: acting.version },
  }
}

/**
 * Runs rules on stored facts. The texts of a message are not stored with them, so the symbols about
 * words are those of the verdict, with the weights that their rules have now.
 */
function runAgain(book: RuleBook, facts: Facts, { symbols }: Verdict): Verdict['symbols'] {
  const weights = new Map(
    book.rules.flatMap((rule) => (rule.isEnabled ? [[rule.symbol, rule.weight] as const] : [])),
  )
  const words = symbols.flatMap((symbol) => {
    const weight = symbol.basis === 'words' ? weights.get(symbol.name) : undefined
    return weight === undefined ? [] : [{ ...symbol, weight }]
  })
  return [...book.run(facts).filter(({ basis }) => basis !== 'words'), ...words]
}

/** Judges facts with some symbols; if `estimate` is null, as if no model were active. */
function judged(
  { facts, complaint }: { facts: Facts; complaint: Complaint },
  symbols: Verdict['symbols'],
  estimate: Estimate | null,
): Result {
  const verdict = decide({ facts, symbols, estimate: estimate ?? undefined })
  const its = complaintAgain(complaint, verdict, facts)
  const isForwardable = its.kind !== 'not-spam' && doubtOf(its) === undefined
  return { verdict: verdict.class, score: verdict.score, scoreMin: its.scoreMin, isForwardable }
}

function historyOf({ isConfirmed, isCorrespondent, before }: Complaint): HistoryCode[] {
  return [
    ...(isConfirmed ? ['confirmed' as const] : []),
    ...(isCorrespondent ? ['correspondent' as const] : []),
    ...(before === 'advised' || before === 'unsubscribed' ? [before] : []),
  ]
}

function explained(
  verdict: Verdict,
  resultOf: (symbols: Verdict['symbols'], estimate?: Estimate | null) => Result,
): ExplainedSymbol[] {
  const isModel = ({ basis }: Verdict['symbols'][number]) => basis === 'model'
  const rules = verdict.symbols.filter((symbol) => !isModel(symbol))
  const actual = resultOf(rules)
  return verdict.symbols.map((symbol) => {
    const others = rules.filter((one) => one !== symbol)
    const without = isModel(symbol) ? resultOf(rules, null) : resultOf(others)
    const isSame =
      without.verdict === actual.verdict && without.isForwardable === actual.isForwardable
    const meaning = symbol.meaning ?? shippedMeanings().get(symbol.name)
    return { ...symbol, ...(meaning && { meaning }), without: isSame ? undefined : without }
  })
}
