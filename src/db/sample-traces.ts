import sql from 'sql-template-tag'
import type { Db } from './pool.ts'
import { rowsOf, valuesOf } from './rows.ts'

/** A trial has few campaigns and abuse desks. */
const LOOKED_AT_MAX = 10_000

/** Deletes the campaigns that no report belongs to any more. */
export async function removeEmptyCampaigns(tx: Db): Promise<void> {
  const campaigns = await rowsOf(tx)<{ id: string; first: string }>`
    select id, first_report_id as first from campaigns order by id desc limit ${LOOKED_AT_MAX}`
  const [reports, counted] = await Promise.all([
    valuesOf(tx)`
      select id from reports where id = any(${campaigns.map(({ first }) => first)}::uuid[])`,
    valuesOf(tx)`
      select distinct campaign_id from counted_reports
      where campaign_id = any(${campaigns.map(({ id }) => id)}::uuid[])`,
  ])
  const used = new Set([...reports, ...counted])
  const empty = campaigns.flatMap(({ id, first }) => (used.has(id) || used.has(first) ? [] : [id]))
  if (empty.length === 0) return
  await tx.query(sql`delete from campaign_days where campaign_id = any(${empty}::uuid[])`)
  await tx.query(sql`delete from campaign_keys where campaign_id = any(${empty}::uuid[])`)
  await tx.query(sql`delete from campaign_link_parts where campaign_id = any(${empty}::uuid[])`)
  await tx.query(sql`delete from campaign_witnesses where campaign_id = any(${empty}::uuid[])`)
  await tx.query(sql`delete from campaign_events where campaign_id = any(${empty}::uuid[])`)
  await tx.query(sql`delete from campaign_decisions where campaign_id = any(${empty}::uuid[])`)
  await tx.query(sql`delete from campaigns where id = any(${empty}::uuid[])`)
}

/** Deletes the abuse desks that tables named, and about which no feedback report exists. */
export async function removeUnusedDesks(tx: Db): Promise<void> {
  const found = await valuesOf(tx)`
    select id from consumers where state = 'found' order by id desc limit ${LOOKED_AT_MAX}`
  const used = new Set(
    await valuesOf(tx)`
      select distinct consumer_id from feedback_reports where consumer_id = any(${found}::uuid[])`,
  )
  const unused = found.filter((id) => !used.has(id))
  if (unused.length === 0) return
  await tx.query(sql`delete from consumer_hours where consumer_id = any(${unused}::uuid[])`)
  await tx.query(sql`delete from consumer_scopes where consumer_id = any(${unused}::uuid[])`)
  await tx.query(sql`delete from consumers where id = any(${unused}::uuid[])`)
}

/**
 * Deletes the entries of lists, the exemptions and the pages with these names, and the requests
 * with contacts at a domain.
 */
export async function removeNames(
  tx: Db,
  { names, domain }: { names: readonly string[]; domain: string },
): Promise<void> {
  await tx.query(sql`delete from listings where name = any(${names}::text[])`)
  await tx.query(sql`delete from list_exemptions where name = any(${names}::text[])`)
  await tx.query(sql`delete from pages where host = any(${names}::text[])`)
  await tx.query(sql`delete from delisting_requests
    where right(contact, ${domain.length + 1}::int) = ${`@${domain}`}`)
}
