import {
  campaignKeys,
  type Fingerprints,
  isSameCampaign,
} from '../../../src/pieces/fingerprints.ts'
import { slotOf } from '../../../src/counting/keys.ts'
import type { Pool } from '../../../src/db/pool.ts'
import { compareCounters, type Comparison } from './compare-counters.ts'
import { CAMPAIGNS_PER_KEY_MAX } from '../../../src/reports/join-campaigns.ts'
import { type KeptCampaign, type KeptFacts, readFacts } from './kept-facts.ts'
import { countPlainly } from './plain-counting.ts'
import type { Ledger } from './reporters.ts'

/** The numbers of compared things, and the faults. */
export type Examined = {
  accepted: number
  retracted: number
  /** Number of reports that were retracted before they were counted. */
  neverCounted: number
  analyzedTwice: number
  campaigns: number
  compared: Comparison['compared']
  faults: string[]
}

/** Compares the final content of the database with the answers that the reporters received. */
export async function examine(pool: Pool, ledger: Ledger, startedAt: Date): Promise<Examined> {
  const facts = await readFacts(pool)
  const counting = await countPlainly(ledger, facts)
  const isOneSlot = slotOf(startedAt) === slotOf(new Date())
  const { compared, faults } = await compareCounters(pool, counting, { isOneSlot })
  const told = [...ledger.told.values()]
  const retracted = told.filter(({ isRetracted }) => isRetracted)
  return {
    accepted: told.length,
    retracted: retracted.length,
    neverCounted: retracted.filter(({ id }) => !facts.analyzed.has(id)).length,
    analyzedTwice: [...facts.analyzed.values()].filter((times) => times.length > 1).length,
    campaigns: facts.campaigns.length,
    compared,
    faults: [
      ...facts.dead.map((reason) => `a job died: ${reason}`),
      ...reportFaults(ledger, facts),
      ...campaignFaults(facts, counting.fingerprints),
      ...faults,
    ],
  }
}

/**
 * Checks that every report that a reporter was told about exists as it was sent, and that there are
 * no others.
 */
function reportFaults({ told }: Ledger, facts: KeptFacts): string[] {
  const { reports, counted, evidence } = facts
  const faults: string[] = []
  const sent = new Map<string, string>()
  for (const { id, account, kind, raw, isRetracted } of told.values()) {
    const bytes = `${account.id} ${raw.toString('latin1')}`
    const twin = sent.get(bytes)
    if (twin !== undefined) faults.push(`${twin} and ${id} are the same bytes of one reporter`)
    sent.set(bytes, id)
    const report = reports.get(id)
    if (!report) {
      faults.push(`${id} was accepted and is lost`)
      continue
    }
    if (report.reporterId !== account.id) faults.push(`${id} is of another reporter`)
    if (report.kind !== kind) faults.push(`${id} was reported as ${kind} and is ${report.kind}`)
    const isDone = isRetracted
      ? report.state === 'retracted'
      : ['analyzed', 'kept', 'forwarded'].includes(report.state)
    if (!isDone) faults.push(`${id} (taken back: ${isRetracted}) ended as ${report.state}`)
    if (counted.has(id) === isRetracted) {
      faults.push(`${id} is ${isRetracted ? 'taken back and still' : 'not'} in counted_reports`)
    }
  }
  for (const id of counted.keys()) if (!evidence.has(id)) faults.push(`${id} is no evidence`)
  for (const id of evidence) if (!counted.has(id)) faults.push(`${id} is evidence still`)
  for (const id of reports.keys()) if (!told.has(id)) faults.push(`${id} is of nobody`)
  for (const id of counted.keys())
    if (!reports.has(id)) faults.push(`${id} counts and is no report`)
  return faults
}

/**
 * Checks that no campaign was created although a matching one existed, that equal messages belong
 * to one campaign, that all referenced campaigns exist, and that their days have the right numbers
 * of reports.
 */
function campaignFaults(
  { campaigns, counted, reports, campaignDays }: KeptFacts,
  fingerprints: ReadonlyMap<string, Fingerprints>,
): string[] {
  const faults: string[] = []
  for (const twins of alike(campaigns)) faults.push(`founded twice: ${twins}`)
  const known = new Set(campaigns.map(({ id }) => id))
  const days = new Map<string, number>()
  for (const [id, campaignId] of counted) {
    if (campaignId === null) continue
    if (!known.has(campaignId)) faults.push(`${id} is of campaign ${campaignId}, which is lost`)
    const day = reports.get(id)?.receivedAt.toISOString().slice(0, 10)
    const place = `${campaignId} ${day}`
    days.set(place, (days.get(place) ?? 0) + 1)
  }
  for (const place of new Set([...days.keys(), ...campaignDays.keys()])) {
    const [has, says] = [days.get(place) ?? 0, campaignDays.get(place) ?? 0]
    if (has !== says) faults.push(`campaign ${place}: has ${has} reports, campaign_days ${says}`)
  }
  const byText = Map.groupBy(counted, ([id]) => JSON.stringify(sortedFields(fingerprints.get(id))))
  for (const [text, members] of byText) {
    const of = new Set(members.map(([, campaignId]) => campaignId))
    if (of.size > 1) faults.push(`equal messages are of ${[...of].join(' and ')}: ${text}`)
  }
  return faults
}

/**
 * Returns pairs of campaigns whose first messages belong to one campaign, unless the older one did
 * not fit under their common keys.
 */
function alike(campaigns: readonly KeptCampaign[]): string[] {
  const older = new Map<string, KeptCampaign[]>()
  const pairs: string[] = []
  for (const campaign of campaigns) {
    const keys = campaignKeys(campaign.fingerprints)
    const neighbors = new Set(keys.flatMap((key) => older.get(key) ?? []))
    for (const { id, fingerprints } of neighbors) {
      if (isSameCampaign(fingerprints, campaign.fingerprints)) pairs.push(`${id} ${campaign.id}`)
    }
    for (const key of keys) {
      const others = older.getOrInsert(key, [])
      if (others.length < CAMPAIGNS_PER_KEY_MAX) others.push(campaign)
    }
  }
  return pairs
}

function sortedFields(fingerprints: Fingerprints | undefined): [string, string][] {
  return Object.entries(fingerprints ?? {}).toSorted()
}
