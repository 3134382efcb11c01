import sql, { bulk } from 'sql-template-tag'
import type { Db } from './pool.ts'
import { rowOf, rowsOf } from './rows.ts'

/** `trap`: nobody uses the address. `feedback-loop`: a provider sends complaints there. */
export type MailSourceKind = 'trap' | 'feedback-loop'

/** An address, or `@` and a domain, whose mail becomes reports. */
export type MailSource = {
  /** Also the id of its reporter. */
  id: string
  /** In lower case. */
  address: string
  kind: MailSourceKind
  note: string
  createdAt: Date
}

const columns = sql`id, address, kind, note, created_at as "createdAt"`

/** Returns all sources by address; there are at most a few thousand. */
export function listMailSources(db: Db): Promise<MailSource[]> {
  return rowsOf(db)`select ${columns} from mail_sources order by address`
}

export async function countMailSources(db: Db): Promise<number> {
  const found = await rowOf(db)<{ count: number }>`
    select count(*)::integer as count from mail_sources`
  return found?.count ?? 0
}

/**
 * Adds the reporter of a source unless it exists, and returns its id. It gets no letters, and
 * nobody can sign in to it.
 */
export async function ensureSourceReporter(
  tx: Db,
  fresh: { id: string; email: string; createdAt: Date },
): Promise<string> {
  await tx.query(sql`
    insert into reporters (id, email, wants_answers, wants_advice, created_at)
    values (${fresh.id}, ${fresh.email}, false, false, ${fresh.createdAt})
    on conflict (email) do nothing`)
  const found = await rowOf(tx)<{ id: string }>`
    select id from reporters where email = ${fresh.email}`
  return found?.id ?? fresh.id
}

/** Adds a source; undefined if its address is one already. */
export function insertMailSource(tx: Db, source: MailSource): Promise<MailSource | undefined> {
  return rowOf(tx)`
    insert into mail_sources (id, address, kind, note, created_at)
    values (${source.id}, ${source.address}, ${source.kind}, ${source.note}, ${source.createdAt})
    on conflict (address) do nothing
    returning ${columns}`
}

export async function removeMailSource(tx: Db, address: string): Promise<MailSource | undefined> {
  const removed = await rowOf(tx)<MailSource>`
    delete from mail_sources where address = ${address} returning ${columns}`
  if (!removed) return undefined
  await tx.query(sql`delete from mail_source_days where source_id = ${removed.id}`)
  await tx.query(sql`delete from mail_source_campaigns where source_id = ${removed.id}`)
  return removed
}

export type SourceCounts = {
  received: number
  reported: number
  /** Another mail of the same campaign was reported that day. */
  repeated: number
  /** No message, or no complaint. */
  refused: number
  /** Above the limits, and so only counted. */
  dropped: number
}

export type SourceDay = SourceCounts & { sourceId: string; day: string }

/** Adds counts to those of the days, in the order of the keys. */
export async function addToSourceDays(tx: Db, days: readonly SourceDay[]): Promise<void> {
  if (days.length === 0) return
  const sorted = days.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const rows = sorted.map((one) => [
    ...[one.sourceId, one.day, one.received, one.reported, one.repeated],
    ...[one.refused, one.dropped],
  ])
  await tx.query(sql`
    insert into mail_source_days as old
      (source_id, day, received, reported, repeated, refused, dropped) values ${bulk(rows)}
    on conflict (source_id, day) do update set
      received = old.received + excluded.received, reported = old.reported + excluded.reported,
      repeated = old.repeated + excluded.repeated, refused = old.refused + excluded.refused,
      dropped = old.dropped + excluded.dropped`)
}

function keyOf({ sourceId, day }: SourceDay): string {
  return `${sourceId} ${day}`
}

export async function sumSourceDays(
  db: Db,
  from: string,
): Promise<Map<string, SourceCounts & { lastDay: string }>> {
  const { rows } = await db.query<SourceCounts & { sourceId: string; lastDay: string }>(sql`
    select source_id as "sourceId", sum(received)::float as received,
      sum(reported)::float as reported, sum(repeated)::float as repeated,
      sum(refused)::float as refused, sum(dropped)::float as dropped,
      max(day)::text as "lastDay"
    from mail_source_days where day >= ${from}::date group by source_id`)
  return new Map(rows.map(({ sourceId, ...sums }) => [sourceId, sums]))
}

export type SourceCampaign = { sourceId: string; campaignId: string; day: string }

/** Returns which of the sources reported which of the campaigns since a day. */
export function listSourceCampaigns(
  db: Db,
  { sourceIds, campaignIds }: { sourceIds: readonly string[]; campaignIds: readonly string[] },
  from: string,
): Promise<SourceCampaign[]> {
  return rowsOf(db)`
    select source_id as "sourceId", campaign_id as "campaignId", reported_on::text as day
    from mail_source_campaigns
    where source_id = any(${sourceIds}::uuid[]) and campaign_id = any(${campaignIds}::uuid[])
      and reported_on >= ${from}::date`
}

/** Stores that sources reported campaigns, in the order of the keys. Keys must be unique. */
export async function keepSourceCampaigns(
  tx: Db,
  campaigns: readonly SourceCampaign[],
): Promise<void> {
  if (campaigns.length === 0) return
  const key = ({ sourceId, campaignId }: SourceCampaign) => `${sourceId} ${campaignId}`
  const sorted = campaigns.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
  const rows = sorted.map(({ sourceId, campaignId, day }) => [sourceId, campaignId, day])
  await tx.query(sql`
    insert into mail_source_campaigns (source_id, campaign_id, reported_on) values ${bulk(rows)}
    on conflict (source_id, campaign_id) do update set reported_on = excluded.reported_on`)
}
