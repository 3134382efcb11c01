import {
  type Attempt,
  countAttempts,
  type Counted,
  listRateLimits,
  type KeyKind,
  type RateLimit,
} from '../../db/rate-limits.ts'
import { listBannedAmong } from '../../db/shadow-bans.ts'
import type { Pool } from '../../db/pool.ts'
import { systemElapsed } from '../../world.ts'
import { type Actor, actorKey, storedKey } from './actor.ts'
import { type LimitState, rule, type Ruling } from './window.ts'

/**
 * Whether an attempt is let through. `shadowed`: it is to be answered as any other, and its reports
 * are held. `limits` is for the client, and tells nothing of that.
 */
export type Admission =
  | { is: 'admitted' | 'shadowed'; limits: LimitState[] }
  | { is: 'refused'; waitSeconds: number; limits: LimitState[] }

/** Decides who may do what how often. */
export type Limits = {
  /**
   * Counts an attempt, `cost` times, under the limits that it falls under, and decides. What is
   * refused counts too, but not under wider keys than that which refused it: so one machine shuts
   * nobody else out, and fills no table. Rejects when the database cannot count: then nobody may
   * go on.
   */
  admit: (attempt: Attempt, actor: Actor, cost?: number) => Promise<Admission>
  /** Takes an admitted attempt out of the count, where only failures are to count. */
  giveBack: (attempt: Attempt, actor: Actor) => Promise<void>
}

type Attempted = { attempt: Attempt; actor: Actor; cost: number }
type Asked = Attempted & {
  resolve: (admission: Admission) => void
  reject: (error: unknown) => void
}
type Share = { limit: RateLimit; key: string }
type Ruled = { limit: RateLimit; ruling: Ruling }

/** What stands for an actor alone, then what it shares with others; a statement for each. */
const stages: readonly (readonly KeyKind[])[] = [
  ['reporter', 'token', 'device', 'address'],
  ['name-and-address', 'network'],
  ['name-and-network', 'wide-network'],
  ['name', 'all'],
]
const BATCH_MAX = 200
/** So long limits may be old that act: a change is noticed within two seconds. */
const FRESH_MS = 1_000

/**
 * Limits that all processes on one database share. Concurrent attempts travel together: while one
 * statement counts, the next gathers. `notBefore` makes the time later than it is, for tests.
 */
export function createLimits(
  app: { pool: Pool; config: { secret: string } },
  notBefore: () => Date | null = () => null,
): Limits {
  const waiting: Asked[] = []
  let isCounting = false
  let known: { limits: readonly RateLimit[]; readAt: number } | undefined

  async function present(): Promise<readonly RateLimit[]> {
    if (known && systemElapsed() - known.readAt < FRESH_MS) return known.limits
    const readAt = systemElapsed()
    known = { limits: await listRateLimits(app.pool), readAt }
    return known.limits
  }

  async function ruleOn(batch: readonly Asked[], limits: readonly RateLimit[]) {
    const said: Ruled[][] = batch.map(() => [])
    for (const kinds of stages) {
      const shares = batch.map((asked, index) =>
        isRefused(said[index] ?? []) ? [] : sharesOf(asked, limits, kinds, app.config.secret),
      )
      const counted = await countEach(app.pool, batch, shares, notBefore())
      ruleEach(batch, shares, counted).forEach((rulings, index) => said[index]?.push(...rulings))
    }
    return said
  }

  async function count(batch: readonly Asked[]): Promise<void> {
    try {
      const limits = (await present()).filter(({ behavior }) => behavior !== 'off')
      const [said, banned] = await Promise.all([ruleOn(batch, limits), findBanned(app.pool, batch)])
      batch.forEach(({ attempt, actor, resolve }, index) => {
        const isBanned = isReporting(attempt) && banned.has(actor.reporterId ?? '')
        resolve(admissionOf(said[index] ?? [], isBanned))
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  function pump(): void {
    if (isCounting || waiting.length === 0) return
    isCounting = true
    void count(waiting.splice(0, BATCH_MAX)).finally(() => {
      isCounting = false
      pump()
    })
  }

  return {
    admit: (attempt, actor, cost = 1) =>
      new Promise((resolve, reject) => {
        waiting.push({ attempt, actor, cost, resolve, reject })
        pump()
      }),
    giveBack: async (attempt, actor) => {
      await giveBack(app, { attempt, actor, cost: -1 }, await present(), notBefore())
    },
  }
}

async function giveBack(
  { pool, config }: { pool: Pool; config: { secret: string } },
  attempted: Attempted,
  limits: readonly RateLimit[],
  notBefore: Date | null,
): Promise<void> {
  const counting = limits.filter(({ behavior }) => behavior !== 'off')
  const shares = sharesOf(attempted, counting, stages.flat(), config.secret)
  await countEach(pool, [attempted], [shares], notBefore)
}

/** Under another window, what was counted means nothing: so that is part of the key. */
function sharesOf(
  asked: Attempted,
  limits: readonly RateLimit[],
  kinds: readonly KeyKind[],
  secret: string,
): Share[] {
  return limits.flatMap((limit) => {
    if (limit.attempt !== asked.attempt || !kinds.includes(limit.keyKind)) return []
    const who = actorKey(limit.keyKind, asked.actor)
    if (who === undefined) return []
    return [{ limit, key: storedKey(secret, [limit.name, limit.windowMs, limit.keyKind, who]) }]
  })
}

async function countEach(
  pool: Pool,
  batch: readonly Attempted[],
  shares: readonly Share[][],
  notBefore: Date | null,
): Promise<Map<string, Counted>> {
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

/** Only reports are shadowed: who is banned still signs in and reads. */
async function findBanned(pool: Pool, batch: readonly Asked[]): Promise<ReadonlySet<string>> {
  const reporters = batch.flatMap(({ attempt, actor: { reporterId } }) =>
    isReporting(attempt) && reporterId !== undefined ? [reporterId] : [],
  )
  return reporters.length > 0 ? listBannedAmong(pool, [...new Set(reporters)]) : new Set()
}

function isReporting(attempt: Attempt): boolean {
  return attempt === 'report' || attempt === 'mail-in'
}

/** From the last to the first, so that each knows how much came after it. */
function ruleEach(
  batch: readonly Asked[],
  shares: readonly Share[][],
  counted: ReadonlyMap<string, Counted>,
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
      return [{ limit, ruling: rule(limit, state, { cost, later: after }) }]
    })
  }
  return ruled
}

function isRefused(ruled: readonly Ruled[]): boolean {
  return ruled.some(({ limit, ruling }) => limit.behavior === 'refuse' && !ruling.isAdmitted)
}

/** A limit that shadows says nothing of itself: who is above it is told what all others are. */
function admissionOf(rulings: readonly Ruled[], isBanned: boolean): Admission {
  const told = rulings.filter(({ limit }) => limit.behavior === 'refuse')
  const limits = told.map(({ ruling }) => ruling.state)
  const waits = told.flatMap(({ ruling }) => (ruling.isAdmitted ? [] : [ruling.waitSeconds]))
  if (waits.length > 0) return { is: 'refused', waitSeconds: Math.max(...waits), limits }
  const isAbove = rulings.some(({ ruling }) => !ruling.isAdmitted)
  return { is: isBanned || isAbove ? 'shadowed' : 'admitted', limits }
}
