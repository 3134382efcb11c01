import type { Db } from './pool.ts'
import { first } from './values.ts'

/** What a desk said: that it does not answer for a block. */
export type ContactCorrection = {
  cidr: string
  /** Of the desk, in lower case. */
  address: string
  /** The report to which it was said. */
  reportId: string | null
  /** A sentence. */
  reason: string
  since: Date
  until: Date
}

const columns = `cidr::text, address, report_id as "reportId", reason, since, until`

/** Keeps a correction; of one address and block the last holds. */
export async function keepCorrection(tx: Db, correction: ContactCorrection): Promise<void> {
  const { cidr, address, reportId, reason, since, until } = correction
  await tx.query(
    `insert into contact_corrections (cidr, address, report_id, reason, since, until)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (cidr, address) do update set report_id = excluded.report_id,
       reason = excluded.reason, since = excluded.since, until = excluded.until`,
    [cidr, address.toLowerCase(), reportId, reason, since, until],
  )
}

/** By address of the Internet, who said that it is not theirs: mail addresses in lower case. */
export async function listDisowned(
  db: Db,
  ips: readonly string[],
  now: Date,
): Promise<Map<string, Set<string>>> {
  const disowned = new Map<string, Set<string>>()
  if (ips.length === 0) return disowned
  const { rows } = await db.query<{ at: number; address: string }>(
    `select asked.at, address from unnest($1::inet[]) with ordinality as asked (ip, at)
     join contact_corrections on cidr >>= asked.ip where until > $2`,
    [ips, now],
  )
  for (const { at, address } of rows) {
    const ip = ips[at - 1] ?? ''
    disowned.set(ip, (disowned.get(ip) ?? new Set()).add(address))
  }
  return disowned
}

/** A page of corrections by block and address; `after` is the last of the page before. */
export async function listCorrections(
  db: Db,
  page: { after: Pick<ContactCorrection, 'cidr' | 'address'> | undefined; limit: number },
): Promise<ContactCorrection[]> {
  const { rows } = await db.query<ContactCorrection>(
    `select ${columns} from contact_corrections
     where $1::cidr is null or (contact_corrections.cidr, address) > ($1::cidr, $2::text)
     order by contact_corrections.cidr, address limit $3`,
    [page.after?.cidr ?? null, page.after?.address ?? null, page.limit],
  )
  return rows
}

/** Whether a desk said at any time, for now, that a part of a block or all of it is not its. */
export async function isDisownedWithin(
  db: Db,
  { cidr, address }: Pick<ContactCorrection, 'cidr' | 'address'>,
  now: Date,
): Promise<boolean> {
  const { rows } = await db.query(
    `select 1 from contact_corrections
     where cidr && $1::cidr and address = $2 and until > $3 limit 1`,
    [cidr, address.toLowerCase(), now],
  )
  return rows.length > 0
}

/** Forgets a correction; undefined when there is none. */
export async function removeCorrection(
  tx: Db,
  { cidr, address }: Pick<ContactCorrection, 'cidr' | 'address'>,
): Promise<ContactCorrection | undefined> {
  return first(
    await tx.query<ContactCorrection>(
      `delete from contact_corrections where cidr = $1::cidr and address = $2
       returning ${columns}`,
      [cidr, address.toLowerCase()],
    ),
  )
}

/** Forgets those that ended before an instant. */
export async function removeEndedCorrections(db: Db, before: Date): Promise<void> {
  await db.query(`delete from contact_corrections where until < $1`, [before])
}
