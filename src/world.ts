import { randomBytes } from 'node:crypto'

/** Returns the current instant. It is passed as a parameter, so that tests can control the time. */
export type Clock = () => Date

/** Returns `count` unpredictable bytes. */
export type Random = (count: number) => Buffer

export type DnsType = 'A' | 'AAAA' | 'MX' | 'PTR' | 'TXT'

/**
 * The answer to a DNS query. `none`: the name or the record does not exist. `unknown`: no answer
 * (timeout, SERVFAIL, no resolver), so the record may or may not exist. The strings of a TXT record
 * are joined; MX records are host names in order of preference.
 */
export type DnsAnswer =
  | { is: 'found'; records: readonly string[] }
  | { is: 'none' }
  | { is: 'unknown'; why: string }

/** Queries the DNS. It is passed as a parameter; never rejects, and answers in bounded time. */
export type Resolve = (name: string, type: DnsType) => Promise<DnsAnswer>

export const systemClock: Clock = () => new Date()

/** The monotonic system clock in milliseconds, for durations. */
export const systemElapsed = (): number => performance.now()

/**
 * The pause in milliseconds before work that repeats every `ms`: about `ms`, and until a multiple
 * of it on the clock. So an idle machine wakes once for all such work.
 */
export function untilNext(ms: number): number {
  const left = ms - (Date.now() % ms)
  return left < ms / 2 ? left + ms : left
}

/** Work that repeats in rounds until it is closed. */
export type Rounds = { close: () => Promise<void> }

/**
 * Runs one round after another until closed. Each round returns the pause before the next one, in
 * milliseconds. A round must not reject; a long one can check `isClosed`. `firstMs` is the pause
 * before the first round. The pauses end with the process, unless `keepsAlive` is set.
 */
export function runRounds(
  round: (isClosed: () => boolean) => Promise<number>,
  { firstMs = 0, keepsAlive = false } = {},
): Rounds {
  let isClosed = false
  let wake: () => void = () => undefined
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      if (!keepsAlive) timer.unref()
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const run = async () => {
    for (let pauseMs = firstMs; !isClosed;) {
      if (pauseMs > 0) await pause(pauseMs)
      if (!isClosed) pauseMs = await round(() => isClosed)
    }
  }
  const running = run()
  return {
    async close() {
      isClosed = true
      wake()
      await running
    },
  }
}

/** Returns the result of a promise, or `late` when it takes longer than `waitMs`. */
export async function inTime<T, Late>(
  asking: Promise<T>,
  waitMs: number,
  late: Late,
): Promise<T | Late> {
  const tooLate = Promise.withResolvers<Late>()
  const timer = setTimeout(tooLate.resolve, waitMs, late)
  return Promise.race([asking, tooLate.promise]).finally(() => clearTimeout(timer))
}

export const systemRandom: Random = (count) => {
  if (count > POOL_BYTES) return randomBytes(count)
  if (pooled.length < count) pooled = randomBytes(POOL_BYTES)
  const taken = Buffer.from(pooled.subarray(0, count))
  pooled = pooled.subarray(count)
  return taken
}

/** Bytes drawn in one call: drawing 16 bytes costs as much as drawing 4096. */
const POOL_BYTES = 4_096
let pooled = Buffer.alloc(0)

/**
 * A version 7 UUID (RFC 9562 §5.7): 48 bits of milliseconds, then random bits. Reports and their
 * dependent rows are partitioned by the time inside.
 */
export function uuidv7(now: Date, random: Random = systemRandom): string {
  const bytes = random(16)
  bytes.writeUIntBE(now.getTime(), 0, 6)
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return uuidOf(bytes.toString('hex'))
}

/** Formats 32 hexadecimal digits as a UUID. */
export function uuidOf(hex: string): string {
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-')
}

/** The smallest version 7 UUID of an instant: the bound of a partition or a time range. */
export function uuidFloor(at: Date): string {
  const hex = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

export const SHARDS = 16

/**
 * The shard of an id: its last hexadecimal digit, 0 to 15. All rows of a report are in the shard of
 * its id, and a distributed database keeps a shard on one node.
 */
export function shardOf(id: string): number {
  return Number.parseInt(id.slice(-1), SHARDS)
}

export function randomShard(): number {
  return systemRandom(1).readUInt8() % SHARDS
}

/** Returns an id that differs from `id` only in its shard. */
export function inShard(id: string, shard: number): string {
  return id.slice(0, -1) + shard.toString(SHARDS)
}

/** The instant inside a version 7 UUID. */
export function uuidTime(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))
}
