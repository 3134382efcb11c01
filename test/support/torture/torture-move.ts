import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { growReports } from '../../../scripts/seeding/grow.ts'
import { listMovedTables, openMover } from '../../../src/db/move-rows.ts'
import { createPool, type Pool } from '../../../src/db/pool.ts'
import { move } from '../../../src/processes/move.ts'
import { startSmtpSink } from '../smtp-sink.ts'
import { startLine } from './line.ts'
import { keepCluster, keepPostgres } from './line-databases.ts'
import { type AcceptedByApi, startReporters } from './reporters.ts'
import { settle, untilStored } from './settle.ts'
import { addAccounts } from './torture-reports.ts'

const FIRST_REPORTS_MS = 8_000
const LAST_REPORTS_MS = 5_000
const WEEKS = 4

/** The result of moving an instance under load; `faults` is empty on success. */
type MovedLine = {
  rows: number
  movedMs: number
  stoppedMs: number
  /** Reports that were accepted, in all and while the move copied. */
  accepted: number
  acceptedMeanwhile: number
  faults: string[]
}

/**
 * Stores some reports and their copies, moves the instance to another server or to a cluster of
 * Citus while reporters go on reporting, and compares both databases. Then lets the processes use
 * the new one, and checks that every accepted report is in it and was processed.
 */
export async function tortureMove(
  { stored, seed, isToCitus }: { stored: number; seed: number; isToCitus: boolean },
  say: (line: string) => void,
): Promise<MovedLine> {
  const sink = await startSmtpSink()
  const line = await startLine(sink.url)
  const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-moved-'))
  await chmod(dataDir, 0o711)
  const target = isToCitus ? await keepCluster(() => 0) : await keepPostgres(dataDir)
  const pool = openPool(target.url, 3)
  try {
    const accounts = await addAccounts(line.pool)
    await line.untilReady()
    const first = startReporters(line.url, accounts, { seed, clockErrorMs: 0 })
    await wait(FIRST_REPORTS_MS)
    await first.stop()
    const now = new Date()
    const seeding = openPool(line.databaseUrl, 16)
    await settle(seeding)
    await growReports(seeding, { reports: stored, weeks: WEEKS, now }, say)
    await seeding.end()
    const reporters = startReporters(line.url, accounts, { seed: seed + 1, clockErrorMs: 0 })
    const { ledger } = reporters
    await wait(FIRST_REPORTS_MS)
    const [acceptedBefore, startedAt] = [ledger.told.size, performance.now()]
    const urls = { from: line.databaseUrl, to: target.url }
    const { rows, stoppedMs } = await move({ ...urls, backend: target.backend }, now, say)
    const movedMs = performance.now() - startedAt
    const acceptedMeanwhile = ledger.told.size - acceptedBefore
    const differences = await compareRows(urls)
    await line.useDatabase(target)
    await wait(LAST_REPORTS_MS)
    await reporters.stop()
    await line.untilReady()
    await untilStored(pool, ledger)
    await settle(pool)
    const told = [...first.ledger.told.values(), ...ledger.told.values()]
    const faults = [...differences, ...(await faultsOf(pool, told))]
    return { rows, movedMs, stoppedMs, accepted: told.length, acceptedMeanwhile, faults }
  } finally {
    await pool.end()
    await line.close()
    await target.close()
    await sink.close()
    await rm(dataDir, { recursive: true, force: true })
  }
}

function openPool(url: string, connectionsMax: number): Pool {
  return createPool(url, { connectionsMax, name: 'torture', onLost: () => undefined })
}

/** Returns the tables and partitions whose rows differ between two databases. */
async function compareRows({ from, to }: { from: string; to: string }): Promise<string[]> {
  const [before, after] = await Promise.all([sumsOf(from), sumsOf(to)])
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [old, moved] = [before.get(name) ?? 'no rows', after.get(name) ?? 'no rows']
    return old === moved ? [] : [`${name} had ${old}, and has ${moved}`]
  })
}

/** Returns the number of rows and a checksum of each table that has rows. */
async function sumsOf(url: string): Promise<Map<string, string>> {
  const client = await openMover(url)
  await client.query(`set timezone = 'UTC'`)
  const sums = new Map<string, string>()
  for (const { name, columns } of await listMovedTables(client)) {
    const hash = `md5(row(${columns.join(', ')})::text)`
    const { rows } = await client.query<{ rows: number; sum: string }>(
      `select count(*)::int as rows, sum(('x' || left(${hash}, 15))::bit(60)::bigint)::text as sum
       from ${name}`,
    )
    const { rows: count = 0, sum = '' } = rows[0] ?? {}
    if (count > 0) sums.set(name, `${count} rows, checksum ${sum}`)
  }
  await client.end()
  return sums
}

async function faultsOf(pool: Pool, told: readonly AcceptedByApi[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string; state: string }>(
    `select id, state from reports join raw_messages using (id, shard) where id = any($1::uuid[])`,
    [told.map(({ id }) => id)],
  )
  const stateOf = new Map(rows.map(({ id, state }) => [id, state]))
  return told.flatMap(({ id, isRetracted }) => {
    const state = stateOf.get(id)
    if (state === undefined) return [`${id} was accepted and is lost`]
    const expected = isRetracted ? ['retracted'] : ['analyzed', 'kept', 'forwarded']
    return expected.includes(state) ? [] : [`${id} (retracted: ${isRetracted}) ended as ${state}`]
  })
}
