import { createPublicKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile, statfs } from 'node:fs/promises'
import { hostname } from 'node:os'
import path from 'node:path'
import { floods, type Surge } from '../activity/floods.ts'
import type { App } from '../app.ts'
import {
  findLastPlace,
  forgetStopped,
  keepHeartbeat,
  type ProcessRow,
  stopHeartbeat,
  takePlace,
} from '../db/health.ts'
import { inTransaction } from '../db/pool.ts'
import { reasonOf } from '../errors.ts'
import { parseTagList } from '../mail/dkim-signature.ts'
import { createResolver } from '../net/resolver.ts'
import { findSpoolFault, readSpool, spoolHangs } from '../outage/spool.ts'
import type { WorkerState } from '../queue/boss.ts'
import { type Clock, type Resolve, runRounds, systemElapsed, untilNext, uuidv7 } from '../world.ts'

/** What one process knows and the database does not. A fact is absent if it does not apply. */
export type ProcessFacts = {
  /** The disk of the data folder. */
  disk?: { freePercent: number }
  /** The reports on disk that wait for the database. */
  spool?: { oldestAt: string | null; unstorable: number; fault?: string | null }
  /** The certificate of the mail receiver. */
  certificate?: { endsAt: string } | { fault: string }
  /** Whether the published DKIM record is that of our key. */
  dkim?: { state: 'matches' | 'differs' | 'missing' } | { fault: string }
  /** When the name servers last answered; null: not yet. */
  dns?: { answeredAt: string | null; fault: string | null }
  /** What its workers do, by queue. */
  queues?: Readonly<Record<string, WorkerState>>
  /** The largest of what may be a flood. */
  floods?: readonly Surge[]
  secrets?: readonly string[]
}

export type RunningProcess = ProcessRow<ProcessFacts>

const BEAT_MS = 5_000
/** Interval in milliseconds at which the facts are collected. */
const FACTS_MS = 30_000
/** Free space in percent below which a disk is looked at with each heartbeat. */
const LOW = 15

/**
 * Time in seconds without a heartbeat after which a successor takes the place of a process, and the
 * time in milliseconds after its own start for which a successor looks for one.
 */
const SILENT_SECONDS = 20
/** A slower answer says nothing about clocks: a database that hung stores what came before. */
const ANSWER_MS_MAX = 1_000
const SEEKING_MS = 60_000

/** Maximum number of jobs of a queue that a process names. */
const NAMED_MAX = 200

type Needs = Pick<App, 'pool' | 'clock' | 'log' | 'config'> & Partial<Pick<App, 'boss'>>

/** The heartbeats of a process, with the id of its row. */
export type Heartbeats = { id: string; close: () => Promise<void> }

/**
 * Has a process store every five seconds that it runs, until closed. The row is deleted when the
 * process stops, so a row without heartbeats is a process that is frozen or was killed. A successor
 * that does the same on the same host deletes it, and takes its place.
 */
export function startHeartbeats(app: Needs, name: string, duty = ''): Heartbeats {
  const startedAt = app.clock()
  const its = {
    id: uuidv7(startedAt),
    host: hostname(),
    name,
    duty,
    version: programVersion(),
    startedAt,
  }
  const collector = createCollector(app, name)
  let firstAt: number | undefined
  /** By how much our clock is ahead of that of the database. */
  let aheadSeconds: number | undefined

  async function beat(): Promise<number> {
    try {
      const facts = { ...collector.facts(), ...workOf(app), secrets: app.config.secret.names }
      const [now, sentAt] = [app.clock(), systemElapsed()]
      const storedAt = await keepHeartbeat(app.pool, { ...its, facts, now, aheadSeconds })
      const tookMs = systemElapsed() - sentAt
      const aheadMs = now.getTime() + tookMs / 2 - storedAt.getTime()
      if (tookMs < ANSWER_MS_MAX) aheadSeconds = aheadMs / 1_000
      firstAt ??= systemElapsed()
      if (systemElapsed() - firstAt < SEEKING_MS) await seekPlace(app, its.id)
    } catch (error) {
      // The condition "database" shows the outage.
      app.log.debug({ reason: reasonOf(error) }, 'Could not store the heartbeat. Will retry.')
    }
    return untilNext(BEAT_MS)
  }

  const beats = runRounds(beat)
  return {
    id: its.id,
    async close() {
      await beats.close()
      collector.close()
      await stopHeartbeat(app.pool, its.id).catch(() => undefined)
    },
  }
}

/**
 * Takes the places of processes that ended before this one started, the last one first. While the
 * last one may still run, no other place is taken: it may turn out to be the predecessor.
 */
async function seekPlace({ pool }: Needs, id: string): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await forgetStopped(tx)
    for (;;) {
      const last = await findLastPlace(tx, id, SILENT_SECONDS)
      if (!last?.isFree || !(await takePlace(tx, id, last.id))) return
    }
  })
}

function workOf({ boss }: Needs): Pick<ProcessFacts, 'queues'> {
  if (!boss || boss.workers.size === 0) return {}
  const queues = [...boss.workers].map(([name, worker]) => {
    const state = worker.state()
    return [name, { ...state, jobs: state.jobs.slice(0, NAMED_MAX) }] as const
  })
  return { queues: Object.fromEntries(queues) }
}

export function programVersion(): string {
  const file = path.join(import.meta.dirname, '..', '..', 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

/** Collects the facts of a process, usually every `FACTS_MS`. */
export function createCollector({ config, clock }: Pick<Needs, 'config' | 'clock'>, name: string) {
  const resolver =
    name === 'work' && config.dnsServers !== 'none'
      ? createResolver({ servers: config.dnsServers, clock })
      : undefined
  let dns: ProcessFacts['dns'] = { answeredAt: null, fault: null }
  let facts: ProcessFacts = {}
  let collectedAt = Number.NEGATIVE_INFINITY
  let isCollecting = false

  async function collect(): Promise<ProcessFacts> {
    const disk = await diskOf(config.dataDir)
    const spool = spooling.includes(name) && (await spoolOf(config.spool))
    const isReceiver = name === 'receive' && config.receiveTlsCertFile !== undefined
    const certificate = isReceiver && (await certificateOf(config.receiveTlsCertFile ?? ''))
    if (resolver) dns = await dnsOf(resolver.resolve, config.mailFrom, clock, dns)
    const dkim = resolver && config.dkim && (await dkimOf(config.dkim, resolver.resolve))
    return {
      ...(disk && { disk }),
      ...(spool && { spool }),
      ...(certificate && { certificate }),
      ...(resolver && dns && { dns }),
      ...(dkim && { dkim }),
      floods: floods.largest(),
    }
  }

  async function collectAgain(): Promise<void> {
    isCollecting = true
    collectedAt = clock().getTime()
    facts = await collect().catch(() => ({}))
    isCollecting = false
  }

  return {
    /**
     * Returns the facts collected last; new ones are collected meanwhile. While reports wait on
     * disk or cannot be stored there, or the disk is almost full, that is each time, because it may
     * end within seconds.
     */
    facts(): ProcessFacts {
      const ageMs = clock().getTime() - collectedAt
      const { oldestAt = null, fault = null } = facts.spool ?? {}
      const isBad = oldestAt !== null || fault !== null || (facts.disk?.freePercent ?? 100) < LOW
      const isDue = isBad || ageMs >= FACTS_MS || ageMs < 0
      if (isDue && !isCollecting) void collectAgain()
      return facts
    },
    close: () => resolver?.close(),
  }
}

async function diskOf(folder: string): Promise<ProcessFacts['disk']> {
  const disk = await statfs(folder).catch(() => undefined)
  if (!disk || disk.blocks === 0) return undefined
  return { freePercent: (disk.bavail / disk.blocks) * 100 }
}

/** The processes that store reports on disk. */
const spooling = ['web', 'receive']

async function spoolOf(spool: App['config']['spool']): Promise<ProcessFacts['spool']> {
  const fault = spool.bytesMax > 0 ? await findSpoolFault(spool) : undefined
  const unread = { oldestAt: null, unstorable: 0 }
  const { oldestAt, unstorable } =
    fault === spoolHangs ? unread : await readSpool(spool.folder).catch(() => unread)
  return { oldestAt: oldestAt?.toISOString() ?? null, unstorable, fault: fault ?? null }
}

async function certificateOf(file: string): Promise<ProcessFacts['certificate']> {
  try {
    const { validToDate } = new X509Certificate(await readFile(file))
    return { endsAt: validToDate.toISOString() }
  } catch (error) {
    return { fault: reasonOf(error) }
  }
}

/** Asks for a name that no cache contains. That it does not exist is an answer, too. */
async function dnsOf(
  resolve: Resolve,
  mailFrom: string,
  clock: Clock,
  before: ProcessFacts['dns'],
): Promise<ProcessFacts['dns']> {
  const label = uuidv7(clock()).slice(-12)
  const answer = await resolve(`${label}.${mailFrom.split('@').at(-1) ?? ''}`, 'A')
  if (answer.is !== 'unknown') return { answeredAt: clock().toISOString(), fault: null }
  return { answeredAt: before?.answeredAt ?? null, fault: answer.why }
}

type Dkim = NonNullable<App['config']['dkim']>

/** Compares the published record of a DKIM key with the key (RFC 6376 §3.6.1, RFC 8463). */
export async function dkimOf(
  { domain, selector, keyFile }: Dkim,
  resolve: Resolve,
): Promise<NonNullable<ProcessFacts['dkim']>> {
  try {
    const published = await resolve(`${selector}._domainkey.${domain}`, 'TXT')
    if (published.is === 'unknown') return { fault: published.why }
    if (published.is === 'none') return { state: 'missing' }
    const own = publicForms(await readFile(keyFile, 'utf8'))
    const isOurs = published.records.some((record) => {
      const value = parseTagList(record)?.get('p')?.replaceAll(/\s/g, '')
      return value !== undefined && own.includes(value)
    })
    return { state: isOurs ? 'matches' : 'differs' }
  } catch (error) {
    return { fault: reasonOf(error) }
  }
}

/** Length of a public Ed25519 key in bytes. */
const ED25519_BYTES = 32

/** The forms in which the public key of a private one may be published, the usual one first. */
export function publicForms(privateKey: string): string[] {
  const key = createPublicKey(privateKey)
  const spki = key.export({ type: 'spki', format: 'der' })
  if (key.asymmetricKeyType === 'ed25519') {
    return [spki.subarray(-ED25519_BYTES).toString('base64')]
  }
  const pkcs1 = key.export({ type: 'pkcs1', format: 'der' })
  return [spki, pkcs1].map((form) => form.toString('base64'))
}
