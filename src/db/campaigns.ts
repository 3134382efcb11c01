import type { Fingerprints } from '../analysis/fingerprints/fingerprints-of.ts'
import type { Db } from './pool.ts'
import { values } from './values.ts'

/** A campaign: the fingerprints of its first message. */
export type Campaign = { id: string; fingerprints: Fingerprints }

/** A campaign that begins. */
export type NewCampaign = Campaign & { firstReportId: string }

/** Apart from the other advisory locks of the program. */
const LOCK_CLASS = 20_814

/**
 * Makes this transaction the only one that founds campaigns, until it ends; waits for another's. A
 * process that stands still here does not hold up the others for long. It commits to the disk: a
 * report may be kept by another connection after the server was lost and came back.
 */
export async function claimFounding(tx: Db): Promise<void> {
  await tx.query(
    `select set_config('idle_in_transaction_session_timeout', '10s', true),
       pg_advisory_xact_lock($1, 0)`,
    [LOCK_CLASS],
  )
}

/** Writes campaigns that begin, in the order of their ids. */
export async function insertCampaigns(tx: Db, campaigns: readonly NewCampaign[]): Promise<void> {
  if (campaigns.length === 0) return
  const { text, params } = values(
    campaigns
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ id, firstReportId, fingerprints }) => [
        id,
        firstReportId,
        JSON.stringify(fingerprints),
      ]),
  )
  await tx.query(`insert into campaigns (id, first_report_id, fingerprints) values ${text}`, params)
}

/** A campaign without what it is compared by. */
export type CampaignHead = { id: string; firstReportId: string }

/** Campaigns by their ids, in no order, without their fingerprints. */
export async function listCampaignHeads(db: Db, ids: readonly string[]): Promise<CampaignHead[]> {
  if (ids.length === 0) return []
  const { rows } = await db.query<CampaignHead>(
    `select id, first_report_id as "firstReportId" from campaigns where id = any($1::uuid[])`,
    [ids],
  )
  return rows
}

/** Those of these campaigns that are still there, in no order. */
export async function listCampaignsByIds(db: Db, ids: readonly string[]): Promise<Campaign[]> {
  if (ids.length === 0) return []
  const { rows } = await db.query<Campaign>(
    'select id, fingerprints from campaigns where id = any($1::uuid[])',
    [ids],
  )
  return rows
}
