import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { growReports } from '../../../scripts/seeding/grow.ts'
import { startEmbedded } from '../../../src/db/embedded.ts'
import { createPool, type Pool } from '../../../src/db/pool.ts'
import { move } from '../../../src/processes/move.ts'
import { startSmtpSink } from '../smtp-sink.ts'
import { startLine } from './line.ts'
import { type AcceptedByApi, startReporters } from './reporters.ts'
import { settle } from './settle.ts'
import { addAccounts } from './torture-reports.ts'

const FIRST_REPORTS_MS = 8_000
const LAST_REPORTS_MS = 5_000
const WEEKS = 4

/** The result of moving an instance under load; `faults` is empty on success. */
type MovedLine = { rows: number; stoppedMs: number; accepted: number; faults: string[] }

/**
 * Stores some reports, moves the instance to another server while reporters go on reporting, and
 * checks that every accepted report is in the new database and was processed.
 */
export async function tortureMove(
  stored: number,
  seed: number,
  say: (line: string) => void,
): Promise<MovedLine> {
  const sink = await startSmtpSink()
  const line = await startLine(sink.url)
  const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-moved-'))
  await chmod(dataDir, 0o711)
  const other = await startEmbedded({ dataDir, password: 'torture', settings: [] })
  const pool = createPool(other.url, {
    connectionsMax: 3,
    name: 'torture',
    onLost: () => undefined,
  })
  try {
    const accounts = await addAccounts(line.pool)
    await line.untilReady()
    const reporters = startReporters(line.url, accounts, { seed, clockErrorMs: 0 })
    await wait(FIRST_REPORTS_MS)
    const now = new Date()
    const seeding = createPool(line.databaseUrl, {
      connectionsMax: 16,
      name: 'torture',
      onLost: () => undefined,
    })
    await growReports(seeding, { reports: stored, weeks: WEEKS, now }, say)
    await seeding.end()
    const target = { from: line.databaseUrl, to: other.url, backend: 'postgres' as const }
    const { rows, stoppedMs } = await move(target, now, say)
    await line.useDatabase(other.url)
    await wait(LAST_REPORTS_MS)
    await reporters.stop()
    await line.untilReady()
    await settle(pool)
    const told = [...reporters.ledger.told.values()]
    return { rows, stoppedMs, accepted: told.length, faults: await faultsOf(pool, told) }
  } finally {
    await pool.end()
    await line.close()
    await other.stop()
    await sink.close()
    for (const folder of [other.folder, dataDir]) await rm(folder, { recursive: true, force: true })
  }
}

async function faultsOf(pool: Pool, told: readonly AcceptedByApi[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string; state: string }>(
    `select id, state from reports join raw_messages using (id) where id = any($1::uuid[])`,
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
