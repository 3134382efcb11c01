import { type Request, type Response, Router } from 'express'
import { readMarks, readTotals } from '../../activity/read-activity.ts'
import { findActivityProgress, findFirstSlot } from '../../db/activity.ts'
import { listCampaignHeads, listLargestCampaigns, sumAround } from '../../db/campaigns.ts'
import { listConsumersByIds } from '../../db/consumers.ts'
import { listReportsByIds } from '../../db/reports.ts'
import type { MailKind } from '../../db/mail-relay.ts'
import { countTasks, type TaskCounts } from '../../db/tasks.ts'
import { dateOf, DAY_MS, WEEK_MS } from '../../durations.ts'
import type { Level } from '../../health/conditions.ts'
import type { CounterHealth } from '../../counting/run-roll-ups.ts'
import { deadLetterQueue } from '../../queue/define-queue.ts'
import { demoteWaiting } from '../../queue/redrive.ts'
import type { Texts } from '../../texts/messages.ts'
import { isUuid } from '../pages/render.ts'
import type { Visit } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { shownMarks } from './activity.ts'
import { createOverview } from './overview.ts'
import { shownCondition, worstFirst } from './health.ts'
import { adminPage } from './page.ts'

/** Tasks above this number are not counted exactly. */
const TASKS_MAX = 1_000
const TOP = 5
/** Events of the last week that are listed. */
const EVENTS = 6
/** Slots of ten minutes, in which the totals of a day are read. */
const TOTALS_STEP_MS = 600_000

/** The tasks of a person, with the pages on which they are done. */
const tasks: readonly (readonly [of: keyof TaskCounts, path: string])[] = [
  ['deletions', '/deletions'],
  ['enrollments', '/consumers/requests'],
  ['delistings', '/delistings'],
  ['phishingPages', '/pages'],
  ['proposals', '/marketers/proposals'],
  ['unreadMail', '/inbox'],
  ['heldFeedback', '/outbox?state=held'],
  ['refusedFeedback', '/outbox?state=refused'],
  ['heldLetters', '/outbox/letters?state=held'],
  ['refusedLetters', '/outbox/letters?state=refused'],
  ['bouncingDesks', '/consumers'],
  ['senderAlerts', '/senders'],
  ['simulationMarks', '/simulations'],
  ['heldReports', '/limits/shadow'],
  ['deadLetters', '/dead-letters'],
]

/**
 * The dashboard: what is wrong, what waits for a person, the last day beside the week before, what
 * is new, and the state of queues, counters and processes. A script shows it anew when something
 * has changed. The waiting jobs of a queue can be put behind new ones.
 */
export function dashboardRoutes(site: Site): Router {
  const overview = createOverview(site)
  return adminPage(site, {
    view: 'admin/dashboard',
    title: 'dashboard.title',
    data: (visit) => describeSite(visit, site, overview),
    form: { actions: demoteWaiting },
  })
}

async function describeSite(
  { language, texts }: Pick<Visit, 'language' | 'texts'>,
  site: Site,
  overview: ReturnType<typeof createOverview>,
) {
  const now = site.clock()
  const week = { from: new Date(now.getTime() - WEEK_MS), to: now }
  const [health, queues, mail, counted, waiting, marks, top] = await Promise.all([
    site.readHealth(),
    site.readQueues(),
    site.readMail(),
    site.readCounterHealth(),
    countTasks(site.pool, now, TASKS_MAX),
    readMarks(site.pool, week),
    readTop(site, now),
  ])
  const waitingNow = queues.reduce((sum, { ready, deferred }) => sum + ready + deferred, 0)

  const events = shownMarks(marks, { health, span: week, language })
  return {
    now,
    level: health.level,
    conditions: health.conditions
      .filter(({ level }) => isBad(level))
      .toSorted(worstFirst)
      .map((condition) => shownCondition(condition, { texts, language })),
    unknown: health.conditions.filter(({ level }) => level === 'unknown').length,
    processes: health.processes,
    tasks: tasks.flatMap(([of, path]) => {
      const n = waiting[of]
      const text = `${n >= TASKS_MAX ? '≥ ' : ''}${texts(`dashboard.tasks.${of}`, { n })}`
      return n === 0 ? [] : [{ text, href: `/admin${path}` }]
    }),
    unsent: mail.waiting
      .filter(({ state }) => state !== 'held')
      .map(({ kind, state, mails }) => unsentLine(texts, { kind, state, n: mails })),
    ...{ queues, waitingNow, mail, deadLetterQueue, counting: countingOf(counted), top },
    overview: await overview(now, { events, waitingNow, language }),
    events: events.toReversed().slice(0, EVENTS),
  }
}

/** Mail that will be sent without a person. What is held or refused is among the tasks. */
function unsentLine(
  texts: Texts,
  { kind, state, n }: { kind: MailKind; state: 'queued' | 'waiting' | 'held'; n: number },
) {
  const counted = texts(kind === 'letter' ? 'names.letters' : 'names.feedbackReports', { n })
  const path = kind === 'letter' ? '/admin/outbox/letters' : '/admin/outbox'
  return { text: `${counted} (${texts(`names.${state}`)})`, href: `${path}?state=${state}` }
}

function isBad(level: Level): boolean {
  return level === 'warning' || level === 'critical'
}

/** A line of a list of the day: a number, and that of the day before if all of it is known. */
type TopLine = {
  name: string
  href: string | undefined
  count: number
  before: number | undefined
}

/** The largest campaigns, networks and desks of the day, with their numbers of the day before. */
async function readTop({ pool, config }: Pick<Site, 'pool' | 'config'>, now: Date) {
  const outcome = config.smtpUrl === undefined ? 'held' : 'sent'
  const today = dateOf(now)
  const dayBefore = dateOf(new Date(now.getTime() - DAY_MS))
  const end = new Date(Math.floor(now.getTime() / TOTALS_STEP_MS) * TOTALS_STEP_MS)
  const from = new Date(end.getTime() - DAY_MS)
  const families = ['networks', 'desks'] as const
  const dayBeforeFrom = new Date(from.getTime() - DAY_MS)
  const [campaigns, totals, earlier, since] = await Promise.all([
    listLargestCampaigns(pool, today, TOP),
    readTotals(pool, families, { from, to: now, now }),
    readTotals(pool, families, { from: dayBeforeFrom, to: from, now }),
    findFirstSlot(pool),
  ])
  const ids = campaigns.map(({ campaignId }) => campaignId)
  const [around, heads] = await Promise.all([
    sumAround(pool, ids, { from: dayBefore, split: today, until: today }),
    listCampaignHeads(pool, ids),
  ])
  const first = new Map(heads.map(({ id, firstReportId }) => [id, firstReportId]))
  const reports = await listReportsByIds(pool, [...first.values()])
  const subjects = new Map(reports.map(({ id, subject }) => [id, subject]))
  const known = since && since <= dayBeforeFrom ? earlier : undefined
  const desks = topOf(`desks/${outcome}/`, totals, known)
  const consumers = await listConsumersByIds(pool, desks.map(({ name }) => name).filter(isUuid))
  return {
    outcome,
    campaigns: campaigns.map(({ campaignId, reports: count }): TopLine => ({
      ...{
        name: subjects.get(first.get(campaignId) ?? '') ?? '',
        href: `/admin/campaigns/${campaignId}`,
        count,
      },
      before: around.get(campaignId)?.before ?? 0,
    })),
    networks: topOf('networks/', totals, known),
    desks: desks.map((line): TopLine => ({
      ...line,
      name: consumers.get(line.name)?.address ?? line.name,
      href: `/admin/consumers/${line.name}`,
    })),
  }
}

function topOf(
  start: string,
  totals: ReadonlyMap<string, number>,
  earlier: ReadonlyMap<string, number> | undefined,
): TopLine[] {
  return [...totals]
    .filter(([name, count]) => name.startsWith(start) && count > 0)
    .sort(([, one], [, other]) => other - one)
    .slice(0, TOP)
    .map(([name, count]) => {
      const before = earlier && (earlier.get(name) ?? 0)
      return { name: name.slice(start.length), href: undefined, count, before }
    })
}

/** The events after which the script of the dashboard reads the page again. */
export function liveRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendEvents(req, res, site))
  return router
}

const TURN_MS = 1_000
/** The turns after which the state is read. */
const LOOK_TURNS = 2
const LISTENERS_MAX = 50
let listeners = 0

/**
 * Sends an event when the dashboard has changed, as server-sent events, until the client leaves or
 * the process stops. An event contains no data: the client reads the page again.
 */
function sendEvents(req: Request, res: Response, site: Site): void {
  if (listeners >= LISTENERS_MAX) throw new ProblemError('unavailable', 'Too many open pages.')
  listeners++
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  res.write('retry: 10000\n\n')
  let seen: string | undefined
  let turns = 0
  let isLooking = false
  const timer = setInterval(() => {
    if (site.isClosing()) return void res.end()
    if (turns++ % LOOK_TURNS !== 0 || isLooking) return
    isLooking = true
    void stateOf(site).then((state) => {
      isLooking = false
      if (seen !== undefined && state !== seen) res.write('event: changed\ndata:\n\n')
      seen = state
    })
  }, TURN_MS)
  timer.unref()
  req.on('close', () => {
    clearInterval(timer)
    listeners--
  })
}

/** What the dashboard shows, shortly. */
async function stateOf({
  pool,
  readHealth,
  readLastKnown,
}: Pick<Site, 'pool' | 'readHealth' | 'readLastKnown'>): Promise<string> {
  try {
    if ((await readLastKnown()).silentSince) return 'The database is away.'
    const [progress, { conditions }] = await Promise.all([findActivityProgress(pool), readHealth()])
    const levels = conditions.map(({ level }) => level).join(' ')
    return `${progress?.writtenUntil?.getTime() ?? 0} ${levels}`
  } catch {
    return 'The database is away.'
  }
}

/** The state of the counters, summed over all shards. */
function countingOf({ shards, backlogs, tables }: CounterHealth) {
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
  const oldestSeconds = Math.max(0, ...backlogs.map((backlog) => backlog.oldestSeconds))
  return {
    rows: sum(backlogs.map(({ rows }) => rows)),
    bytes: sum(backlogs.map(({ bytes }) => bytes)),
    oldestSeconds,
    deltas: sum(shards.map(({ deltas }) => deltas)),
    heldBack: sum(shards.map(({ heldBack }) => heldBack)),
    falsePositives: Math.max(0, ...shards.map(({ gate }) => gate?.falsePositives ?? 0)),
    fill: Math.max(0, ...shards.map(({ gate }) => gate?.fill ?? 0)),
    tableBytes: sum(tables.map(({ bytes }) => bytes)),
  }
}
