import type { App } from '../app.ts'
import type { StoredAlarms } from '../db/alarm-watch.ts'
import { listShardBacklogs } from '../db/counter-rows.ts'
import { findLastRun, listBacklogs } from '../db/jobs.ts'
import {
  countFailedReports,
  findInboundTimes,
  findOldestOwed,
  findOldestUnanalyzed,
  findPartitionsEnd,
  listConsumerShares,
  listImports,
  measureDatabase,
  type OldestOwed,
  writeTemporary,
} from '../db/health.ts'
import { findOldestDelisting } from '../db/listings.ts'
import { countWaitingMail, findMailRelay } from '../db/mail-relay.ts'
import { findActiveModel } from '../db/models.ts'
import { GENERATION_DAYS } from '../db/partitions.ts'
import type { Db } from '../db/pool.ts'
import {
  allQueues,
  listChoreRuns,
  listQueueControls,
  type QueueControl,
} from '../db/queue-controls.ts'
import { listRuleProcesses, newestRuleVersion, type RuleProcess } from '../db/rule-sets.ts'
import { DAY_MS, DAY_SECONDS } from '../durations.ts'
import { reasonOf, sqlState } from '../errors.ts'
import { phrase } from '../phrase.ts'
import { deadLetterQueue, fillSamplesName, refreshNetworksName } from '../queue/define-queue.ts'
import { uuidTime } from '../world.ts'
import type { Cause, ConditionCode, Measurement } from './conditions.ts'
import type { Deliveries } from './deliveries.ts'
import {
  measureBounceWave,
  measureCampaigns,
  measureClients,
  measureRefusals,
} from './flood-measures.ts'
import type { RunningProcess } from './heartbeat.ts'

type Measuring = Pick<App, 'config'> & {
  /** The connection of all measures, whose statements are sent together. */
  db: Db
  /** What several measures read, once. */
  owed: Promise<OldestOwed>
  inbound: ReturnType<typeof findInboundTimes>
  judging: Promise<RuleProcess[]>
  controls: Promise<QueueControl[]>
  now: Date
  processes: readonly RunningProcess[]
  /** When an operator stated that a backup was made. */
  doneAt: Date | null
  alarms: StoredAlarms<Deliveries>
}

/** Starts to read what several measures need, and returns what all of them read. */
export function measuringAt(
  now: Date,
  db: Db,
  known: Pick<Measuring, 'config' | 'processes' | 'doneAt' | 'alarms'>,
): Measuring {
  return {
    ...{ ...known, db, now },
    owed: findOldestOwed(db, now),
    inbound: findInboundTimes(db),
    judging: listRuleProcesses(db, new Date(now.getTime() - RULES_MS)),
    controls: listQueueControls(db),
  }
}

/** How a condition is measured; `everyMs` is set if that reads much. */
type Measure = {
  measure: (context: Measuring) => Promise<Measurement>
  everyMs?: number
}

const COUNTED_MAX = 1_001
const MAILS_MIN = 5
const GIGABYTE = 1e9
/** Time in seconds without a heartbeat after which a process is not counted as running. */
const SILENT_SECONDS = 20
/** Time in milliseconds after which a process that judges and is not seen counts as stopped. */
const RULES_MS = 60_000

export const measures: Readonly<Record<ConditionCode, Measure>> = {
  database: { measure: measureWrites, everyMs: 8_000 },
  spool: { measure: measureSpool },
  'reports-analyzed': {
    measure: async (all) => late('analyze-report', all, await findOldestUnanalyzed(all.db)),
  },
  'analysis-failed': { measure: measureFailed },
  'mail-leaving': { measure: measureLeaving },
  'feedback-owed': {
    measure: async (all) => late('forward-report', all, (await all.owed).feedback),
  },
  'letters-owed': { measure: async (all) => late('send-letter', all, (await all.owed).letters) },
  'mail-coming-in': { measure: measureComingIn },
  'inbound-handled': {
    measure: async (all) => late('handle-inbound', all, (await all.inbound).waitingSince),
  },
  bounces: { measure: measureBounces, everyMs: 60_000 },
  'bounce-wave': { measure: measureBounceWave, everyMs: 60_000 },
  'busy-clients': { measure: ofRunning(measureClients) },
  refusals: { measure: ofRunning(measureRefusals) },
  'campaign-growth': { measure: ofRunning(measureCampaigns), everyMs: 20_000 },
  'dead-letters': { measure: measureDeadLetters },
  'queues-paused': { measure: measurePaused },
  'delistings-decided': {
    measure: async ({ db, now }) => waiting(await findOldestDelisting(db), now),
  },
  counters: { measure: measureCounters },
  registries: { measure: measureRegistries },
  dns: { measure: measureDns },
  networks: { measure: measureNetworks, everyMs: 300_000 },
  rules: { measure: measureRules },
  models: { measure: measureModels },
  processes: { measure: measureProcesses },
  clocks: { measure: measureClocks },
  disk: { measure: measureDisk },
  'database-size': { measure: measureSize, everyMs: 300_000 },
  partitions: { measure: measurePartitions, everyMs: 60_000 },
  certificate: { measure: measureCertificate },
  'dkim-key': { measure: measureDkim },
  backup: { measure: measureBackup },
  alarms: { measure: measureAlarms },
  'alarm-channels': { measure: measureChannels },
}

/** The time in seconds since an instant; 0 if the clocks differ. */
function secondsSince(at: Date, now: Date): number {
  return Math.max(0, (now.getTime() - at.getTime()) / 1_000)
}

function waiting(since: Date | null, now: Date): Measurement {
  if (since === null) return { value: 0, reason: phrase('health-none-waiting') }
  const value = secondsSince(since, now)
  return { value, reason: phrase('health-waiting', { duration: value }) }
}

/** What waits in a paused queue needs no other repair than its resumption. */
function unlessPaused(
  found: Measurement,
  queue: string,
  controls: readonly QueueControl[],
): Measurement {
  const isPaused = controls.some((one) => {
    return one.pausedAt !== null && (one.queue === queue || one.queue === allQueues)
  })
  return isPaused && (found.value ?? 0) > 0 ? { ...found, cause: 'queue-paused' } : found
}

async function late(queue: string, all: Measuring, since: Date | null): Promise<Measurement> {
  return unlessPaused(waiting(await unlessSample(since, all), all.now), queue, await all.controls)
}

/**
 * The sample data of a trial is dated back, so it only seems to have waited: what is older than the
 * start of the work that adds it counts from the end of that work.
 */
async function unlessSample(since: Date | null, { db }: Measuring): Promise<Date | null> {
  const filling = since && (await findLastRun(db, fillSamplesName))
  if (!filling || since >= filling.startedAt) return since
  return filling.endedAt
}

function unknown(reason: Measurement['reason'], cause?: Cause): Promise<Measurement> {
  return Promise.resolve({ level: 'unknown', reason, ...(cause && { cause }) })
}

const noHeartbeats = () => unknown(phrase('health-no-heartbeats'), 'start-process')

/** Why no process of this name tells a fact: it does not run, or it has not collected it yet. */
function untold(processes: readonly RunningProcess[], name: string): Promise<Measurement> {
  const isRunning = running(processes).some((one) => one.name === name)
  return isRunning
    ? unknown(phrase('health-not-yet', { name }), 'not-yet')
    : unknown(phrase('health-no-process', { name }), 'start-process')
}

function off(setting: string): Promise<Measurement> {
  return Promise.resolve({ level: 'off', reason: phrase('health-off', { setting }) })
}

const DISK_FULL = '53100'

async function measureWrites({ db, processes }: Measuring): Promise<Measurement> {
  try {
    await writeTemporary(db)
  } catch (error) {
    if (sqlState(error) !== DISK_FULL) throw error
    const reason = phrase('health-database-full', { reason: reasonOf(error) })
    return { level: 'critical', reason, cause: 'database-full' }
  }
  if (processes.length === 0) return noHeartbeats()
  const value = Math.max(0, Math.min(...processes.map(({ silentSeconds }) => silentSeconds)))
  return { value, reason: phrase('health-stored', { duration: value }) }
}

function measureSpool({ processes, now }: Measuring): Promise<Measurement> {
  const found = running(processes).flatMap(({ host, facts }) => {
    return facts.spool ? [{ host, ...facts.spool }] : []
  })
  if (found.length === 0) return untold(processes, 'web')
  const faulty = found.find(({ fault }) => typeof fault === 'string')
  if (faulty) {
    const said = { host: faulty.host, reason: faulty.fault ?? '' }
    const reason = phrase('health-spool-fault', said)
    return Promise.resolve({ level: 'warning', reason, cause: 'spool-fault' })
  }
  const count = Math.max(...found.map(({ unstorable }) => unstorable))
  if (count > 0) {
    const reason = phrase('health-spool-files', { count })
    return Promise.resolve({ level: 'warning', reason, cause: 'spool-refused' })
  }
  const [oldest] = found.flatMap(({ oldestAt }) => oldestAt ?? []).toSorted()
  return Promise.resolve(waiting(oldest === undefined ? null : new Date(oldest), now))
}

async function measureFailed({ db, now }: Measuring): Promise<Measurement> {
  const since = new Date(now.getTime() - DAY_MS)
  const value = await countFailedReports(db, since, COUNTED_MAX)
  return { value, reason: phrase('health-failed', { count: value }) }
}

/** What our mail server said, other than what happened to a connection with it. */
const REPLY = /^[245]\d\d\b/

async function measureLeaving({ db, config, owed, now }: Measuring): Promise<Measurement> {
  const { refusedSince, reply, acceptedAt } = await findMailRelay(db)
  if (refusedSince !== null) {
    const value = secondsSince(refusedSince, now)
    const said = { duration: value, reply: reply ?? '' }
    if (REPLY.test(said.reply)) return { value, reason: phrase('health-mail-refused', said) }
    return { value, reason: phrase('health-mail-unreachable', said), cause: 'mail-unreachable' }
  }
  if (config.smtpUrl === undefined) {
    return { level: 'warning', reason: phrase('health-mail-held'), cause: 'mail-held' }
  }
  const { waiting: unsent } = await countWaitingMail(db)
  const held = unsent.filter(({ state }) => state === 'held')
  if (held.length > 0) {
    const count = held.reduce((sum, { mails }) => sum + mails, 0)
    const reason = phrase('health-mail-still-held', { count })
    return { level: 'warning', reason, cause: 'mail-still-held' }
  }
  if (acceptedAt === null) {
    const { feedback, letters } = await owed
    const [since] = [feedback, letters].flatMap((at) => at ?? []).toSorted((a, b) => +a - +b)
    if (!since) return unknown(phrase('health-mail-none'))
    const value = secondsSince(since, now)
    const reason = phrase('health-mail-never-left', { duration: value })
    return { value, reason, cause: 'mail-never-left' }
  }
  const duration = secondsSince(acceptedAt, now)
  return { value: 0, reason: phrase('health-mail-accepted', { duration }) }
}

async function measureComingIn({ inbound, now }: Measuring): Promise<Measurement> {
  const { lastAt } = await inbound
  if (lastAt === null) return unknown(phrase('health-mail-never-came'))
  const duration = secondsSince(lastAt, now)
  return { value: duration / DAY_SECONDS, reason: phrase('health-mail-came', { duration }) }
}

async function measureBounces({ db, now }: Measuring): Promise<Measurement> {
  const shares = await listConsumerShares(db, new Date(now.getTime() - DAY_MS), MAILS_MIN)
  const worst = shares.toSorted((a, b) => b.failed / b.mails - a.failed / a.mails)[0]
  if (!worst) return { value: 0, reason: phrase('health-bounces-few', { min: MAILS_MIN }) }
  const value = (worst.failed / worst.mails) * 100
  const failing = shares.filter(({ failed }) => failed > 0).length
  const said = { percent: Math.round(value), mails: worst.mails, count: failing }
  return { value, reason: phrase('health-bounces', said) }
}

async function measureDeadLetters({ db, now }: Measuring): Promise<Measurement> {
  const [backlog] = await listBacklogs(db, [deadLetterQueue], now)
  const value = (backlog?.ready ?? 0) + (backlog?.deferred ?? 0)
  return { value, reason: phrase('health-dead', { count: value }) }
}

async function measurePaused({ controls, now }: Measuring): Promise<Measurement> {
  const paused = (await controls).flatMap(({ queue, pausedAt }) =>
    pausedAt ? [{ queue, pausedAt }] : [],
  )
  const since = paused.map(({ pausedAt }) => pausedAt).toSorted((a, b) => +a - +b)[0]
  if (!since) return { value: 0, reason: phrase('health-queues-run') }
  // At least one second, so that a pause is never good, whatever the clocks say.
  const value = Math.max(1, secondsSince(since, now))
  const queues = paused.map(({ queue }) => queue).join(', ')
  return { value, reason: phrase('health-queues-paused', { queues, duration: value }) }
}

async function measureCounters(all: Measuring): Promise<Measurement> {
  const [oldest] = await listShardBacklogs(all.db)
  return waiting(await unlessSample(oldest ? uuidTime(oldest.oldestId) : null, all), all.now)
}

const LOOK_UP = 'find-contact'

async function measureRegistries({ db, config, controls, now }: Measuring): Promise<Measurement> {
  if (config.rdapBootstrapUrl === undefined) return off('RDAP_BOOTSTRAP_URL')
  const [backlog] = await listBacklogs(db, [LOOK_UP], now)
  const value = backlog?.oldestJobSeconds ?? 0
  if (value === 0) return { value, reason: phrase('health-none-waiting') }
  const found = { value, reason: phrase('health-waiting', { duration: value }) }
  return unlessPaused(found, LOOK_UP, await controls)
}

function measureDns({ processes, config, now }: Measuring): Promise<Measurement> {
  if (config.dnsServers === 'none') return off('DNS_SERVERS')
  const answers = running(processes).flatMap(({ facts }) => facts.dns ?? [])
  const asked = answers.filter(({ answeredAt, fault }) => answeredAt !== null || fault !== null)
  if (asked.length === 0) return untold(processes, 'work')
  const ages = asked.map(({ answeredAt, fault }) => {
    const age = answeredAt === null ? Infinity : secondsSince(new Date(answeredAt), now)
    return { fault, age }
  })
  const worst = ages.toSorted((a, b) => b.age - a.age)[0]
  const reason = worst?.fault ?? ''
  if (worst?.age === Infinity) {
    const since = phrase('health-dns-never', { reason })
    return Promise.resolve({ level: 'critical', reason: since })
  }
  const value = worst?.age ?? 0
  const said = { duration: value, reason }
  const code = worst?.fault === null ? 'health-dns-answers' : 'health-dns-silent'
  return Promise.resolve({ value, reason: { code, params: said } })
}

const SAMPLE = 'sample-networks.csv'

async function measureNetworks({ db, now }: Measuring): Promise<Measurement> {
  const refreshed = (await listChoreRuns(db)).find(({ queue }) => queue === refreshNetworksName)
  if (refreshed && refreshed.fault !== null) {
    const reason = phrase('health-networks-refused', { reason: refreshed.fault })
    return { level: 'warning', since: refreshed.endedAt, reason, cause: 'networks-refused' }
  }
  const imports = await listImports(db)
  const oldest = imports.find(({ source }) => source !== SAMPLE)
  if (!oldest) return { level: 'unknown', reason: phrase('health-networks-none') }
  const duration = secondsSince(oldest.importedAt, now)
  const said = { source: oldest.source, duration }
  return { value: duration / DAY_SECONDS, reason: phrase('health-networks', said) }
}

const noneJudges: Measurement = {
  ...{ level: 'unknown', reason: phrase('health-none-judges'), cause: 'start-process' },
}

async function measureRules({ db, judging }: Measuring): Promise<Measurement> {
  const [newest, processes] = await Promise.all([newestRuleVersion(db), judging])
  if (processes.length === 0) return noneJudges
  const value = processes.filter(({ version }) => version !== newest).length
  return { value, reason: phrase('health-rules', { count: value, version: newest }) }
}

async function measureModels({ db, judging }: Measuring): Promise<Measurement> {
  const [active, processes] = await Promise.all([findActiveModel(db), judging])
  if (processes.length === 0) return noneJudges
  const value = processes.filter(({ modelVersion }) => modelVersion !== (active ?? null)).length
  return { value, reason: phrase('health-models', { count: value }) }
}

/** Processes without which reports are not handled. */
const needed = ['work', 'count', 'web']

function running(processes: readonly RunningProcess[]): RunningProcess[] {
  return processes.filter(({ silentSeconds }) => silentSeconds < SILENT_SECONDS)
}

/** Measures what only running processes know: the last words of others are old. */
function ofRunning(measure: Measure['measure']): Measure['measure'] {
  return (context) => measure({ ...context, processes: running(context.processes) })
}

function measureProcesses({ processes }: Measuring): Promise<Measurement> {
  if (processes.length === 0) return noHeartbeats()
  const silent = processes.toSorted((a, b) => b.silentSeconds - a.silentSeconds)[0]
  const value = Math.max(0, silent?.silentSeconds ?? 0)
  const seen = running(processes)
  const missing = needed.find((name) => !processes.some((one) => one.name === name))
  if (missing !== undefined) {
    const reason = phrase('health-no-process', { name: missing })
    return Promise.resolve({ level: 'critical', reason, cause: 'start-process' })
  }
  if (!silent || seen.length === processes.length) {
    return Promise.resolve({ value, reason: phrase('health-processes', { count: seen.length }) })
  }
  const { name, host } = silent
  const reason = phrase('health-process-silent', { name, host, duration: value })
  return Promise.resolve({ value, reason })
}

function measureClocks({ processes }: Measuring): Promise<Measurement> {
  const ahead = running(processes).map(({ clockAheadSeconds, host }) => {
    return { host, value: Math.abs(clockAheadSeconds) }
  })
  const worst = ahead.toSorted((a, b) => b.value - a.value)[0]
  if (!worst) return noHeartbeats()
  const { host, value } = worst
  return Promise.resolve({ value, reason: phrase('health-clocks', { host, duration: value }) })
}

function measureDisk({ processes }: Measuring): Promise<Measurement> {
  const disks = running(processes).flatMap(({ host, facts: { disk } }) => {
    return disk ? [{ host, value: disk.freePercent }] : []
  })
  const fullest = disks.toSorted((a, b) => a.value - b.value)[0]
  if (!fullest) return noHeartbeats()
  const { host, value } = fullest
  const reason = phrase('health-disk', { host, percent: Math.round(value) })
  return Promise.resolve({ value, reason })
}

async function measureSize({ db, now }: Measuring): Promise<Measurement> {
  const { bytes, bytesBefore } = await measureDatabase(db, now)
  const value = bytes / GIGABYTE
  const inGigabytes = (size: number) => Math.round((size / GIGABYTE) * 100) / 100
  const size = inGigabytes(bytes)
  if (bytesBefore === null) return { value, reason: phrase('health-database-size', { size }) }
  const growth = inGigabytes(bytes - bytesBefore)
  return { value, reason: phrase('health-database-grew', { size, growth }) }
}

async function measurePartitions({ db, now }: Measuring): Promise<Measurement> {
  const found = await findPartitionsEnd(db, GENERATION_DAYS)
  if (!found) return { value: 0, reason: phrase('health-partitions', { table: '', duration: 0 }) }
  const { table, endsAt } = found
  const duration = secondsSince(now, endsAt)
  return { value: duration / DAY_SECONDS, reason: phrase('health-partitions', { table, duration }) }
}

function measureCertificate({ processes, config, now }: Measuring): Promise<Measurement> {
  const found = running(processes).flatMap(({ facts }) => facts.certificate ?? [])
  const [fault] = found.flatMap((one) => ('fault' in one ? [one.fault] : []))
  if (fault !== undefined) {
    return unknown(phrase('health-unmeasured', { reason: fault }), 'certificate-unreadable')
  }
  const [endsAt] = found.flatMap((one) => ('endsAt' in one ? [one.endsAt] : [])).toSorted()
  if (endsAt === undefined) {
    if (config.receiveTlsCertFile === undefined) return off('RECEIVE_TLS_CERT_FILE')
    return untold(processes, 'receive')
  }
  const duration = secondsSince(now, new Date(endsAt))
  const value = duration / DAY_SECONDS
  return Promise.resolve({ value, reason: phrase('health-certificate', { duration }) })
}

function measureDkim({ processes, config }: Measuring): Promise<Measurement> {
  if (config.dkim === undefined) return off('DKIM_KEY_FILE')
  const [found] = running(processes).flatMap(({ facts }) => facts.dkim ?? [])
  if (config.dnsServers === 'none') {
    return unknown(phrase('health-dkim-without-dns'), 'dkim-without-dns')
  }
  if (!found) return untold(processes, 'work')
  if ('fault' in found) {
    return unknown(phrase('health-unmeasured', { reason: found.fault }), 'dkim-unread')
  }
  const { domain, selector } = config.dkim
  const name = `${selector}._domainkey.${domain}`
  const value = found.state === 'matches' ? 0 : 1
  const reason = phrase('health-dkim', { state: found.state, name })
  return Promise.resolve({ value, reason })
}

function measureBackup({ doneAt, now }: Measuring): Promise<Measurement> {
  if (doneAt === null) return unknown(phrase('health-backup-unknown'))
  const duration = secondsSince(doneAt, now)
  const reason = phrase('health-backup', { duration })
  return Promise.resolve({ value: duration / DAY_SECONDS, reason })
}

function measureAlarms({ alarms: { evaluatedAt }, now }: Measuring): Promise<Measurement> {
  if (evaluatedAt === null) return unknown(phrase('health-evaluated-never'))
  const value = secondsSince(evaluatedAt, now)
  return Promise.resolve({ value, reason: phrase('health-evaluated', { duration: value }) })
}

function measureChannels({ config, alarms, now }: Measuring): Promise<Measurement> {
  const { mailTo, webhookUrl, file, command } = config.alarms
  const count = [...mailTo, webhookUrl, file, command].filter((one) => one !== undefined).length
  if (count === 0) return off('ALARM_MAIL')
  const failing = Object.entries(alarms.state?.failing ?? {})
  const [first] = failing
  if (!first) return Promise.resolve({ value: 0, reason: phrase('health-channels', { count }) })
  const [name, failure] = first
  const since = new Date(failure.since)
  const said = { name, duration: secondsSince(since, now), reason: failure.reason }
  const reason = phrase('health-channel-fails', said)
  return Promise.resolve({ value: failing.length, since, reason })
}
