import { createGuardedFetch } from '../../src/net/guarded-http.ts'
import { reachOf } from '../../src/net/rdap/get-json.ts'
import { createRdap, type Rdap } from '../../src/net/rdap/rdap.ts'
import { type RdapServer, startRdapServer } from './rdap-server.ts'

/** A client and its registry, and a clock that only waiting and `pass` move. */
export type RdapPlace = {
  server: RdapServer
  rdap: Rdap
  now: () => Date
  pass: (ms: number) => void
  close: () => Promise<void>
}

/**
 * The differences from the defaults: the services of the bootstrap file, and the time limit of a
 * request.
 */
export type RdapPlaceOptions = { services?: unknown; timeoutMs?: number }

/** Opens a client and its registry: only the bootstrap files have answers yet. */
export async function openRdapPlace(options: RdapPlaceOptions = {}): Promise<RdapPlace> {
  const server = await startRdapServer(options.services)
  let now = new Date('2026-11-20T12:00:00Z')
  const pass = (ms: number) => void (now = new Date(now.getTime() + ms))
  const world = {
    clock: () => now,
    fetch: createGuardedFetch(reachOf(server.bootstrapUrl).mayConnect),
    wait: (ms: number) => Promise.resolve(pass(ms)),
  }
  const limits = { timeoutMs: options.timeoutMs ?? 5_000, bodyBytesMax: 512 * 1024 }
  const rdap = createRdap(server.bootstrapUrl, world, limits)
  return { server, rdap, now: world.clock, pass, close: server.close }
}
