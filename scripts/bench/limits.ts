import { RateLimiterPostgres } from 'rate-limiter-flexible'
import { createPool, type Pool } from '../../src/db/pool.ts'
import { countAttempts } from '../../src/db/limits.ts'
import { createLimits, storedKey } from '../../src/people/limits.ts'
import { onlyLimit } from '../../test/support/limits.ts'
import { withOwnDatabase } from '../../test/support/own-database.ts'
import { reporterOf } from '../../test/support/torture/limits/plan.ts'
import { percentiles, printTable } from './corpus.ts'

const KEYS = 1_000
const DECISIONS = 20_000
const AT_ONCE = 64
const CONNECTIONS = 10
const ROUNDS = 5
const WINDOW_MS = 60_000
const FULL_KEYS = 5_000
const TOGETHER = 50

type Limiter = { name: string; decide: (key: number) => Promise<unknown> }
type Round = { perSecond: number; cpuUs: number }

/**
 * Measures decisions per second compared with rate-limiter-flexible, which counts in fixed windows,
 * on the same PostgreSQL with the same connections, alternately. Also measures the size of a key
 * that was used in every sub-window.
 */
export function benchLimits(): Promise<void> {
  return withOwnDatabase(async ({ url }) => {
    const pool = createPool(url, {
      connectionsMax: CONNECTIONS,
      name: 'bench',
      onLost: () => undefined,
    })
    await onlyLimit(pool, { windowMs: WINDOW_MS, attemptsMax: 1_000_000 })
    const limiters = [ours(pool), await flexible(pool)]
    const rounds = limiters.map((): Round[] => [])
    for (let round = -1; round < ROUNDS; round++) {
      for (const [index, limiter] of limiters.entries()) {
        const measured = await run(limiter)
        if (round >= 0) rounds[index]?.push(measured)
      }
    }
    report(limiters, rounds)
    await reportBytes(pool)
    await pool.end()
  })
}

function ours(pool: Pool): Limiter {
  const limits = createLimits({ pool, config: { secret: 'a secret of the benchmark' } })
  return {
    name: 'sliding windows of 60 parts',
    decide: (key) => limits.admit('webhook', { reporterId: reporterOf(key) }),
  }
}

async function flexible(pool: Pool): Promise<Limiter> {
  const limiter = await new Promise<RateLimiterPostgres>((resolve, reject) => {
    const made: RateLimiterPostgres = new RateLimiterPostgres(
      {
        storeClient: pool,
        tableName: 'flexible',
        points: 1_000_000,
        duration: WINDOW_MS / 1_000,
        clearExpiredByTimeout: false,
      },
      // The constructor calls this function when its table exists.
      (error?: Error) => (error ? reject(error) : setImmediate(() => resolve(made))),
    )
  })
  return { name: 'rate-limiter-flexible 11.4.0', decide: (key) => limiter.consume(String(key)) }
}

async function run({ decide }: Limiter): Promise<Round> {
  let left = DECISIONS
  const cpu = process.cpuUsage()
  const begin = performance.now()
  const one = async () => {
    while (left-- > 0) await decide(Math.floor(Math.random() * KEYS))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  const seconds = (performance.now() - begin) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: DECISIONS / seconds, cpuUs: (user + system) / DECISIONS }
}

function report(limiters: readonly Limiter[], rounds: readonly (readonly Round[])[]): void {
  const medians = rounds.map((ofOne) => ({
    perSecond: percentiles(ofOne.map(({ perSecond }) => perSecond)).p50,
    cpuUs: percentiles(ofOne.map(({ cpuUs }) => cpuUs)).p50,
  }))
  const base = medians[1]?.perSecond ?? 1
  console.log(`${AT_ONCE} at once on ${CONNECTIONS} connections, medians of ${ROUNDS} rounds`)
  printTable(
    ['limiter', 'decisions/s', 'ratio', 'process CPU'],
    limiters.map(({ name }, index) => {
      const { perSecond = 0, cpuUs = 0 } = medians[index] ?? {}
      const [rate, cpu] = [Math.round(perSecond).toLocaleString('en'), `${Math.round(cpuUs)} µs`]
      return [name, rate, (perSecond / base).toFixed(2), cpu]
    }),
  )
}

/** Measures the bytes per key. Every sub-window of every key is used in turn. */
async function reportBytes(pool: Pool): Promise<void> {
  await pool.query('truncate rate_counts')
  const begin = Date.now() + WINDOW_MS
  const keys = Array.from({ length: FULL_KEYS }, (_, key) => storedKey('a secret', [key]))
  for (let slot = 0; slot < 90; slot++) {
    const at = new Date(begin + (slot * WINDOW_MS) / 60)
    const order = shuffled(keys)
    for (let first = 0; first < FULL_KEYS; first += TOGETHER) {
      const together = order.slice(first, first + TOGETHER)
      await countAttempts(
        pool,
        together.map((key) => ({ key, windowMs: WINDOW_MS, amount: 1 })),
        at,
      )
    }
  }
  const { rows } = await pool.query<{ bytes: number }>(
    `select pg_total_relation_size('rate_counts') as bytes`,
  )
  const perKey = Math.round((rows[0]?.bytes ?? 0) / FULL_KEYS)
  console.log(
    `bytes a key whose 61 sub-windows are all in use, with index and dead rows: ${perKey}`,
  )
}

function shuffled(keys: readonly string[]): string[] {
  const placed = keys.map((key) => ({ key, at: Math.random() }))
  return placed.sort((one, other) => one.at - other.at).map(({ key }) => key)
}
