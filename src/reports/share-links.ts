import { circleOfAccount } from '../counting/circles.ts'
import { keepLinkParts, type LinkPartsRow, listLinkParts } from '../db/link-parts.ts'
import type { Db } from '../db/pool.ts'
import { dateOf, DAY_MS } from '../durations.ts'
import { untagged } from '../evidence/identity.ts'
import { asWitness } from '../feedback/shared-parts.ts'
import { textHash } from '../pieces/shingles/hash.ts'
import { type LinkWitness, partsOf, sharedParts } from '../verdict/reputation/shared-parts.ts'
import type { Campaigns, Judgment } from './read-messages.ts'
import { hasEffect } from './report-outcomes.ts'

/** Maximum number of reporters of a campaign whose links are kept: the latest ones. */
const SLOTS = 32
const KEPT_MS = 14 * DAY_MS

/** What is known of the reporters besides their judgments. */
type Known = { campaignOf: Campaigns; emails: ReadonlyMap<string, string> }

type Member = Omit<LinkPartsRow, 'slot'> & LinkWitness & { reportId: string; hasEffect: boolean }

/**
 * Returns the parts of links that independent reporters of the same campaign received, as hashes of
 * 8 bytes each, by report; and stores what these reports add. A report without effect adds nothing,
 * but its reporter sees what the feedback of an ordinary report would be.
 */
export async function shareLinks(
  tx: Db,
  judgments: readonly Judgment[],
  known: Known,
  now: Date,
): Promise<ReadonlyMap<string, Buffer>> {
  const members = judgments.flatMap((one) => memberOf(one, known, now) ?? [])
  const byCampaign = Map.groupBy(members, ({ campaignId }) => campaignId)
  const rows = await listLinkParts(tx, [...byCampaign.keys()])
  const rowsOf = Map.groupBy(rows.map(asWitness), ({ campaignId }) => campaignId)
  const shared = new Map<string, Buffer>()
  const added: LinkPartsRow[] = []
  for (const [campaignId, its] of byCampaign) {
    const all = rowsOf.get(campaignId) ?? []
    const before = all.filter(({ isBanned }) => !isBanned)
    const effective = its.filter((one) => one.hasEffect)
    for (const one of its) {
      shared.set(one.reportId, sharedParts([...before, ...effective, one]))
    }
    const old = new Set(partsOf(sharedParts(before)))
    const news = effective.filter(({ parts }) => partsOf(parts).some((one) => !old.has(one)))
    added.push(...withSlots(news, all))
  }
  await keepLinkParts(tx, added)
  return shared
}

/** Gives each reporter the own slot, a free one, or that of the one who was seen first. */
function withSlots(news: readonly Member[], before: readonly LinkPartsRow[]): LinkPartsRow[] {
  const slots = Array.from({ length: SLOTS }, (_, slot) => slot)
  const free = [
    ...slots.filter((slot) => before.every((one) => one.slot !== slot)),
    ...before.map(({ slot }) => slot),
  ]
  const taken = new Map<number, LinkPartsRow>()
  for (const one of news) {
    const known = [...before, ...taken.values()].findLast(
      (row) => row.reporterId === one.reporterId,
    )
    const slot = known?.slot ?? free.find((number) => !taken.has(number))
    if (slot !== undefined) taken.set(slot, { ...one, slot })
  }
  return [...taken.values()]
}

/** The oldest instant from which parts of links are kept. */
export function oldestLinkParts(now: Date): Date {
  return new Date(now.getTime() - KEPT_MS)
}

function memberOf(
  { report, analysis: { linkParts }, isVouched, sourceId }: Judgment,
  { campaignOf, emails }: Known,
  now: Date,
): Member | undefined {
  const { id: reportId, reporterId, kind } = report
  const campaignId = campaignOf.get(reportId)
  if (campaignId === undefined || kind === 'not-spam' || linkParts.hashes.length === 0) {
    return undefined
  }
  const email = emails.get(reporterId)
  const recipient = Buffer.alloc(8)
  recipient.writeBigUInt64BE(textHash(linkParts.recipient ?? untagged(email ?? reporterId)))
  const row = {
    ...{ campaignId, reporterId, isVouched, recipient, parts: Buffer.from(linkParts.hashes) },
    circle: circleOfAccount(email, sourceId === reporterId ? undefined : sourceId),
    seenOn: dateOf(now),
  }
  return { ...asWitness(row), reportId, hasEffect: hasEffect(report) }
}
