import sql, { bulk } from 'sql-template-tag'
import type { Db } from './pool.ts'
import { isOneOf, preparedRowsOf } from './prepared.ts'
import { excluded } from './rows.ts'
import { listBannedAmong } from './shadow-bans.ts'

export type LinkPartsRow = {
  campaignId: string
  /** 0 to 31. */
  slot: number
  reporterId: string
  isVouched: boolean
  circle: number
  /** A hash of the address that received the message. */
  recipient: Buffer
  /** Hashes of 8 bytes each, at most 32. */
  parts: Buffer
  /** A day in UTC: `2026-11-20`. */
  seenOn: string
}

/**
 * Returns the parts of links of campaigns, the oldest first. `isBanned`: the reporter is banned, so
 * the parts are shared with nobody.
 */
export async function listLinkParts(
  db: Db,
  campaignIds: readonly string[],
): Promise<(LinkPartsRow & { isBanned: boolean })[]> {
  if (campaignIds.length === 0) return []
  const rows = await preparedRowsOf(db)<LinkPartsRow>`
    select campaign_id as "campaignId", slot, reporter_id as "reporterId",
      is_vouched as "isVouched", circle, recipient, parts, seen_on::text as "seenOn"
    from campaign_link_parts where ${isOneOf('campaign_id', campaignIds, 'uuid[]')}
    order by seen_on, slot`
  const ids = [...new Set(rows.map(({ reporterId }) => reporterId))]
  const banned = ids.length > 0 ? await listBannedAmong(db, ids) : new Set()
  return rows.map((row) => ({ ...row, isBanned: banned.has(row.reporterId) }))
}

/** Stores what reporters received, in place of what was in the slots of their campaigns. */
export async function keepLinkParts(tx: Db, rows: readonly LinkPartsRow[]): Promise<void> {
  if (rows.length === 0) return
  const values = rows
    .toSorted((a, b) => (a.campaignId === b.campaignId ? a.slot - b.slot : before(a, b)))
    .map((row) => [
      ...[row.campaignId, row.slot, row.reporterId, row.isVouched, row.circle],
      ...[row.recipient, row.parts, row.seenOn],
    ])
  await tx.query(sql`
    insert into campaign_link_parts
      (campaign_id, slot, reporter_id, is_vouched, circle, recipient, parts, seen_on)
    values ${bulk(values)}
    on conflict (campaign_id, slot) do update set ${excluded`reporter_id, is_vouched, circle,
      recipient, parts, seen_on`}`)
}

function before(one: LinkPartsRow, other: LinkPartsRow): number {
  return one.campaignId < other.campaignId ? -1 : 1
}

export async function removeLinkPartsOf(tx: Db, reporterId: string): Promise<void> {
  await tx.query(sql`delete from campaign_link_parts where reporter_id = ${reporterId}`)
}
