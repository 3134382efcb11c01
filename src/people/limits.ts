import { createHash, createHmac } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { floods } from '../activity/floods.ts'
import { tally } from '../activity/tally.ts'
import { batched } from '../db/batched.ts'
import {
  type Attempt,
  countAttempts,
  findBusiest,
  type LimitCount,
  type KeyKind,
  listRateLimits,
  type RateLimit,
} from '../db/limits.ts'
import { listBannedAmong } from '../db/shadow-bans.ts'
import { nearShard } from '../db/nodes.ts'
import type { Db, Pool } from '../db/pool.ts'
import type { KeyRing } from '../key-ring.ts'
import { addressPrefix, block24Or48 } from '../mail/ip-blocks.ts'
import { parseIp } from '../mail/ip.ts'
import { type Callers, unknownCallers } from '../outage/callers.ts'
import { noOutage, type Outage } from '../outage/outage.ts'
import { systemElapsed } from '../world.ts'

/** What is known about the client that makes an attempt. */
export type Actor = {
  reporterId?: string | undefined
  tokenHash?: Buffer | undefined
  /** A browser that was used for a successful sign-in before. */
  device?: string | undefined
  /** The IP address of the client. */
  address?: string | undefined
  /** The name used to sign in. */
  name?: string | undefined
}

/**
 * Returns the key of an actor for a kind of limit; undefined when the actor lacks the property that
 * the limit counts by. IPv6 hosts change their addresses, so a /64 counts as an address, a /48 as a
 * network and a /32 as a wide network; for IPv4 /24 and /16.
 */
export function actorKey(kind: KeyKind, actor: Actor): string | undefined {
  const name = actor.name?.trim().toLowerCase()
  switch (kind) {
    case 'reporter':
      return actor.reporterId
    case 'token':
      return actor.tokenHash?.toString('base64')
    case 'device':
      return actor.device
    case 'address':
      return prefixOf(actor.address, { octets: 4, groups: 4 })
    case 'network':
      return prefixOf(actor.address, { octets: 3, groups: 3 })
    case 'wide-network':
      return prefixOf(actor.address, { octets: 2, groups: 2 })
    case 'name':
      return name
    case 'name-and-address':
      return both(actorKey('address', actor), name)
    case 'name-and-network':
      return both(actorKey('network', actor), name)
    case 'all':
      return 'all'
  }
}

/** Returns a key as stored: without the secret it cannot be reversed. */
export function storedKey(key: Buffer, parts: readonly (string | number)[]): string {
  const hash = createHmac('sha256', key).update(parts.join('\n')).digest('hex')
  return hash.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function both(place: string | undefined, name: string | undefined): string | undefined {
  return place === undefined || name === undefined ? undefined : `${place} ${name}`
}

function prefixOf(
  address: string | undefined,
  count: { octets: number; groups: number },
): string | undefined {
  const ip = parseIp(address ?? '')
  return ip && addressPrefix(ip, count)
}

/** The state of one limit, as shown to clients. */
export type LimitState = {
  /** The policy name in the rate-limit headers of responses. */
  name: string
  attemptsMax: number
  windowSeconds: number
  /** The number of further attempts that would be admitted now. */
  remaining: number
  /** Time in seconds until more attempts are admitted, if none is made in the meantime. */
  resetSeconds: number
}

/** The decision of one limit on one attempt, and the time in seconds until it would be admitted. */
export type Decision = { isAdmitted: boolean; waitSeconds: number; state: LimitState }

/** Number of sub-windows into which a window is divided. */
const SUB_WINDOWS = 60

/**
 * Decides on one attempt of `cost`. `total` includes this attempt and all others counted with it;
 * `later` is the part of `total` that came after this attempt. The oldest sub-window counts
 * completely, so a limit is at most 1/60 too strict and never too lenient.
 */
export function decideAttempt(
  limit: RateLimit,
  { total, counts, overMs }: LimitCount,
  { cost, later }: { cost: number; later: number },
): Decision {
  const { name, attemptsMax, windowMs } = limit
  const used = total - later
  const isAdmitted = used <= attemptsMax
  const after = (excess: number) => secondsUntilLess(counts, excess, { windowMs, overMs })
  return {
    isAdmitted,
    waitSeconds: isAdmitted ? 0 : after(total - Math.max(0, attemptsMax - cost)),
    state: {
      name,
      attemptsMax,
      windowSeconds: Math.ceil(windowMs / 1_000),
      remaining: Math.max(0, attemptsMax - used),
      resetSeconds: after(Math.max(1, total - attemptsMax + 1)),
    },
  }
}

/**
 * Returns the time in seconds, rounded up, until at least `excess` of the counted attempts have
 * left the window. The attempts of the current sub-window are the last to leave.
 */
function secondsUntilLess(
  counts: readonly number[],
  excess: number,
  { windowMs, overMs }: { windowMs: number; overMs: number },
): number {
  let left = 0
  const at = counts.findIndex((count) => (left += count) >= excess)
  const age = at < 0 ? 0 : counts.length - 1 - at
  // A sub-window counts until it is 61 sub-windows old.
  const waitMs = (SUB_WINDOWS + 1 - age) * (windowMs / SUB_WINDOWS) - overMs
  return Math.max(1, Math.ceil(waitMs / 1_000))
}

/**
 * The decision on an attempt. `shadowed`: the attempt must be answered like any other, and its
 * reports are held. `limits` is shown to the client and does not reveal that the reports are held.
 */
type Admission =
  | { is: 'admitted' | 'shadowed'; limits: LimitState[] }
  | { is: 'refused'; waitSeconds: number; limits: LimitState[] }

/** The rate limits: they decide how many attempts of each kind a client may make. */
export type Limits = {
  /**
   * Counts an attempt with its cost under the limits that apply to it, and decides. Refused
   * attempts count too, but not under wider keys than the one that refused them, so that one
   * machine cannot lock out others or fill the table. Rejects when the database cannot count; then
   * the attempt must be refused.
   */
  admit: (attempt: Attempt, actor: Actor, cost?: number) => Promise<Admission>
  /** Subtracts an admitted attempt; used where only failures count. */
  giveBack: (attempt: Attempt, actor: Actor) => Promise<void>
}

type Attempted = { attempt: Attempt; actor: Actor; cost: number }
type Share = { limit: RateLimit; key: string }
type Ruled = { limit: RateLimit; ruling: Decision }

/**
 * The kinds of keys by stage: first those that belong to one actor, then those that several actors
 * share. Each stage needs one statement.
 */
const stages: readonly (readonly KeyKind[])[] = [
  ['reporter', 'token', 'device', 'address'],
  ['name-and-address', 'network'],
  ['name-and-network', 'wide-network'],
  ['name', 'all'],
]
const BATCH_MAX = 200
/** Two, so that this process prepares one batch while the database counts the other. */
const LANES = 2
/** Maximum age in milliseconds of the cached limits: a change takes effect within two seconds. */
const FRESH_MS = 1_000

/**
 * Creates limits that all processes with one database share. Concurrent attempts are counted in
 * batches: while two statements run, the next batch is collected. `notBefore` is a lower bound of
 * the time, for tests. While the database is away, each process counts for itself.
 */
export function createLimits(app: LimitNeeds, notBefore: () => Date | null = () => null): Limits {
  const { outage = noOutage } = app
  const present = createPresentLimits(app)
  const countShared = createSharedLimits(app, notBefore)
  const countHere = createLocalLimits(app.config.secret)
  const count = batched(
    (batch: readonly Attempted[]) =>
      outage.run(
        async () => countShared(batch, await present()),
        async () => countHere(batch, await present()),
      ),
    { lanes: LANES, fill: () => BATCH_MAX },
  )
  return {
    admit: (attempt, actor, cost = 1) => {
      if (!later.includes(attempt)) noteRequest(actor)
      return count({ attempt, actor, cost })
    },
    giveBack: async (attempt, actor) => {
      const attempted = { attempt, actor, cost: -1 }
      const work = async () => giveBack(app, attempted, await present(), notBefore())
      await outage.run(work, () => undefined)
    },
  }
}

/** What follows another attempt of the same request. */
const later: readonly Attempt[] = ['provider', 'password']

/** Counts a request, so that floods are noticed: also those below all limits. */
function noteRequest({ reporterId, tokenHash, address }: Actor): void {
  if (reporterId !== undefined) {
    floods.note('account', reporterId)
    const token = tokenHash?.toString('hex', 0, TOKEN_BYTES)
    if (token !== undefined) floods.note('token', `${reporterId}/${token}`)
  }
  const ip = parseIp(address ?? '')
  if (ip) floods.note('network', block24Or48(ip))
}

const TOKEN_BYTES = 6

/** Returns a function that reads the limits that are switched on, at most once a second. */
function createPresentLimits(app: LimitNeeds) {
  const { callers = unknownCallers, listLimits = () => listPresentLimits(app.pool) } = app
  let known: { limits: readonly RateLimit[]; readAt: number } | undefined
  return async (): Promise<readonly RateLimit[]> => {
    if (known && systemElapsed() - known.readAt < FRESH_MS) return known.limits
    const readAt = systemElapsed()
    const limits = (await callers.find({ kind: 'limits', key: 'all', find: listLimits })) ?? []
    known = { limits, readAt }
    return limits
  }
}

export async function listPresentLimits(db: Db): Promise<RateLimit[]> {
  return (await listRateLimits(db)).filter(({ behavior }) => behavior !== 'off')
}

type CountBatch<Result> = (batch: readonly Attempted[], limits: readonly RateLimit[]) => Result

/** Counts in the database, together with all other processes. */
function createSharedLimits(
  { pool, config }: LimitNeeds,
  notBefore: () => Date | null,
): CountBatch<Promise<Admission[]>> {
  async function ruleOn(batch: readonly Attempted[], limits: readonly RateLimit[]) {
    const said: Ruled[][] = batch.map(() => [])
    for (const kinds of stages) {
      const shares = batch.map((asked, index) =>
        isRefused(said[index] ?? []) ? [] : sharesOf(asked, limits, kinds, config.secret),
      )
      const counted = await countEach(pool, batch, shares, notBefore())
      ruleEach(batch, shares, counted).forEach((rulings, index) => said[index]?.push(...rulings))
    }
    return said
  }

  return async (batch, limits) => {
    const [said, banned] = await Promise.all([ruleOn(batch, limits), findBanned(pool, batch)])
    return batch.map(({ attempt, actor }, index) => {
      const isBanned = isReporting(attempt) && banned.has(actor.reporterId ?? '')
      return admissionOf(said[index] ?? [], isBanned)
    })
  }
}

type LimitNeeds = {
  pool: Pool
  config: { secret: KeyRing }
  outage?: Pick<Outage, 'run'>
  callers?: Pick<Callers, 'find'>
  /** Default: asks the database. */
  listLimits?: (() => Promise<RateLimit[]>) | undefined
}

const LOCAL_KEYS_MAX = 100_000

/**
 * Counts in this process, while the database is away: each limit in windows that begin anew, so a
 * client may make up to twice as many attempts in a window of any position. Bans are considered
 * when the reports are stored.
 */
function createLocalLimits(secret: KeyRing): CountBatch<Admission[]> {
  const counts = new LRUCache<string, { window: number; count: number }>({ max: LOCAL_KEYS_MAX })

  function ruleOn({ limit, key }: Share, cost: number): Ruled {
    const { name, attemptsMax, windowMs } = limit
    const now = systemElapsed()
    const window = Math.floor(now / windowMs)
    const before = counts.get(key)
    const count = (before?.window === window ? before.count : 0) + cost
    counts.set(key, { window, count })
    const resetSeconds = Math.ceil(((window + 1) * windowMs - now) / 1_000)
    const isAdmitted = count <= attemptsMax
    const remaining = Math.max(0, attemptsMax - count)
    const windowSeconds = Math.ceil(windowMs / 1_000)
    const state = { name, attemptsMax, windowSeconds, remaining, resetSeconds }
    return { limit, ruling: { isAdmitted, waitSeconds: isAdmitted ? 0 : resetSeconds, state } }
  }

  return (batch, limits) =>
    batch.map((asked) => {
      const shares = sharesOf(asked, limits, stages.flat(), secret)
      return admissionOf(
        shares.map((share) => ruleOn(share, asked.cost)),
        false,
      )
    })
}

async function giveBack(
  { pool, config }: { pool: Pool; config: { secret: KeyRing } },
  attempted: Attempted,
  limits: readonly RateLimit[],
  notBefore: Date | null,
): Promise<void> {
  const shares = sharesOf(attempted, limits, stages.flat(), config.secret)
  await countEach(pool, [attempted], [shares], notBefore)
}

/**
 * Returns the limits that apply to an attempt, with their keys. A key includes the window, because
 * its counts are meaningless for another window.
 */
function sharesOf(
  asked: Attempted,
  limits: readonly RateLimit[],
  kinds: readonly KeyKind[],
  secret: KeyRing,
): Share[] {
  const key = secret.key('limit')
  return limits.flatMap((limit) => {
    if (limit.attempt !== asked.attempt || !kinds.includes(limit.keyKind)) return []
    const who = actorKey(limit.keyKind, asked.actor)
    if (who === undefined) return []
    const own = storedKey(key, [limit.name, limit.windowMs, limit.keyKind, who])
    return [{ limit, key: keyPrefix(limit) + own.slice(PREFIX_DIGITS) }]
  })
}

const UUID_DIGITS = 32
const PREFIX_DIGITS = 8
const prefixes = new Map<string, string>()

/** The first digits of all keys of a limit with its window, so that they are found together. */
function keyPrefix({ name, windowMs }: RateLimit): string {
  return prefixes.getOrInsertComputed(`${name}\n${windowMs}`, (text) =>
    createHash('sha256').update(text).digest('hex').slice(0, PREFIX_DIGITS),
  )
}

/** Returns the attempts in the present window of the busiest key of each limit, by its name. */
export async function listBusiest(
  db: Db,
  limits: readonly RateLimit[],
  notBefore: Date | null = null,
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>()
  for (const limit of limits) {
    const end = (digit: string) => keyPrefix(limit) + digit.repeat(UUID_DIGITS - PREFIX_DIGITS)
    found.set(limit.name, await findBusiest(db, { from: end('0'), to: end('f') }, notBefore))
  }
  return found
}

async function countEach(
  pool: Pool,
  batch: readonly Attempted[],
  shares: readonly Share[][],
  notBefore: Date | null,
): Promise<Map<string, LimitCount>> {
  const amounts = new Map<string, { key: string; windowMs: number; amount: number }>()
  shares.forEach((own, index) => {
    for (const { key, limit } of own) {
      const amount = (amounts.get(key)?.amount ?? 0) + (batch[index]?.cost ?? 0)
      amounts.set(key, { key, windowMs: limit.windowMs, amount })
    }
  })
  const countings = [...amounts.values()]
  if (countings.length === 0) return new Map()
  const counted = await countAttempts(pool, countings, notBefore)
  return new Map(counted.map((one, index) => [countings[index]?.key ?? '', one]))
}

/**
 * Returns the banned reporters. Only reports are shadowed: a banned reporter can still sign in and
 * read.
 */
async function findBanned(pool: Pool, batch: readonly Attempted[]): Promise<ReadonlySet<string>> {
  const reporters = batch.flatMap(({ attempt, actor: { reporterId } }) =>
    isReporting(attempt) && reporterId !== undefined ? [reporterId] : [],
  )
  return reporters.length > 0
    ? listBannedAmong(nearShard(pool, 0), [...new Set(reporters)])
    : new Set()
}

function isReporting(attempt: Attempt): boolean {
  return attempt === 'report' || attempt === 'mail-in' || attempt === 'mailbox-user'
}

/**
 * Returns the decisions on a batch of attempts. Decides from the last attempt to the first, because
 * the decision on an attempt depends on the number of attempts after it.
 */
function ruleEach(
  batch: readonly Attempted[],
  shares: readonly Share[][],
  counted: ReadonlyMap<string, LimitCount>,
): Ruled[][] {
  const later = new Map<string, number>()
  const ruled: Ruled[][] = []
  for (let index = batch.length - 1; index >= 0; index--) {
    const cost = batch[index]?.cost ?? 0
    ruled[index] = (shares[index] ?? []).flatMap(({ limit, key }) => {
      const state = counted.get(key)
      if (!state) return []
      const after = later.get(key) ?? 0
      later.set(key, after + cost)
      return [{ limit, ruling: decideAttempt(limit, state, { cost, later: after }) }]
    })
  }
  return ruled
}

function isRefused(ruled: readonly Ruled[]): boolean {
  return ruled.some(({ limit, ruling }) => limit.behavior === 'refuse' && !ruling.isAdmitted)
}

/**
 * Combines the decisions of all limits on an attempt. Limits that shadow are not shown: clients
 * above them get the same answer as all others.
 */
function admissionOf(rulings: readonly Ruled[], isBanned: boolean): Admission {
  const refusing = rulings.filter(({ limit }) => limit.behavior === 'refuse')
  const limits = refusing.map(({ ruling }) => ruling.state)
  const waits = refusing.flatMap(({ ruling }) => (ruling.isAdmitted ? [] : [ruling.waitSeconds]))
  for (const { limit, ruling } of rulings) {
    if (ruling.isAdmitted) continue
    tally.count(`people/limits/${limit.name}`)
    floods.note('limit', limit.name)
  }
  if (waits.length > 0) return { is: 'refused', waitSeconds: Math.max(...waits), limits }
  const isAbove = rulings.some(({ ruling }) => !ruling.isAdmitted)
  return { is: isBanned || isAbove ? 'shadowed' : 'admitted', limits }
}
