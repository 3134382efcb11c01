import type { z } from 'zod'
import type { WorkApp } from '../app.ts'
import { concludeLookUp, listPackedAnalyses } from '../db/analyses.ts'
import { insertLayers, type NewLayer } from '../db/networks.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { mayAppear } from '../db/prepared.ts'
import { insertEvents } from '../db/report-events.ts'
import { listReportsByIds, markReports, type ReportState } from '../db/reports.ts'
import { DAY_MS } from '../durations.ts'
import { commonBlock } from '../mail/ip-blocks.ts'
import { registrySource } from '../origin/networks.ts'
import { secondsUntil, send } from '../queue/boss.ts'
import type { JobOutcome } from '../queue/work.ts'
import {
  drawConsequences,
  type DrawnConsequence,
  findKnownNetworks,
  type KnownNetwork,
} from './draw-consequences.ts'
import { queueFeedback } from './queue-feedback.ts'
import { findContact } from './queues.ts'

type Needs = Pick<WorkApp, 'pool' | 'boss' | 'clock' | 'config' | 'rdap'>
type Analysis = Awaited<ReturnType<typeof listPackedAnalyses>>[number]
type Payload = z.infer<typeof findContact.payload>
type Waiting = Analysis & {
  reporterId: string
  originIp: string
  originConfidence: number
  firstAskedAt: Date
}
type Answer = Awaited<ReturnType<NonNullable<WorkApp['rdap']>['ask']>>
type Conclusion = { analysis: Waiting; known: KnownNetwork; drawn: DrawnConsequence }

/**
 * States in which a report may wait for a contact. `failed`: the job became a dead letter and is
 * now retried. `forwarded`: the report was sent only to its CFBL address or marketer, or to a desk
 * that answered that it is not responsible.
 */
const waitingStates: readonly ReportState[] = ['analyzed', 'failed', 'forwarded']
const unsentStates: readonly ReportState[] = ['analyzed', 'failed']

const FOUND_MS = 7 * DAY_MS
const NONE_MS = DAY_MS
/** Time in milliseconds after the first query at which an unreachable registry is given up. */
const GIVE_UP_MS = DAY_MS
const PAUSE_MS_MIN = 10_000
/** Time in milliseconds to wait for an analysis that becomes visible after its job. */
const EARLY_MS = 1_000

/**
 * Queries the registries for the contacts that reports wait for, stores the answers and continues
 * the reports: forwards, closes, or postpones them while a registry is unreachable. Reports from
 * one network share one query. Safe to run repeatedly; retracted reports are skipped.
 */
export async function runFindContact(
  payloads: readonly Payload[],
  app: Needs,
): Promise<JobOutcome[]> {
  const { waiting, early } = await load(payloads, app)
  const now = app.clock()
  const done = payloads.map((payload): JobOutcome => {
    const { reportId, firstAskedAt = now.toISOString() } = payload
    const isEarly = early.has(reportId) && mayAppear(new Date(firstAskedAt), now)
    if (!isEarly) return 'done'
    const postponedTo = new Date(now.getTime() + EARLY_MS)
    return { postponedTo, payload: { reportId, firstAskedAt } }
  })
  if (waiting.length === 0) return done
  const ips = waiting.map(({ originIp }) => originIp)
  const { networks, answers } = await askRegistries(ips, app)
  await inTransaction(app.pool, (tx) => conclude(tx, waiting, networks, answers, app))
  return done
}

/**
 * Returns the networks of addresses. Queries the registries if no contact is known, and stores
 * their answers, which are returned too.
 */
export async function askRegistries(
  ips: readonly string[],
  app: Pick<Needs, 'pool' | 'clock' | 'rdap'>,
): Promise<{ networks: Map<string, KnownNetwork>; answers: Map<string, Answer> }> {
  const before = await findKnownNetworks(app.pool, ips, app.rdap, app.clock())
  const unasked = new Map([...before].filter(([, { registry }]) => registry === 'unasked'))
  const answers = await ask(unasked, app)
  const rows = rowsOf(answers, before, app.clock())
  await insertLayers(app.pool, registrySource, rows, app.clock())
  const networks = await findKnownNetworks(app.pool, ips, app.rdap, app.clock())
  return { networks, answers }
}

/** Returns the reports that wait, and those that may be found to wait a moment later. */
async function load(
  payloads: readonly Payload[],
  { pool, clock }: Needs,
): Promise<{ waiting: Waiting[]; early: ReadonlySet<string> }> {
  const now = clock()
  const firstAskedAt = new Map(
    payloads.map((one) => [one.reportId, one.firstAskedAt ? new Date(one.firstAskedAt) : now]),
  )
  const reports = await listReportsByIds(pool, [...firstAskedAt.keys()])
  const analyzed = reports.filter(({ state }) => waitingStates.includes(state))
  const received = reports.filter(({ state }) => state === 'received')
  const early = new Set([...received, ...analyzed].map(({ id }) => id))
  const reporterOf = new Map(analyzed.map(({ id, reporterId }) => [id, reporterId]))
  if (analyzed.length === 0) return { waiting: [], early }
  const analyses = await listPackedAnalyses(pool, [...reporterOf.keys()])
  const waiting = analyses.flatMap((analysis) => {
    const { originIp, originConfidence, judgment } = analysis
    const isWaiting = judgment.consequence.action === 'look-up'
    const reporterId = reporterOf.get(analysis.id)
    if (!isWaiting || originIp === null || originConfidence === null || !reporterId) return []
    const asked = firstAskedAt.get(analysis.id) ?? now
    early.delete(analysis.id)
    return [{ ...analysis, reporterId, originIp, originConfidence, firstAskedAt: asked }]
  })
  return { waiting, early }
}

async function ask(
  unasked: ReadonlyMap<string, KnownNetwork>,
  { rdap }: Pick<Needs, 'rdap'>,
): Promise<Map<string, Answer>> {
  if (!rdap) return new Map()
  const asking = [...unasked].map(
    async ([ip, { announced }]) => [ip, await rdap.ask(ip, announced?.asn ?? null)] as const,
  )
  return new Map(await Promise.all(asking))
}

/**
 * Converts answers to rows, each with the AS of the address. A registry's block is narrowed to the
 * part that the tables assign to this AS: the rest may have other abuse desks, and two AS must not
 * overwrite each other's row.
 */
function rowsOf(
  answers: ReadonlyMap<string, Answer>,
  before: ReadonlyMap<string, KnownNetwork>,
  now: Date,
): NewLayer[] {
  return [...answers].flatMap(([ip, answer]) => {
    if (answer.is === 'later') return []
    const { holdsFor, name, country } = answer.network
    const announced = before.get(ip)?.announced
    const asn = announced?.asn ?? null
    const cidrs = announced
      ? holdsFor.flatMap((cidr) => commonBlock(cidr, announced.cidr) ?? [])
      : holdsFor
    const contacts = answer.is === 'found' ? [...answer.contacts] : []
    const expiresAt = new Date(now.getTime() + (answer.is === 'found' ? FOUND_MS : NONE_MS))
    return cidrs.map((cidr) => ({ cidr, asn, name, country, contacts, expiresAt }))
  })
}

async function conclude(
  tx: Db,
  waiting: readonly Waiting[],
  networks: ReadonlyMap<string, KnownNetwork>,
  answers: ReadonlyMap<string, Answer>,
  app: Needs,
): Promise<void> {
  const now = app.clock()
  const conclusions = await draw(tx, waiting, networks, app, now)
  const doing = (action: string) =>
    conclusions.filter(({ drawn }) => drawn.consequence.action === action)
  const idsOf = (some: readonly Conclusion[]) => some.map(({ analysis }) => analysis.id)
  // Checks and locks the state in one step, so that a retraction comes before or after, not during.
  const marked = await Promise.all([
    markReports(tx, idsOf([...doing('forward'), ...doing('look-up')]), unsentStates, 'analyzed'),
    markReports(tx, idsOf(doing('keep')), unsentStates, 'kept'),
    markReports(tx, idsOf(conclusions), ['forwarded'], 'forwarded'),
  ])
  const alive = new Set(marked.flat())
  const ended = await Promise.all(
    [...doing('forward'), ...doing('keep')]
      .filter(({ analysis }) => alive.has(analysis.id))
      .map((one) => end(tx, one)),
  )
  const postponed = doing('look-up').filter(({ analysis }) => alive.has(analysis.id))
  const mine = ended.filter((one) => one !== undefined)
  const owed = mine.flatMap(({ analysis: { id }, drawn: { notified } }) =>
    notified.map((one) => ({ reportId: id, ...one })),
  )
  const events = mine.map(({ analysis: { id }, drawn: { why } }) => {
    return { reportId: id, at: now, event: 'looked-up' as const, phrases: why }
  })
  await Promise.all([
    insertEvents(tx, events),
    queueFeedback(tx, owed, app, now),
    ...postponed.map(({ analysis }) => {
      const { id: reportId, originIp } = analysis
      const payload = { reportId, firstAskedAt: analysis.firstAskedAt.toISOString() }
      const seconds = secondsUntil(nextTry(analysis, answers.get(originIp), now), now)
      return send(app.boss, findContact, [payload], tx, { seconds })
    }),
  ])
}

const unknown: KnownNetwork = { network: undefined, registry: 'off', disowned: new Set() }

async function draw(
  tx: Db,
  waiting: readonly Waiting[],
  networks: ReadonlyMap<string, KnownNetwork>,
  app: Needs,
  now: Date,
): Promise<Conclusion[]> {
  const known = waiting.map((analysis): KnownNetwork => {
    const found = networks.get(analysis.originIp) ?? unknown
    const isOver = now.getTime() - analysis.firstAskedAt.getTime() >= GIVE_UP_MS
    return found.registry === 'unasked' && isOver ? { ...found, registry: 'away' } : found
  })
  const drawn = await drawConsequences(
    tx,
    waiting.map(({ reporterId, originIp, originConfidence, judgment }, index) => ({
      reporterId,
      verdict: judgment.verdict,
      complaint: judgment.complaint,
      // Learned and automated messages are filtered out before the search for a contact.
      isLearned: false,
      messageKind: 'message' as const,
      origin: { ip: originIp, confidence: originConfidence },
      originConfidenceMin: app.config.originConfidenceMin,
      // The origin was traced well enough to search for a contact, so the reporter need not be
      // asked.
      askable: [],
      marketer: judgment.marketer ?? null,
      service: judgment.service ?? null,
      network: known[index]?.network,
      registry: known[index]?.registry ?? 'off',
      disowned: known[index]?.disowned ?? unknown.disowned,
      forwardTo: app.config.forwardTo,
      // The CFBL address and the marketer were already notified at analysis.
      requestedRecipients: [],
      verifiedDomains: [],
    })),
    app,
    now,
  )
  return waiting.flatMap((analysis, index) => {
    const [one, consequence] = [known[index], drawn[index]]
    return one && consequence ? [{ analysis, known: one, drawn: consequence }] : []
  })
}

/** Stores and returns a conclusion; undefined if another run has stored one. */
async function end(tx: Db, conclusion: Conclusion): Promise<Conclusion | undefined> {
  const { analysis, known, drawn } = conclusion
  const judgment = { ...analysis.judgment, consequence: drawn.consequence }
  const network = known.network ?? null
  return (await concludeLookUp(tx, analysis, network, judgment)) ? conclusion : undefined
}

function nextTry({ firstAskedAt }: Waiting, answer: Answer | undefined, now: Date): Date {
  const soonest = now.getTime() + PAUSE_MS_MIN
  const wanted = answer?.is === 'later' ? answer.retryAt.getTime() : soonest
  const last = firstAskedAt.getTime() + GIVE_UP_MS
  return new Date(Math.max(soonest, Math.min(wanted, last)))
}
