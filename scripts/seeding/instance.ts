import { addAccount } from '../../src/processes/add-account.ts'
import { migrateAll } from '../../src/processes/migrate.ts'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded.ts'
import { createPool, type Pool } from '../../src/db/pool.ts'
import { findReporterByEmail } from '../../src/db/reporters.ts'
import { seedReports } from './seed.ts'

/** A database with a year of reports, and its users. */
export type Seeded = {
  server: EmbeddedServer
  pool: Pool
  /** The busy reporter, who is also an administrator. */
  reporterId: string
  email: string
  password: string
  close: () => Promise<void>
}

const email = 'busy@reporters.example'
const password = 'seeded for looking'

/** Opens a seeded data folder, or seeds it first. */
export async function openSeeded(
  { dataDir, reports }: { dataDir: string; reports: number },
  say: (sentence: string) => void,
): Promise<Seeded> {
  const server = await startEmbedded({ dataDir, password: 'seed', settings: [] })
  const now = new Date()
  await migrateAll(server.url, now)
  const pool = createPool(server.url, {
    connectionsMax: 6,
    name: 'seed',
    onLost: () => undefined,
  })
  const known = await findReporterByEmail(pool, email)
  const id = known?.id ?? (await addBusy(pool))
  if (!known) await seedReports(pool, { reports, busyReporterId: id, now }, say)
  return {
    ...{ server, pool, reporterId: id, email, password },
    async close() {
      await pool.end()
      await server.stop()
    },
  }
}

async function addBusy(pool: Pool): Promise<string> {
  const account = { email, password, role: 'administrator' as const, wantsToken: false }
  return (await addAccount(account, { pool, clock: () => new Date() })).id
}
