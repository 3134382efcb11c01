import type { WorkApp } from '../app.ts'
import { concludeLookUp, listPackedAnalyses } from '../db/analyses.ts'
import { inTransaction, type Db } from '../db/pool.ts'
import { keepRegistryRows, type NewRegistryRow } from '../db/registry-answers.ts'
import { insertEvents } from '../db/report-events.ts'
import { listReportsByIds, markReports } from '../db/reports.ts'
import { findContact } from '../queue/queues.ts'
import { send } from '../queue/send.ts'
import type { JobOutcome } from '../queue/work.ts'
import { type Drawn, drawConsequences, oweFeedback } from './draw-consequences.ts'
import { findKnownNetworks, type KnownNetwork } from './known-networks.ts'

type Needs = Pick<WorkApp, 'pool' | 'boss' | 'clock' | 'config' | 'rdap'>
type Analysis = Awaited<ReturnType<typeof listPackedAnalyses>>[number]
type Waiting = Analysis & { originIp: string; originConfidence: number }
type Answer = Awaited<ReturnType<NonNullable<WorkApp['rdap']>['ask']>>
type Conclusion = { analysis: Waiting; known: KnownNetwork; drawn: Drawn }

const DAY_MS = 86_400_000
const FOUND_MS = 7 * DAY_MS
const NONE_MS = DAY_MS
/** A registry that cannot be asked for so long is not waited for any more. */
const GIVE_UP_MS = DAY_MS
const PAUSE_MS_MIN = 10_000

/**
 * Asks the registries for the contacts that reports wait for, keeps the answers, and goes on with
 * the reports: told, kept, or put off while a registry cannot be asked. Reports from one network
 * need one question. Any number of runs count once; a retracted report is left alone.
 */
export async function findContacts(
  payloads: readonly { reportId: string }[],
  app: Needs,
): Promise<JobOutcome[]> {
  const done = payloads.map(() => 'done' as const)
  const waiting = await load(payloads, app)
  if (waiting.length === 0) return done
  const ips = waiting.map(({ originIp }) => originIp)
  const before = await findKnownNetworks(app.pool, ips, app.rdap, app.clock())
  const unasked = [...before].flatMap(([ip, { registry }]) => (registry === 'unasked' ? [ip] : []))
  const answers = await ask(unasked, app)
  await keepRegistryRows(app.pool, rowsOf(answers.values(), app.clock()), app.clock())
  const after = await findKnownNetworks(app.pool, ips, app.rdap, app.clock())
  await inTransaction(app.pool, (tx) => conclude(tx, waiting, after, answers, app))
  return done
}

async function load(
  payloads: readonly { reportId: string }[],
  { pool }: Needs,
): Promise<Waiting[]> {
  const reports = await listReportsByIds(
    pool,
    payloads.map(({ reportId }) => reportId),
  )
  const ids = reports.filter(({ state }) => state === 'analyzed').map(({ id }) => id)
  if (ids.length === 0) return []
  return (await listPackedAnalyses(pool, ids)).flatMap((analysis) => {
    const { originIp, originConfidence, judgment } = analysis
    const isWaiting = judgment.consequence.action === 'look-up'
    if (!isWaiting || originIp === null || originConfidence === null) return []
    return [{ ...analysis, originIp, originConfidence }]
  })
}

async function ask(ips: readonly string[], { rdap }: Needs): Promise<Map<string, Answer>> {
  if (!rdap) return new Map()
  return new Map(await Promise.all(ips.map(async (ip) => [ip, await rdap.ask(ip)] as const)))
}

function rowsOf(answers: Iterable<Answer>, now: Date): NewRegistryRow[] {
  return [...answers].flatMap((answer) => {
    if (answer.is === 'later') return []
    const { cidrs, name, country } = answer.network
    const contacts = answer.is === 'found' ? [...answer.contacts] : []
    const expiresAt = new Date(now.getTime() + (answer.is === 'found' ? FOUND_MS : NONE_MS))
    return cidrs.map((cidr) => ({ cidr, name, country, contacts, expiresAt }))
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
  // The state is looked at and locked in one: a retraction comes before all this, or after.
  const marked = await Promise.all([
    markReports(tx, idsOf(doing('forward')), ['analyzed'], 'analyzed'),
    markReports(tx, idsOf(doing('keep')), ['analyzed'], 'kept'),
  ])
  const alive = new Set(marked.flat())
  const ended = await Promise.all(
    [...doing('forward'), ...doing('keep')]
      .filter(({ analysis }) => alive.has(analysis.id))
      .map((one) => end(tx, one)),
  )
  const mine = ended.filter((one) => one !== undefined)
  const owed = mine.flatMap(({ analysis: { id }, drawn: { consumer } }) =>
    consumer ? [{ reportId: id, consumer }] : [],
  )
  const events = mine.map(({ analysis: { id }, drawn: { consequence } }) => {
    return { reportId: id, at: now, event: 'looked-up' as const, detail: consequence.why }
  })
  await Promise.all([
    insertEvents(tx, events),
    oweFeedback(tx, owed, app, now),
    ...doing('look-up').map(({ analysis }) => {
      const startAfter = nextTry(analysis, answers.get(analysis.originIp), now)
      return send(app.boss, findContact, [{ reportId: analysis.id }], tx, { startAfter })
    }),
  ])
}

async function draw(
  tx: Db,
  waiting: readonly Waiting[],
  networks: ReadonlyMap<string, KnownNetwork>,
  app: Needs,
  now: Date,
): Promise<Conclusion[]> {
  const known = waiting.map((analysis): KnownNetwork => {
    const found = networks.get(analysis.originIp) ?? { network: undefined, registry: 'off' }
    const isOver = now.getTime() - analysis.analyzedAt.getTime() >= GIVE_UP_MS
    return found.registry === 'unasked' && isOver ? { ...found, registry: 'away' } : found
  })
  const drawn = await drawConsequences(
    tx,
    waiting.map(({ originIp, originConfidence, judgment }, index) => ({
      verdict: judgment.verdict,
      // Mail of mail systems is kept before anybody thinks of a contact.
      messageKind: 'message' as const,
      origin: { ip: originIp, confidence: originConfidence },
      originConfidenceMin: app.config.originConfidenceMin,
      // What the walk found was enough to look for a contact.
      isAskable: false,
      network: known[index]?.network,
      registry: known[index]?.registry ?? 'off',
      forwardTo: app.config.forwardTo,
    })),
    now,
  )
  return waiting.flatMap((analysis, index) => {
    const [one, consequence] = [known[index], drawn[index]]
    return one && consequence ? [{ analysis, known: one, drawn: consequence }] : []
  })
}

/** Writes a conclusion down; undefined when another run has. */
async function end(tx: Db, conclusion: Conclusion): Promise<Conclusion | undefined> {
  const { analysis, known, drawn } = conclusion
  const judgment = { verdict: analysis.judgment.verdict, consequence: drawn.consequence }
  const network = known.network ?? null
  return (await concludeLookUp(tx, analysis.id, network, judgment)) ? conclusion : undefined
}

function nextTry({ analyzedAt }: Waiting, answer: Answer | undefined, now: Date): Date {
  const soonest = now.getTime() + PAUSE_MS_MIN
  const wanted = answer?.is === 'later' ? answer.retryAt.getTime() : soonest
  const last = analyzedAt.getTime() + GIVE_UP_MS
  return new Date(Math.max(soonest, Math.min(wanted, last)))
}
