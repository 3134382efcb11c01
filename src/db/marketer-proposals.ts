import { insertAudit } from './audit-log.ts'
import type { MarketerDeed } from './marketers.ts'
import { uuidFloor } from '../world.ts'
import type { Packed } from './packed.ts'
import type { Db } from './pool.ts'
import { first } from './values.ts'

/** Where a proposal stands. */
export type ProposalState = 'open' | 'dismissed' | 'taken'

/** A signer of honest bulk mail that might be a marketer. */
export type MarketerProposal = {
  signer: string
  /** Empty: without one. */
  listId: string
  state: ProposalState
  /** The domain of the authors, and how the last of them calls himself. */
  author: string
  name: string
  messages: number
  reportersAtLeast: number
  subjects: readonly string[]
  unsubscribeHost: string | null
  firstSeen: Date
  lastSeen: Date
}

const columns = `signer, list_id as "listId", state, author, name, messages,
  reporters_at_least as "reportersAtLeast", subjects, unsubscribe_host as "unsubscribeHost",
  first_seen as "firstSeen", last_seen as "lastSeen"`

/** Keeps what was seen of a signer; one that was dismissed or taken stays so. */
export async function keepProposal(tx: Db, seen: Omit<MarketerProposal, 'state'>): Promise<void> {
  await tx.query(
    `insert into marketer_proposals (signer, list_id, state, author, name, messages,
       reporters_at_least, subjects, unsubscribe_host, first_seen, last_seen)
     values ($1, $2, 'open', $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (signer, list_id) do update set author = excluded.author, name = excluded.name,
       messages = excluded.messages, reporters_at_least = excluded.reporters_at_least,
       subjects = excluded.subjects, unsubscribe_host = excluded.unsubscribe_host,
       last_seen = excluded.last_seen`,
    [
      ...[seen.signer, seen.listId, seen.author, seen.name, seen.messages, seen.reportersAtLeast],
      ...[JSON.stringify(seen.subjects), seen.unsubscribeHost, seen.firstSeen, seen.lastSeen],
    ],
  )
}

/** Proposals that wait, those with the most messages first. */
export async function listProposals(db: Db, limit: number): Promise<MarketerProposal[]> {
  const { rows } = await db.query<MarketerProposal>(
    `select ${columns} from marketer_proposals where state = 'open'
     order by messages desc, signer, list_id limit $1`,
    [limit],
  )
  return rows
}

/** Decides on a proposal that waits, and writes down who did; undefined when none does. */
export async function decideProposal(
  tx: Db,
  { signer, listId }: Pick<MarketerProposal, 'signer' | 'listId'>,
  state: 'dismissed' | 'taken',
  deed: MarketerDeed,
): Promise<MarketerProposal | undefined> {
  const found = first(
    await tx.query<MarketerProposal>(
      `update marketer_proposals set state = $3, decided_at = $4, decided_by = $5
       where signer = $1 and list_id = $2 and state = 'open' returning ${columns}`,
      [signer, listId, state, deed.at, deed.reporterId],
    ),
  )
  if (!found) return undefined
  const action = state === 'taken' ? 'take marketer proposal' : 'dismiss marketer proposal'
  const detail = listId === '' ? signer : `${signer}, ${listId}`
  await insertAudit(tx, { ...deed, action, detail })
  return found
}

/** Forgets proposals that wait and were not seen since an instant. */
export async function removeOldProposals(db: Db, before: Date): Promise<void> {
  await db.query(`delete from marketer_proposals where state = 'open' and last_seen < $1`, [before])
}

/** A report of mail in bulk, with its packed analysis. */
export type BulkReport = Packed & { reporterId: string; receivedAt: Date }

/** The newest reports since an instant that were judged to be honest mail in bulk. */
export async function listBulkReports(db: Db, since: Date, limit: number): Promise<BulkReport[]> {
  const { rows } = await db.query<BulkReport>(
    `select reports.reporter_id as "reporterId", reports.received_at as "receivedAt",
       analyses.encoding, analyses.content
     from reports join analyses on analyses.id = reports.id
     where reports.id >= $1 and analyses.id >= $1 and analyses.verdict_class = 'marketing'
       and reports.kind = 'spam' and reports.state <> 'retracted' and reports.shadow is null
     order by reports.id desc limit $2`,
    [uuidFloor(since), limit],
  )
  return rows
}
