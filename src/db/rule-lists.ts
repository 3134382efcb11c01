import sql, { join } from 'sql-template-tag'
import type { RuleListEntry, RuleListHits, RuleListKind } from '../verdict/rules/rule-lists.ts'
import type { Db } from './pool.ts'
import { changesAny, rowOf, rowsOf, valuesOf } from './rows.ts'

/** A list of an operator to which rules refer by its name. */
export type RuleList = { name: string; kind: RuleListKind; note: string; createdAt: Date }

export type RuleListLine = RuleList & { entries: number; hits: number }

/** An entry as stored, in the form in which it is compared with messages. */
export type StoredRuleListEntry = RuleListEntry & {
  note: string
  addedAt: Date
  /** Null: no end. */
  expiresAt: Date | null
  hits: number
  lastHitAt: Date | null
}

/**
 * Raises the version of the lists, so that processes load them again. Must be the first statement
 * of a change, because it makes concurrent changes wait.
 */
async function raiseEdition(tx: Db): Promise<void> {
  await tx.query(sql`update rule_list_edition set version = version + 1 where is_only`)
}

/** Inserts a list; false if there is one with that name. */
export async function insertRuleList(tx: Db, list: RuleList): Promise<boolean> {
  await raiseEdition(tx)
  return changesAny(tx)`
    insert into rule_lists (name, kind, note, created_at)
    values (${list.name}, ${list.kind}, ${list.note}, ${list.createdAt})
    on conflict (name) do nothing`
}

/** Deletes a list with its entries; false if there is none. */
export async function deleteRuleList(tx: Db, name: string): Promise<boolean> {
  await raiseEdition(tx)
  return changesAny(tx)`delete from rule_lists where name = ${name}`
}

export function findRuleList(db: Db, name: string): Promise<RuleList | undefined> {
  return rowOf(db)`
    select name, kind, note, created_at as "createdAt" from rule_lists where name = ${name}`
}

/** Returns all lists by name, of which there are few. */
export function listRuleLists(db: Db): Promise<RuleListLine[]> {
  return rowsOf(db)`
    select l.name, l.kind, l.note, l.created_at as "createdAt",
      count(e.value)::integer as entries, coalesce(sum(e.hits), 0)::float8 as hits
    from rule_lists l left join rule_list_entries e on e.list = l.name
    group by l.name, l.kind, l.note, l.created_at order by l.name`
}

export async function countRuleLists(db: Db): Promise<{ lists: number; entries: number }> {
  const { rows } = await db.query<{ lists: number; entries: number }>(sql`
    select (select count(*)::integer from rule_lists) as lists,
      (select count(*)::integer from rule_list_entries) as entries`)
  return rows[0] ?? { lists: 0, entries: 0 }
}

const ROWS_AT_ONCE = 1_000

/**
 * Adds entries to a list, or changes their note and end; returns the number of new ones, and of the
 * entries of all lists.
 */
export async function putRuleListEntries(
  tx: Db,
  list: string,
  values: readonly string[],
  { note, addedAt, expiresAt }: Pick<StoredRuleListEntry, 'note' | 'addedAt' | 'expiresAt'>,
): Promise<{ added: number; all: number }> {
  await raiseEdition(tx)
  const before = (await countRuleLists(tx)).entries
  const sorted = values.toSorted()
  for (let at = 0; at < sorted.length; at += ROWS_AT_ONCE) {
    const rows = sorted.slice(at, at + ROWS_AT_ONCE).map((value) => {
      return sql`(${list}, ${value}, ${note}, ${addedAt}, ${expiresAt}, 0)`
    })
    await tx.query(sql`
      insert into rule_list_entries (list, value, note, added_at, expires_at, hits)
      values ${join(rows)}
      on conflict (list, value) do update set note = excluded.note,
        expires_at = excluded.expires_at`)
  }
  const all = (await countRuleLists(tx)).entries
  return { added: all - before, all }
}

/** Removes entries from a list; returns those that it had. */
export async function removeRuleListEntries(
  tx: Db,
  list: string,
  values: readonly string[],
): Promise<string[]> {
  await raiseEdition(tx)
  return valuesOf(tx)`
    delete from rule_list_entries where list = ${list} and value = any(${values}::text[])
    returning value`
}

/** Returns a page of the entries of a list; `part` is a part of the entry. */
export function listRuleListEntries(
  db: Db,
  list: string,
  page: { part?: string | undefined; after?: string | undefined; limit: number },
): Promise<StoredRuleListEntry[]> {
  return rowsOf(db)`
    select list, value, note, added_at as "addedAt", expires_at as "expiresAt",
      hits::float8 as hits, last_hit_at as "lastHitAt"
    from rule_list_entries
    where list = ${list} and (${page.after}::text is null or value > ${page.after}::text)
      and (${page.part}::text is null or strpos(value, ${page.part}::text) > 0)
    order by value limit ${page.limit}`
}

export async function readRuleListKinds(db: Db): Promise<Map<string, RuleListKind>> {
  const { rows } = await db.query<Pick<RuleList, 'name' | 'kind'>>(sql`
    select name, kind from rule_lists`)
  return new Map(rows.map(({ name, kind }) => [name, kind]))
}

export function readRuleListEntries(
  db: Db,
  now: Date,
): Promise<(RuleListEntry & { expiresAt: Date | null })[]> {
  return rowsOf(db)`
    select list, value, expires_at as "expiresAt" from rule_list_entries
    where expires_at is null or expires_at > ${now}
    order by list, value`
}

export async function addRuleListHits(
  db: Db,
  hits: readonly RuleListHits[],
  at: Date,
): Promise<void> {
  for (const [list, its] of Map.groupBy(hits, (one) => one.list)) {
    const map = JSON.stringify(Object.fromEntries(its.map((one) => [one.value, one.hits])))
    const values = its.map(({ value }) => value)
    await db.query(sql`
      update rule_list_entries set hits = hits + (${map}::jsonb ->> value)::bigint,
        last_hit_at = ${at}
      where list = ${list} and value = any(${values}::text[])`)
  }
}
