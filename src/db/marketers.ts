import sql from 'sql-template-tag'
import type { MarketerMarks } from '../pieces/marketer.ts'
import type { Marketer } from '../verdict/marketers/marketer.ts'
import { uuidFloor } from '../world.ts'
import type { SeenMarketer } from '../verdict/marketers/propose.ts'
import type { OperatorAction } from './audit-log.ts'
import type { Db } from './pool.ts'
import { changesAny, excluded, type Packed, rowOf, rowsOf, valuesOf } from './rows.ts'

const marks = sql`key, kind, name, signers, ranges::text[] as ranges, list_ids as "listIds",
  authors, feedback`
const columns = sql`${marks}, state, hosts, practice, website, advice, contact, sources`

export function findMarketer(db: Db, key: string): Promise<Marketer | undefined> {
  return rowOf(db)`select ${columns} from marketers where key = ${key}`
}

/** A page of marketers of one kind; `after` is the last key of the previous page. */
export type MarketerPage = { kind: Marketer['kind']; after: string; limit: number }

export function listMarketers(db: Db, { kind, after, limit }: MarketerPage): Promise<Marketer[]> {
  return rowsOf(db)`
    select ${columns} from marketers where kind = ${kind} and key > ${after}
    order by key limit ${limit}`
}

export function listActingMarketers(db: Db): Promise<MarketerMarks[]> {
  return rowsOf(db)`
    select ${marks} from marketers where state = 'confirmed' order by key`
}

/** Returns those of the keys that a marketer has, in any state. */
export function listKnownKeys(db: Db, keys: readonly string[]): Promise<string[]> {
  return valuesOf(db)`
    select key from marketers where key = any(${keys}::text[])`
}

/** Returns the signing domains of all marketers, confirmed or not. */
export function listDeclaredSigners(db: Db): Promise<string[]> {
  return valuesOf(db)`
    select distinct unnest(signers) as signer from marketers`
}

export async function putMarketer(tx: Db, marketer: Marketer, at: Date): Promise<void> {
  const { key, kind, name, state, signers, ranges, listIds, authors, hosts } = marketer
  const { practice, website, advice, contact, feedback, sources } = marketer
  await raiseVersion(tx)
  await tx.query(sql`
    insert into marketers (key, kind, name, state, signers, ranges, list_ids, authors, hosts,
      practice, website, advice, contact, feedback, sources, changed_at)
    values (${key}, ${kind}, ${name}, ${state}, ${signers}::text[], ${ranges}::cidr[],
      ${listIds}::text[], ${authors}::text[], ${hosts}::text[], ${practice}, ${website},
      ${JSON.stringify(advice)}, ${contact}, ${feedback}, ${JSON.stringify(sources)}, ${at})
    on conflict (key) do update set ${excluded`kind, name, state, signers, ranges, list_ids,
      authors, hosts, practice, website, advice, contact, feedback, sources, changed_at`}`)
}

/** Deletes a marketer; false when there was none. */
export async function deleteMarketer(tx: Db, key: string): Promise<boolean> {
  await raiseVersion(tx)
  return changesAny(tx)`delete from marketers where key = ${key}`
}

/**
 * Raises the version of the registry. Must be the first statement of a change, because it makes
 * concurrent changes wait.
 */
async function raiseVersion(tx: Db): Promise<void> {
  await tx.query(sql`update marketer_registry set version = version + 1 where is_only`)
}

type ProposalState = 'open' | 'dismissed' | 'taken'

/** A signer of legitimate bulk mail that may be a marketer. */
export type MarketerProposal = SeenMarketer & { state: ProposalState }

const PROPOSAL_COLUMNS = sql`signer, list_id as "listId", state, author, name, messages,
  reporters_at_least as "reportersAtLeast", subjects, unsubscribe_host as "unsubscribeHost",
  first_seen as "firstSeen", last_seen as "lastSeen"`

/** Stores the observations of a signer; a dismissed or taken proposal keeps its state. */
export async function keepProposal(tx: Db, seen: SeenMarketer): Promise<void> {
  await tx.query(sql`
    insert into marketer_proposals (signer, list_id, state, author, name, messages,
      reporters_at_least, subjects, unsubscribe_host, first_seen, last_seen)
    values (${seen.signer}, ${seen.listId}, 'open', ${seen.author}, ${seen.name}, ${seen.messages},
      ${seen.reportersAtLeast}, ${JSON.stringify(seen.subjects)}, ${seen.unsubscribeHost},
      ${seen.firstSeen}, ${seen.lastSeen})
    on conflict (signer, list_id) do update set ${excluded`author, name, messages,
      reporters_at_least, subjects, unsubscribe_host, last_seen`}`)
}

/** Returns open proposals, those with the most messages first. */
export function listProposals(db: Db, limit: number): Promise<MarketerProposal[]> {
  return rowsOf(db)`
    select ${PROPOSAL_COLUMNS} from marketer_proposals where state = 'open'
    order by messages desc, signer, list_id limit ${limit}`
}

/** Decides on an open proposal; undefined when there is none. */
export function decideProposal(
  tx: Db,
  { signer, listId }: Pick<MarketerProposal, 'signer' | 'listId'>,
  state: 'dismissed' | 'taken',
  by: OperatorAction,
): Promise<MarketerProposal | undefined> {
  return rowOf(tx)`
      update marketer_proposals set state = ${state}, decided_at = ${by.at},
        decided_by = ${by.reporterId}
      where signer = ${signer} and list_id = ${listId} and state = 'open'
        returning ${PROPOSAL_COLUMNS}`
}

/** Deletes open proposals whose signer was not seen since an instant. */
export async function removeOldProposals(db: Db, before: Date): Promise<void> {
  await db.query(sql`delete from marketer_proposals where state = 'open' and last_seen < ${before}`)
}

/** A report of bulk mail, with its packed analysis. */
export type BulkReport = Packed & { reporterId: string; receivedAt: Date }

/** Returns the newest reports since an instant whose verdict is legitimate bulk mail. */
export function listBulkReports(db: Db, since: Date, limit: number): Promise<BulkReport[]> {
  const from = uuidFloor(since)
  return rowsOf(db)`
    select reports.reporter_id as "reporterId", reports.received_at as "receivedAt",
      analyses.encoding, analyses.content
    from reports join analyses on analyses.id = reports.id and analyses.shard = reports.shard
    where reports.id >= ${from} and analyses.id >= ${from} and analyses.verdict_class = 'marketing'
      and reports.kind = 'spam' and reports.state <> 'retracted' and reports.shadow is null
    order by reports.id desc limit ${limit}`
}
