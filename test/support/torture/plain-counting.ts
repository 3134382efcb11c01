import { type Analysis, analyzeMessage } from '../../../src/pieces/analyze.ts'
import {
  campaignKeys,
  type Fingerprints,
  isSameCampaign,
} from '../../../src/pieces/fingerprints.ts'
import type { Shingle } from '../../../src/pieces/shingles/packed-shingles.ts'
import { halvesOf, pairKey } from '../../../src/counting/keys.ts'
import type { Judged, KeptCampaign, KeptFacts, KeptReport } from './kept-facts.ts'
import { originConfidenceMin } from './line.ts'
import type { AcceptedByApi, Ledger } from './reporters.ts'
import { asnOf, countryOf } from './written-mail.ts'
import type { Increment } from '../increments.ts'
import { withLater } from '../later-shingles.ts'

/**
 * The expected counts of the accepted reports, computed from the bytes that their reporters sent.
 */
export type PlainCounting = {
  increments: Increment[]
  /** The fingerprints of the message of each analyzed report. */
  fingerprints: Map<string, Fingerprints>
}

/**
 * Counts in the simplest way. Only times come from the database: when a report was received,
 * whether it was analyzed when it was retracted, and the ids of campaigns.
 */
export async function countPlainly(ledger: Ledger, facts: KeptFacts): Promise<PlainCounting> {
  const counting: PlainCounting = { increments: [], fingerprints: new Map() }
  for (const told of ledger.told.values()) {
    const report = facts.reports.get(told.id)
    const analyzed = facts.analyzed.get(told.id)
    const judged = facts.judged.get(told.id)
    if (report && analyzed)
      await countOne({ told, report, analyzed, judged }, ledger, facts, counting)
  }
  return counting
}

type One = {
  told: AcceptedByApi
  report: KeptReport
  analyzed: readonly Date[]
  judged: Judged | undefined
}

async function countOne(
  { told, report, analyzed, judged }: One,
  ledger: Ledger,
  facts: KeptFacts,
  { increments, fingerprints }: PlainCounting,
): Promise<void> {
  const analysis = await analyzeLast({ told, analyzed, judged }, ledger)
  fingerprints.set(told.id, analysis.fingerprints)
  const retractedAt = facts.retractedAt.get(told.id)
  const campaignId =
    retractedAt === undefined
      ? facts.counted.get(told.id)
      : campaignOf(analysis.fingerprints, facts.campaigns)
  const originIp = isSure(analysis) ? (analysis.origin?.ip ?? '') : undefined
  const shingles = withLater(analysis.shingles, {
    reporter: told.account.id,
    'origin-as': originIp === undefined ? undefined : asnOf(originIp),
    campaign: campaignId ?? undefined,
    'origin-country': originIp === undefined ? undefined : countryOf(originIp),
  })
  const seenAs = { ...amountsOf(told, judged?.verdict), at: report.receivedAt }
  const amounts = retractedAt ? { redeemed: 1, at: retractedAt } : seenAs
  for (const shingle of shingles) increments.push(incrementOf(shingle, amounts))
}

/** Whether an origin has the confidence that the instance requires. */
function isSure({ origin }: Analysis): boolean {
  return origin !== null && origin.confidence >= originConfidenceMin
}

/**
 * Analyzes a message with the relays that the reporter had named when the report was last analyzed.
 * If the reporter may have been naming a relay at that time, the origin shows whether it was known.
 */
async function analyzeLast(
  { told, analyzed, judged }: Omit<One, 'report'>,
  { relays, clockErrorMs }: Ledger,
): Promise<Analysis> {
  const own = relays.filter(({ account }) => account === told.account)
  const last = Number(analyzed.at(-1))
  // With wrong clocks, the latest time may not be that of the last analysis.
  const first = clockErrorMs > 0 ? Number(analyzed[0]) : last
  const isKnown = own.filter(({ sinceMs }) => sinceMs[1] <= first - clockErrorMs).length
  const mayBeKnown = own.filter(({ sinceMs }) => sinceMs[0] <= last + clockErrorMs).length
  for (let known = mayBeKnown; ; known--) {
    const cidrs = own.slice(0, known).map(({ cidr }) => cidr)
    const analysis = await analyze(told, cidrs)
    if (known <= isKnown || isOrigin(analysis, judged)) return analysis
  }
}

function isOrigin({ origin }: Analysis, judged: Judged | undefined): boolean {
  const isNear = Math.abs((origin?.confidence ?? 0) - (judged?.confidence ?? 0)) < 0.001
  return (origin?.ip ?? null) === (judged?.originIp ?? null) && isNear
}

async function analyze(
  { raw, account }: AcceptedByApi,
  trustedRelays: readonly string[],
): Promise<Analysis> {
  const analysis = await analyzeMessage(raw, {
    trustedRelays,
    learnedRelays: [],
    reporterAddresses: [account.email],
    ignoreStamps: false,
    originConfidenceMin,
  })
  if (analysis.submitter) throw new Error('The autonomous system of a submitter is not looked up.')
  return analysis
}

/**
 * Returns the amounts that a report counts as: the complaint by its kind, and the verdict if it is
 * certain.
 */
function amountsOf({ kind }: AcceptedByApi, verdict: string | undefined): Partial<Increment> {
  const complaint = kind === 'not-spam' ? {} : { complaint: 1 }
  if (verdict === 'legitimate') return { ...complaint, ham: 1 }
  const isUnwanted = ['spam', 'phishing', 'malware'].includes(verdict ?? '')
  return isUnwanted ? { ...complaint, spam: 1 } : complaint
}

type Amounts = Partial<Increment> & { at: Date }

function incrementOf({ type, hash, of }: Shingle, amounts: Amounts): Increment {
  const own = BigInt(`0x${hash}`)
  const base = { prefix: 'reports' as const, ...amounts }
  if (of === undefined) return { ...base, shingle: own }
  const { hi, lo } = pairKey(type, halvesOf(BigInt(`0x${of}`)))
  const shingle = (BigInt(hi) << 32n) | BigInt(lo)
  // A redemption counts no uniques.
  return amounts.redeemed ? { ...base, shingle } : { ...base, shingle, unique: own }
}

/** Returns the oldest campaign that matches a message. */
function campaignOf(
  fingerprints: Fingerprints,
  campaigns: readonly KeptCampaign[],
): string | undefined {
  const keys = new Set(campaignKeys(fingerprints))
  return campaigns.find(
    (campaign) =>
      campaignKeys(campaign.fingerprints).some((key) => keys.has(key)) &&
      isSameCampaign(campaign.fingerprints, fingerprints),
  )?.id
}
