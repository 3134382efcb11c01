import { bigintArray } from './binary-array.ts'
import { copyRows, int4 } from './copy-rows.ts'
import { countersOf } from './counter-partitions.ts'
import type { Db } from './pool.ts'

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
  const { rows } = await db.query<{ found: Buffer | null }>({
    name: 'find-counters',
    text: `select string_agg(
         int8send(shingle) || int8send((generation::bigint << 32) | octet_length(content))
           || content,
         ''::bytea) as found
       from counters where shingle = any($1::bigint[]) and generation between $2 and $3`,
    values: [bigintArray(keys), oldest, newest],
  })
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

/** Writes keys that have no row in their generation, in the order of the keys. */
export async function insertCounters(tx: Db, rows: readonly CounterRow[]): Promise<void> {
  await eachGeneration(rows, (table, some) =>
    copyRows(
      tx,
      `copy ${table} (shingle, generation, content) from stdin (format binary)`,
      some.map(({ key, generation, content }) => [key, int4(generation), content]),
    ),
  )
}

/**
 * Writes rows in place of those that their keys have in the same generation, in the order of the
 * keys. Statements are prepared once a connection: parsing and planning was a fifth of the server's
 * work. So they come in few sizes.
 */
export async function updateCounters(tx: Db, rows: readonly CounterRow[]): Promise<void> {
  await eachGeneration(rows, async (table, some) => {
    const statements: Promise<unknown>[] = []
    for (let at = 0; at < some.length;) {
      const size = statementRows.find((count) => count <= some.length - at) ?? 1
      const values = some
        .slice(at, at + size)
        .flatMap(({ key, generation, content }) => [key, generation, content])
      const name = `update-${table}-${size}`
      statements.push(tx.query({ name, text: upsertOf(table, size), values }))
      at += size
    }
    await Promise.all(statements)
  })
}

const statementRows = [1_000, 250, 60, 15, 4, 1] as const

function upsertOf(table: string, count: number): string {
  const known = upserts.get(`${table} ${count}`)
  if (known !== undefined) return known
  const row = (index: number) => `($${index * 3 + 1},$${index * 3 + 2},$${index * 3 + 3})`
  const rows = Array.from({ length: count }, (_, index) => row(index)).join(',')
  const text = `insert into ${table} (shingle, generation, content) values ${rows}
    on conflict (shingle, generation) do update set content = excluded.content`
  upserts.set(`${table} ${count}`, text)
  return text
}

/** They are some 60 kB: made once. */
const upserts = new Map<string, string>()

/** Nearly always one: only who has a clock ahead writes into the next. */
async function eachGeneration(
  rows: readonly CounterRow[],
  write: (table: string, rows: readonly CounterRow[]) => Promise<void>,
): Promise<void> {
  const byGeneration = Map.groupBy(rows, ({ generation }) => generation)
  const writing = [...byGeneration].map(([generation, some]) => write(countersOf(generation), some))
  await Promise.all(writing)
}
