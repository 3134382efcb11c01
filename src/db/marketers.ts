import type { MarketerMarks } from '../analysis/marketer.ts'
import type { Marketer } from '../verdict/marketers/marketer.ts'
import { insertAudit } from './audit-log.ts'
import type { Db } from './pool.ts'
import { first } from './values.ts'

/** Who changed the registry, and when. */
export type MarketerDeed = {
  at: Date
  /** Null: at the command line. */
  reporterId: string | null
}

const marks = `key, name, signers, ranges::text[] as ranges, list_ids as "listIds", authors,
  feedback`
const columns = `${marks}, state, practice, website, advice, contact`

/** One marketer. */
export async function findMarketer(db: Db, key: string): Promise<Marketer | undefined> {
  return first(await db.query<Marketer>(`select ${columns} from marketers where key = $1`, [key]))
}

/** A page of the marketers by key; `after` is the last key of the page before. */
export async function listMarketers(
  db: Db,
  page: { after: string; limit: number },
): Promise<Marketer[]> {
  const { rows } = await db.query<Marketer>(
    `select ${columns} from marketers where key > $1 order by key limit $2`,
    [page.after, page.limit],
  )
  return rows
}

/** How those are known that act. */
export async function listActingMarketers(db: Db): Promise<MarketerMarks[]> {
  const { rows } = await db.query<MarketerMarks>(
    `select ${marks} from marketers where state = 'confirmed' order by key`,
  )
  return rows
}

/** The domains that declared marketers sign with, also of those who do not act. */
export async function listDeclaredSigners(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ signer: string }>(
    `select distinct unnest(signers) as signer from marketers`,
  )
  return rows.map(({ signer }) => signer)
}

/** Adds a marketer, or puts it in the place of the one with its key, and writes down who did. */
export async function keepMarketer(tx: Db, marketer: Marketer, deed: MarketerDeed): Promise<void> {
  const { key, name, state, signers, ranges, listIds, authors } = marketer
  const { practice, website, advice, contact, feedback } = marketer
  await raiseVersion(tx)
  await tx.query(
    `insert into marketers (key, name, state, signers, ranges, list_ids, authors, practice, website,
       advice, contact, feedback, changed_at)
     values ($1, $2, $3, $4::text[], $5::cidr[], $6::text[], $7::text[], $8, $9, $10, $11, $12, $13)
     on conflict (key) do update set name = excluded.name, state = excluded.state,
       signers = excluded.signers, ranges = excluded.ranges, list_ids = excluded.list_ids,
       authors = excluded.authors, practice = excluded.practice, website = excluded.website,
       advice = excluded.advice, contact = excluded.contact, feedback = excluded.feedback,
       changed_at = excluded.changed_at`,
    [
      ...[key, name, state, signers, ranges, listIds, authors, practice, website],
      ...[JSON.stringify(advice), contact, feedback, deed.at],
    ],
  )
  const proofs = [...signers, ...ranges].join(', ').slice(0, 300)
  const detail = `${key} (${name}), ${state}: ${proofs}`
  await insertAudit(tx, { ...deed, action: 'set marketer', detail })
}

/** Takes a marketer away, and writes down who did; false when there was none. */
export async function removeMarketer(tx: Db, key: string, deed: MarketerDeed): Promise<boolean> {
  await raiseVersion(tx)
  const { rowCount } = await tx.query(`delete from marketers where key = $1`, [key])
  if (!rowCount) return false
  await insertAudit(tx, { ...deed, action: 'remove marketer', detail: key })
  return true
}

/** First of all, so that two who change the registry take turns. */
async function raiseVersion(tx: Db): Promise<void> {
  await tx.query(`update marketer_registry set version = version + 1 where is_only`)
}

/** A number that rises with each change of the registry. */
export async function findRegistryVersion(db: Db): Promise<number> {
  const { rows } = await db.query<{ version: number }>(
    `select version from marketer_registry where is_only`,
  )
  return rows[0]?.version ?? 0
}
