import sql from 'sql-template-tag'
import type pg from 'pg'
import type { ForeignKey, KeyRange, RangeState } from './move-rows.ts'
import { hasTable, rowsOf } from './rows.ts'

/** A range of a table, and its contents when it was last copied; null if it was not copied yet. */
export type MovedRange = KeyRange & {
  table: string
  /** The position of the range in its table. */
  number: number
  state: RangeState | null
}

/** A move that has begun, with the foreign keys that the target had. */
export type Move = { shingleSeed: bigint; foreignKeys: ForeignKey[] }

/** Returns the unfinished move into a database, if there is one. */
export async function findMove(target: pg.Client): Promise<Move | undefined> {
  if (!(await hasTable(target, 'signalpost_move.move'))) return undefined
  const [move] = await rowsOf(target)<{ seed: string; foreignKeys: ForeignKey[] }>`
    select shingle_seed::text as seed, foreign_keys as "foreignKeys" from signalpost_move.move`
  return move && { shingleSeed: BigInt(move.seed), foreignKeys: move.foreignKeys }
}

/** Records a move in the target, so that it can be resumed. */
export async function insertMove(target: pg.Client, move: Move): Promise<void> {
  await target.query('create schema if not exists signalpost_move')
  await target.query(`create table if not exists signalpost_move.ranges (
    table_name text, number integer, after text[], until text[], state jsonb,
    primary key (table_name, number))`)
  await target.query(`create table if not exists signalpost_move.move (
    shingle_seed text not null, foreign_keys jsonb not null)`)
  await target.query(sql`insert into signalpost_move.move (shingle_seed, foreign_keys)
    values (${String(move.shingleSeed)}, ${JSON.stringify(move.foreignKeys)})`)
}

/** Removes the record of a finished move. */
export async function deleteMove(target: pg.Client): Promise<void> {
  await target.query('drop schema if exists signalpost_move cascade')
}

/** Returns all ranges, in the order of the rows. */
export function listRanges(target: pg.Client): Promise<MovedRange[]> {
  return rowsOf(target)<MovedRange>`
    select table_name as table, number, after, until, state from signalpost_move.ranges
    order by table_name, number`
}

/** Inserts ranges, or updates their limits and states. */
export async function saveRanges(target: pg.Client, ranges: readonly MovedRange[]): Promise<void> {
  for (const { table, number, after, until, state } of ranges) {
    await target.query(sql`
      insert into signalpost_move.ranges (table_name, number, after, until, state)
      values (${table}, ${number}, ${after as string[] | null}, ${until as string[] | null},
        ${state && JSON.stringify(state)})
      on conflict (table_name, number) do update
      set after = excluded.after, until = excluded.until, state = excluded.state`)
  }
}

export async function deleteRanges(target: pg.Client, table: string): Promise<void> {
  await target.query(sql`delete from signalpost_move.ranges where table_name = ${table}`)
}
