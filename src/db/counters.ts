import { bigintArray } from './binary-array.ts'
import type { Db } from './pool.ts'

const ROWS_PER_STATEMENT = 1_000

/** A key's row: 8 bytes of key, big end first, and all that is counted of it, packed. */
export type CounterRow = { key: Buffer; generation: number; content: Buffer }

/** One stored row, as it was found. */
export type FoundCounter = { hi: number; lo: number; generation: number; content: Buffer }

/**
 * The rows of keys (8 bytes each, one after the other) in the given generations, in no order; a key
 * may have a row in each. They travel as one value: row by row the driver took three times as long.
 */
export async function findCounters(
  db: Db,
  keys: Buffer,
  [oldest, newest]: readonly [number, number],
): Promise<FoundCounter[]> {
  const { rows } = await db.query<{ found: Buffer | null }>(
    `select string_agg(int8send(shingle) || int4send(generation) || int4send(octet_length(content))
       || content, ''::bytea) as found
     from counters where shingle = any($1::bigint[]) and generation between $2 and $3`,
    [bigintArray(keys), oldest, newest],
  )
  return rows.flatMap(({ found }) => (found ? split(found) : []))
}

const HEADER_BYTES = 16

function split(found: Buffer): FoundCounter[] {
  const counters: FoundCounter[] = []
  for (let at = 0; at < found.length;) {
    const end = at + HEADER_BYTES + found.readUInt32BE(at + 12)
    counters.push({
      hi: found.readUInt32BE(at),
      lo: found.readUInt32BE(at + 4),
      generation: found.readInt32BE(at + 8),
      content: found.subarray(at + HEADER_BYTES, end),
    })
    at = end
  }
  return counters
}

/**
 * Writes rows, in the order of their keys, in statements of a thousand. Full ones are prepared once
 * a connection: parsing and planning was a fifth of the server's work.
 */
export async function upsertCounters(tx: Db, rows: readonly CounterRow[]): Promise<void> {
  const statements: Promise<unknown>[] = []
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) {
    const batch = rows.slice(at, at + ROWS_PER_STATEMENT)
    const params = batch.flatMap(({ key, generation, content }) => [key, generation, content])
    statements.push(
      batch.length === ROWS_PER_STATEMENT
        ? tx.query({ name: 'upsert-counters', text: fullUpsert, values: params })
        : tx.query(upsertOf(batch.length), params),
    )
  }
  await Promise.all(statements)
}

function upsertOf(count: number): string {
  const row = (index: number) => `($${index * 3 + 1},$${index * 3 + 2},$${index * 3 + 3})`
  const rows = Array.from({ length: count }, (_, index) => row(index)).join(',')
  return `insert into counters (shingle, generation, content) values ${rows}
    on conflict (shingle, generation) do update set content = excluded.content`
}

const fullUpsert = upsertOf(ROWS_PER_STATEMENT)
