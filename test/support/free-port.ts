import { isPortFree } from '../../src/db/embedded.ts'

/**
 * The ports of tests: above the ephemeral ports of Linux, and apart from those that an embedded
 * PostgreSQL server chooses, so that nothing else takes one while a test restarts its program.
 */
const PORTS = { first: 61_000, count: 4_480 }
const WORKERS = 32

let next = Math.floor(Math.random() * PORTS.count)

/** Returns a free TCP port of the loopback address; no two workers of one run share a port. */
export async function freePort(): Promise<number> {
  const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % WORKERS
  for (let tries = 0; tries < PORTS.count; tries += WORKERS) {
    next = (next + WORKERS) % PORTS.count
    const port = PORTS.first + next - (next % WORKERS) + worker
    if (await isPortFree(port)) return port
  }
  throw new Error(`No port is free from ${PORTS.first} up.`)
}
