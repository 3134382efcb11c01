import { setTimeout as wait } from 'node:timers/promises'
import { seedShingles, shingleSeed } from '../../../src/pieces/shingles/hash.ts'
import { usualScopes } from '../../../src/db/sessions.ts'
import { addAccount } from '../../../src/processes/add-account.ts'
import { reasonOf } from '../../../src/errors.ts'
import { systemClock } from '../../../src/world.ts'
import { findShingleSeed } from '../../../src/db/installation.ts'
import type { Pool } from '../../../src/db/pool.ts'
import { chanceFrom } from '../chance.ts'
import { type SinkFailure, type SinkStep, type SmtpSink, startSmtpSink } from '../smtp-sink.ts'
import { type Examined, examine } from './examine.ts'
import { type ExaminedMail, examineMail } from './examine-mail.ts'
import { type Line, startLine } from './line.ts'
import { keepCluster } from './line-databases.ts'
import { type Account, type Ledger, startReporters } from './reporters.ts'
import { listWaitingJobs, settle, silenceWorkers, untilStored } from './settle.ts'
import { pick } from './written-mail.ts'

/** The result of a torture run of the whole line; `faults` is empty on success. */
export type TorturedLine = Examined & {
  mail: ExaminedMail
  kills: string[]
  requests: number
  /** Process ends that the test did not cause. */
  surprises: readonly string[]
}

/** The parameters of a run: equal seeds give equal messages and faults, but not equal times. */
export type Torture = {
  /** Maximum number of faults. */
  kills: number
  seed: number
  say: (line: string) => void
  /** After an abort nothing more is caused, and the state so far is checked. */
  enough?: AbortSignal
  /** Whether, besides kills, all other faults occur; this needs root. */
  isAll?: boolean
  /** Whether the database is a cluster of Citus, whose nodes are killed more often than the rest. */
  isCitus?: boolean
}

const REPORTERS = 4
/** Number of relays per reporter. */
const RELAYS = 5
const LAST_WORDS_MS = 1_500
const PAUSE_MS_MIN = 200
const PAUSE_MS_MORE = 1_300
const STANDSTILL_MS_MAX = 1_500
const VICTIMS_MAX = 3
const FROZEN_MS_MAX = 5_000
const CLOCK_ERROR_MS = 120_000
const DISK_BYTES = 3_000_000_000
const DISK_FULL_MS_MORE = 3_000
const MEMORY_BYTES_MORE = 50_000_000
const NODE_LOST_MS_MAX = 18_000
/** Time after which no job may still wait that was there when a lost node returned. */
const CAUGHT_UP_MS_MAX = 60_000

/**
 * Lets simulated reporters report while it kills the processes one after another. Then waits until
 * all reports are processed, compares the counts with an offline count of the accepted reports, and
 * checks that each feedback report was sent.
 */
export async function tortureReports(torture: Torture): Promise<TorturedLine> {
  const startedAt = new Date()
  const sink = await startSmtpSink()
  const skew = chanceFrom(torture.seed + 1)
  const isAll = torture.isAll === true
  const clockErrorMs = isAll ? CLOCK_ERROR_MS : 0
  const faulty = { diskBytes: DISK_BYTES, skewMs: () => skewOf(skew) }
  const lost = chanceFrom(torture.seed + 2)
  const cluster = { openDatabase: () => keepCluster(() => lost() * NODE_LOST_MS_MAX) }
  const line = await startLine(sink.url, { ...(isAll && faulty), ...(torture.isCitus && cluster) })
  try {
    const accounts = await addAccounts(line.pool)
    await line.untilReady()
    const reporters = startReporters(line.url, accounts, { ...torture, clockErrorMs })
    const { kills, grown, late } = await tortureByChance(line, sink, torture)
    // Failures that are left would pause all mail again and again while the work is to end.
    sink.recover()
    await wait(LAST_WORDS_MS)
    const wrong = await faultsOf(reporters.stop())
    torture.say('Everybody has been answered; waiting for the end of all work.')
    await line.untilReady()
    const { ledger } = reporters
    await untilStored(line.pool, ledger)
    await settle(line.pool)
    wrong.push(...(await faultsOf(reporters.actOnOld())))
    await settle(line.pool)
    const examined = await examineSeeded(line.pool, ledger, startedAt)
    const mail = await examineMail(line.pool, sink.messages, ledger)
    const faults = [...wrong, ...examined.faults, ...mail.faults, ...grown, ...late]
    const { requests } = ledger
    return { kills, requests, surprises: line.surprises, ...examined, mail, faults }
  } finally {
    await line.close()
    await sink.close()
  }
}

async function faultsOf(acting: Promise<void>): Promise<string[]> {
  try {
    await acting
    return []
  } catch (error) {
    return [reasonOf(error)]
  }
}

/** Examines the database with the shingle seed of its instance. */
export async function examineSeeded(
  pool: Pool,
  ledger: Ledger,
  startedAt: Date,
): Promise<Examined> {
  const seed = await findShingleSeed(pool)
  if (seed === undefined) throw new Error('The instance has no seed.')
  const before = shingleSeed()
  seedShingles(seed)
  return examine(pool, ledger, startedAt).finally(() => seedShingles(before))
}

/**
 * Causes faults one after another; returns their names, the processes that grew, and the losses of
 * nodes after which jobs waited too long.
 */
async function tortureByChance(
  line: Line,
  sink: SmtpSink,
  { kills, seed, say, enough, isAll, isCitus }: Torture,
): Promise<{ kills: string[]; grown: string[]; late: string[] }> {
  const chance = chanceFrom(seed)
  const done: string[] = []
  const late: string[] = []
  const memory = watchMemory(line)
  while (done.length < kills && enough?.aborted !== true) {
    // A process that was just killed may be killed again while starting.
    if (chance() < 0.75) await line.untilReady()
    await memory.look()
    await wait(PAUSE_MS_MIN + chance() * PAUSE_MS_MORE)
    if (isCitus === true && chance() < 0.6) {
      const node = pick(chance, ['coordinator', 'worker 1', 'worker 2'])
      await line.kill(node)
      const { ms, left } = await untilCaughtUp(line.pool)
      done.push(`${node} lost; jobs caught up in ${(ms / 1_000).toFixed(1)} s`)
      if (ms > CAUGHT_UP_MS_MAX) late.push(`${done.at(-1)}: ${JSON.stringify(left?.slice(0, 3))}`)
    } else {
      const cause = isAll === true && chance() < 0.4 ? pick(chance, otherFaults) : kill
      done.push(...(await cause(line, sink, chance)))
    }
    say(`${done.length}: ${done.at(-1)}`)
  }
  return { kills: done, grown: memory.grown(), late }
}

/** Waits until the jobs that are there now are done; returns the time in ms, and those left. */
async function untilCaughtUp(pool: Pool) {
  const before = new Date()
  for (;;) {
    const ms = Date.now() - before.getTime()
    const left = await listWaitingJobs(pool, before).catch(() => undefined)
    if (left?.length === 0 || ms > 3 * CAUGHT_UP_MS_MAX) return { ms, left }
    await wait(500)
  }
}

/** Causes one or several faults and returns their names. */
type Fault = (line: Line, sink: SmtpSink, chance: () => number) => Promise<string[]>

const kill: Fault = async (line, _sink, chance) => {
  const victims = pickVictims(line, chance)
  const sleeper = chance() < 0.3 ? pick(chance, line.parts) : undefined
  const goOn = sleeper === undefined ? undefined : line.freeze(sleeper)
  await Promise.all(victims.map((victim) => line.kill(victim)))
  // The database may be unavailable, which is part of the test. Not awaited at once, because the
  // statement waits for locks of a process that stands still.
  const silenced = chance() < 0.3 && silenceWorkers(line.pool).catch(() => undefined)
  if (goOn) await wait(chance() * STANDSTILL_MS_MAX)
  goOn?.()
  await silenced
  const others = sleeper === undefined ? '' : ` while ${sleeper} stood still`
  return victims.map(() => `killed together: ${victims.join(', ')}${others}`)
}

/** Picks up to three processes that die at the same time, of which the database is one at most. */
function pickVictims(line: Line, chance: () => number): string[] {
  const count = 1 + Math.floor(chance() * VICTIMS_MAX)
  const picked = new Set(Array.from({ length: count }, () => pick(chance, line.victims)))
  const isPart = (victim: string) => line.parts.includes(victim)
  const database = [...picked].find((victim) => !isPart(victim))
  return [...picked].filter((victim) => isPart(victim) || victim === database)
}

const failRelay: Fault = (_line, sink, chance) => {
  const [step, failure] = pick(chance, relayFailures)
  const count = 1 + Math.floor(chance() * 20)
  sink.failNext(step, failure, count)
  const how = typeof failure === 'string' ? failure : String(failure.code)
  return Promise.resolve([`the mail server fails ${count} times at ${step}: ${how}`])
}

const relayFailures: readonly (readonly [SinkStep, SinkFailure])[] = [
  ['connect', 'drop'],
  ['connect', { code: 421 }],
  ['mail', 'drop'],
  ['mail', { code: 451 }],
  ['rcpt', 'drop'],
  ['rcpt', { code: 450 }],
  ['dot', 'drop'],
  ['dot', { code: 451 }],
  ['dot', 'keep-and-drop'],
]

const otherFaults: readonly Fault[] = [
  failRelay,
  failRelay,
  async (line) => {
    await line.restartPostgres()
    return ['PostgreSQL restarted']
  },
  async (line) => {
    await line.cutConnections().catch(() => undefined)
    return ['all connections to the database cut']
  },
  async (line, _sink, chance) => {
    await line.fillDisk(500 + chance() * DISK_FULL_MS_MORE)
    return ['disk full for a while']
  },
  async (line, _sink, chance) => {
    const goOn = line.freeze('web')
    await wait(chance() * FROZEN_MS_MAX)
    goOn()
    return ['web stood still']
  },
]

/** Returns by how much the clock of a process is wrong that is about to start: one in four. */
function skewOf(chance: () => number): number {
  return chance() < 0.25 ? Math.round((2 * chance() - 1) * CLOCK_ERROR_MS) : 0
}

/** Compares the memory of the processes early and late in a run. */
function watchMemory(line: Line): { look: () => Promise<void>; grown: () => string[] } {
  const seen = new Map<string, number[]>()
  return {
    async look() {
      for (const [name, bytes] of await line.memory()) seen.getOrInsert(name, []).push(bytes)
    },
    grown: () =>
      [...seen].flatMap(([name, all]) => {
        const half = Math.ceil(all.length / 2)
        const [early, late] = [Math.max(...all.slice(0, half)), Math.max(0, ...all.slice(half))]
        if (late <= early * 1.5 + MEMORY_BYTES_MORE) return []
        return [`${name} grew from ${Math.round(early / 1e6)} to ${Math.round(late / 1e6)} MB`]
      }),
  }
}

export async function addAccounts(pool: Pool): Promise<Account[]> {
  const accounts: Account[] = []
  for (let number = 1; number <= REPORTERS; number++) {
    const email = `reporter${number}@home.example`
    const request = {
      email,
      password: undefined,
      role: null,
      wantsToken: true,
      scopes: [...usualScopes, 'account' as const],
    }
    const { id, token = '' } = await addAccount(request, { pool, clock: systemClock })
    const relayIps = Array.from({ length: RELAYS }, (_, relay) => `192.0.2.${number * 10 + relay}`)
    accounts.push({ id, token, email, relayIps })
  }
  return accounts
}
