import { freePort } from '../support/free-port.ts'
import { layWire, type Wire } from '../db/web/cut-wire.ts'
import { listByHand } from '../support/listed-by-hand.ts'
import { makeSite, type Site } from '../support/parts.ts'
import type { Program } from '../support/process.ts'

/**
 * A site that checks mail for mail servers. It judges mail with a return path at `bad.example` as
 * spam.
 */
export type AskedSite = {
  site: Site
  check: Program
  /** Starts `check` again after it ended. */
  startCheck: () => Promise<Program>
  checkPort: number
  /** The connection of `check` to its database, which tests can cut. */
  wire: Wire
  clear: () => Promise<void>
}

/** Starts a site with its process `check`. */
export async function makeAskedSite(env: Record<string, string> = {}): Promise<AskedSite> {
  const checkPort = await freePort()
  const site = await makeSite({ CHECK_PORT: String(checkPort), ...env })
  await listByHand(site.database.pool, { kind: 'return-path-domain', name: 'bad.example' })
  const database = new URL(site.database.url)
  const wire = await layWire(Number(database.port))
  database.host = `127.0.0.1:${wire.port}`
  const startCheck = () => site.start('check', { DATABASE_URL: database.href })
  const check = await startCheck()
  const clear = async () => {
    await site.clear()
    await wire.cut()
  }
  return { site, check, startCheck, checkPort, wire, clear }
}
