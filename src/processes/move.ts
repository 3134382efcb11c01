import { parseArgs } from 'node:util'
import type pg from 'pg'
import type { Backend } from '../db/backend.ts'
import { findShingleSeed, missingMigrations, expectedMigrations } from '../db/installation.ts'
import {
  analyzeTables,
  changesOf,
  copyChanges,
  copyRange,
  createMovedPartition,
  divide,
  dropForeignKeys,
  dropMovedTable,
  emptyTables,
  isInUse,
  type Link,
  listForeignKeys,
  listMovedTables,
  type MovedTable,
  openMover,
  type RangeState,
  restoreForeignKeys,
  setReadOnly,
  setShingleSeed,
  stopWriting,
  deleteMove,
  deleteRanges,
  findMove,
  insertMove,
  listRanges,
  type MovedRange,
  saveRanges,
} from '../db/move-rows.ts'
import { UsageError } from '../errors.ts'
import { migrateAll } from './migrate.ts'

/** Rows that are copied and verified together. */
const ROWS_PER_RANGE = 2_000
/** Pairs of connections that copy at the same time. */
const LANES = 2
/**
 * The source is stopped when a pass has copied no more rows than this again, or more than half as
 * many as the pass before it, so that further passes would not help.
 */
const ROWS_CHANGED_MAX = 10_000

/** What the command has copied so far. */
export type MoveProgress = (line: string) => void

export function parseMove(args: readonly string[]): {
  from: string | undefined
  to: string
  backend: Backend
} {
  const { values } = parseArgs({
    args: [...args],
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      backend: { type: 'string', default: 'postgres' },
    },
  })
  if (values.to === undefined) throw new UsageError(['--to is missing.'])
  const { from, to, backend } = values
  if (backend !== 'postgres' && backend !== 'citus') {
    throw new UsageError(['--backend must be postgres or citus.'])
  }
  for (const url of [from, to]) {
    if (url !== undefined && !/^postgres(ql)?:\/\//.test(url)) {
      throw new UsageError(['--from and --to must be URLs that begin with postgres://.'])
    }
  }
  return { from, to, backend }
}

/**
 * Moves an installation to another database of the same version of Signalpost. Copies while the
 * source is in use, repeats what has changed, then makes the source read-only, copies the last
 * changes and verifies everything. Afterwards the source remains read-only, so that no process can
 * write to it by mistake. A move that was interrupted continues where it was.
 *
 * @throws UsageError if one of the databases is unsuitable
 */
export async function move(
  { from, to, backend = 'postgres' }: { from: string; to: string; backend?: Backend },
  now: Date,
  tell: MoveProgress,
): Promise<{ rows: number; stoppedMs: number }> {
  const first = await openLink(from, to)
  const links: [Link, ...Link[]] = [first]
  try {
    await prepare(first, { to, backend, now }, tell)
    while (links.length < LANES) links.push(await openLink(from, to))
    await passUntilFew(links, tell)
    const stoppedAt = performance.now()
    let isMoved = false
    try {
      await stopWriting(first.source)
      tell('The old database is read-only now. Copying the last changes.')
      const { rows } = await pass(links, tell)
      await finish(first.target)
      isMoved = true
      return { rows, stoppedMs: performance.now() - stoppedAt }
    } finally {
      if (!isMoved) await allowWriting(from)
    }
  } finally {
    await Promise.allSettled(links.flatMap(({ source, target }) => [source.end(), target.end()]))
  }
}

/** Uses a new connection, because those of the move may have failed. */
async function allowWriting(url: string): Promise<void> {
  const client = await openMover(url)
  await setReadOnly(client, false)
  await client.end()
}

async function openLink(from: string, to: string): Promise<Link> {
  const source = await openMover(from)
  try {
    const target = await openMover(to)
    // A crash loses the last ranges together with their records. `finish` waits for the disk.
    await target.query('set synchronous_commit = off')
    return { source, target }
  } catch (error) {
    await source.end()
    throw error
  }
}

/** Checks both databases, and empties the target unless an earlier move has filled it. */
async function prepare(
  { source, target }: Link,
  { to, backend, now }: { to: string; backend: Backend; now: Date },
  tell: MoveProgress,
): Promise<void> {
  const seed = await findShingleSeed(source)
  if (seed === undefined) throw new UsageError(['The old database is not one of Signalpost.'])
  if ((await missingMigrations(source, await expectedMigrations())).length > 0) {
    throw new UsageError(['The old database has an older schema. Run "signalpost migrate" on it.'])
  }
  const begun = await findMove(target)
  // Would change rows that have been copied already.
  if (!begun) await migrateAll(to, now, { backend })
  if (begun && begun.shingleSeed !== seed) {
    throw new UsageError(['The new database contains an unfinished move of another database.'])
  }
  if (!begun && (await isInUse(target))) {
    throw new UsageError(['The new database already contains reports or accounts.'])
  }
  const foreignKeys = begun?.foreignKeys ?? (await listForeignKeys(target))
  if (!begun) await insertMove(target, { shingleSeed: seed, foreignKeys })
  if ((await listRanges(target)).length > 0) {
    tell('Continuing the move that was interrupted.')
    return
  }
  await dropForeignKeys(target, foreignKeys)
  await emptyTables(target, await listMovedTables(target))
  await setShingleSeed(target, seed)
}

/** Returns the tables of the source, and creates the partitions that the target lacks. */
async function tablesToMove({ source, target }: Link): Promise<MovedTable[]> {
  const tables = await listMovedTables(source)
  const present = new Set((await listMovedTables(target)).map(({ name }) => name))
  for (const table of tables) {
    if (present.has(table.name)) continue
    if (!table.partition) {
      throw new UsageError([`The new database lacks the table ${table.name}.`])
    }
    await createMovedPartition(target, table)
  }
  return tables
}

/** Repeats passes over all tables until few rows change during one, or not fewer than before. */
async function passUntilFew(links: readonly [Link, ...Link[]], tell: MoveProgress): Promise<void> {
  let before = 0
  for (let number = 1; ; number++) {
    const { copied, rows } = await pass(links, tell)
    tell(`Pass ${number}: copied ${grouped(copied)} of ${grouped(rows)} rows.`)
    if (number > 1 && (copied <= ROWS_CHANGED_MAX || copied > before / 2)) return
    before = copied
  }
}

/** Copies everything that is new or has changed since the last pass. */
async function pass(
  links: readonly [Link, ...Link[]],
  tell: MoveProgress,
): Promise<{ copied: number; rows: number }> {
  const { target } = links[0]
  const tables = await tablesToMove(links[0])
  const known = Map.groupBy(await listRanges(target), ({ table }) => table)
  const names = new Set(tables.map(({ name }) => name))
  for (const name of [...known.keys()].filter((one) => !names.has(one))) {
    await dropMovedTable(target, name)
    await deleteRanges(target, name)
  }
  const sum = { copied: 0, rows: 0 }
  const waiting = tables.values()
  let printedAt = performance.now()
  const work = async (link: Link) => {
    for (const table of waiting) {
      for await (const { copied, rows } of movedRanges(link, table, known.get(table.name) ?? [])) {
        sum.copied += copied
        sum.rows += rows
        if (performance.now() - printedAt < PRINT_MS) continue
        printedAt = performance.now()
        tell(`${grouped(sum.copied)} rows copied, at ${table.name}`)
      }
    }
  }
  await Promise.all(links.map(work))
  return sum
}

const PRINT_MS = 5_000

/** Copies the ranges of a table that need it, and yields what was done for each range. */
async function* movedRanges(
  link: Link,
  table: MovedTable,
  known: readonly MovedRange[],
): AsyncGenerator<{ copied: number; rows: number }> {
  const ranges = known.length > 0 ? [...known] : [wholeOf(table)]
  for (let range = ranges.shift(); range; range = ranges.shift()) {
    const again = range.state && (await copiedAgain(link, table, { ...range, state: range.state }))
    if (again) {
      yield again
      continue
    }
    // Ranges have positions, so only the last one can be divided.
    const parts = range.until === null ? await divided(link.source, table, range) : [range]
    const [now, ...later] = parts
    if (!now) continue
    const state = await copyRange(link, table, now)
    await saveRanges(link.target, [{ ...now, state }, ...later])
    ranges.unshift(...later)
    yield { copied: state.rows, rows: state.rows }
  }
}

/** Copies what changed in a range; undefined if all of it has to be copied. */
async function copiedAgain(
  link: Link,
  table: MovedTable,
  range: MovedRange & { state: RangeState },
): Promise<{ copied: number; rows: number } | undefined> {
  const { state } = range
  const changes = await changesOf(link.source, table, range, state)
  const { rows, since, keys } = changes
  if (keys.length === 0 && rows === state.rows) return { copied: 0, rows }
  if (table.key.length === 0 || keys.length > rows / 2) return undefined
  const copied = await copyChanges(link, table, state.rows, changes)
  if (copied === undefined) return undefined
  await saveRanges(link.target, [{ ...range, state: { rows, since } }])
  return { copied, rows }
}

function wholeOf({ name }: MovedTable): MovedRange {
  return { table: name, number: 0, after: null, until: null, state: null }
}

async function divided(
  source: pg.Client,
  table: MovedTable,
  range: MovedRange,
): Promise<MovedRange[]> {
  const keys = table.key.length > 0 ? await divide(source, table, range, ROWS_PER_RANGE) : []
  return [...keys, range.until].map((until, at) => {
    const after = at === 0 ? range.after : (keys[at - 1] ?? null)
    return { table: range.table, number: range.number + at, after, until, state: null }
  })
}

async function finish(target: pg.Client): Promise<void> {
  const begun = await findMove(target)
  await restoreForeignKeys(target, begun?.foreignKeys ?? [])
  await analyzeTables(target)
  await target.query('set synchronous_commit = on')
  await deleteMove(target)
}

function grouped(count: number): string {
  return count.toLocaleString('en')
}
