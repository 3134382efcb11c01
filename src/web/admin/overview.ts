import { type Request, type Response, Router } from 'express'
import type { CounterHealth } from '../../counting/run-roll-ups.ts'
import { type DeadLetterKey, listDeadLetters } from '../../db/dead-letters.ts'
import { countUnread } from '../../db/inbox.ts'
import { forwardReport } from '../../feedback/forward-report.ts'
import { sendLetter } from '../../letters/send-letter.ts'
import { deadLetterQueue } from '../../queue/define-queue.ts'
import { demoteWaiting, retryDeadLetters } from '../../queue/redrive.ts'
import { isUuid, pageOf } from '../pages/render.ts'
import type { MailNow, QueueState, Site } from '../site.ts'
import { doneMessage, postAction } from './post-action.ts'
import { sendAdminPage, shownDuration } from './send-admin-page.ts'

/** The health of the queues as a sentence, and its severity. */
export type HealthStatus = { tone: 'good' | 'warn' | 'bad'; sentence: string }

const WAIT_WARN_SECONDS = 30
const WAIT_BAD_SECONDS = 300

/** Maximum time in seconds that due mail may wait before it counts as late. */
const MAIL_LATE_SECONDS = 900

/**
 * Describes why mail is not being sent: our mail server refuses it or none is configured, or the
 * oldest mail is late. Undefined if mail is being sent.
 */
export function mailStatus(
  queues: readonly QueueState[],
  { relay }: Pick<MailNow, 'relay'>,
  { isHeld, now }: { isHeld: boolean; now: Date },
): HealthStatus | undefined {
  if (isHeld) return { tone: 'warn', sentence: 'Outgoing mail is held: SMTP_URL is not set.' }
  if (relay.refusedSince) {
    const since = shownDuration((now.getTime() - relay.refusedSince.getTime()) / 1000)
    const sentence = `Mail is not being sent: our mail server has accepted none for ${since}.`
    return { tone: 'bad', sentence }
  }
  const names = [forwardReport.name, sendLetter.name]
  const ages = queues.filter(({ name }) => names.includes(name))
  const oldest = Math.max(0, ...ages.map(({ oldestJobSeconds }) => oldestJobSeconds))
  if (oldest < MAIL_LATE_SECONDS) return undefined
  return {
    tone: 'warn',
    sentence: `Mail has been waiting to be sent for ${shownDuration(oldest)}.`,
  }
}

/** Returns the most severe of several states; of equally severe ones, the first. */
export function worstOf(words: readonly (HealthStatus | undefined)[]): HealthStatus | undefined {
  const ranks = ['bad', 'warn', 'good'] as const
  return ranks.map((tone) => words.find((word) => word?.tone === tone)).find(Boolean)
}

/**
 * Describes the health of the queues by the longest wait, then by dead letters. The number of
 * waiting jobs does not matter: a long queue that moves is healthy, a stalled one is not.
 */
export function healthWord(queues: readonly QueueState[], deadLetterName: string): HealthStatus {
  const worked = queues.filter(({ name }) => name !== deadLetterName)
  const dead = queues.find(({ name }) => name === deadLetterName)?.ready ?? 0
  const slowest = worked.toSorted((a, b) => b.longestWaitSeconds - a.longestWaitSeconds)[0]
  const wait = slowest?.longestWaitSeconds ?? 0
  if (slowest && wait >= WAIT_BAD_SECONDS) {
    const stands = `Queue ${slowest.name} is far behind: a job has waited ${shownDuration(wait)}.`
    return { tone: 'bad', sentence: `${stands} Check that workers are running.` }
  }
  if (slowest && wait >= WAIT_WARN_SECONDS) {
    const sentence = `Queue ${slowest.name} is behind: a job has waited ${shownDuration(wait)}.`
    return { tone: 'warn', sentence }
  }
  if (dead > 0) {
    const jobs = dead === 1 ? '1 job is a dead letter' : `${dead} jobs are dead letters`
    return { tone: 'warn', sentence: `The queues are working, but ${jobs}.` }
  }
  return { tone: 'good', sentence: 'All queues are working, and there are no dead letters.' }
}

const LINES = 50

/** The page with dead letters, on which they can be retried. */
export function deadLetterRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendList(req, res, site))
  router.post(
    '/',
    postAction(site, {
      actions: retryDeadLetters,
      fields: (_, form) => ({ id: form.text('which') === 'all' ? undefined : form.texts('id') }),
      back: () => '/admin/dead-letters',
    }),
  )
  return router
}

async function sendList(
  req: Request,
  res: Response,
  site: Pick<Site, 'pool' | 'clock'>,
): Promise<void> {
  const before = keyOf(req.query['at'], req.query['id'])
  const page = { before, limit: LINES + 1 }
  const rows = await listDeadLetters(site.pool, deadLetterQueue, page)
  const { lines, next } = pageOf(rows, LINES, ({ id, givenUpMicros }) => ({
    at: String(givenUpMicros),
    id,
  }))
  const now = site.clock().getTime()
  sendAdminPage(req, res, {
    view: 'admin/dead-letters',
    title: 'Dead letters',
    data: {
      lines: lines.map((line) => ({
        ...line,
        ageSeconds: (now - line.createdAt.getTime()) / 1000,
      })),
      next,
      done: doneMessage(req, retryDeadLetters),
      isFirst: before === undefined,
    },
  })
}

function keyOf(at: unknown, id: unknown): DeadLetterKey | undefined {
  if (typeof at !== 'string' || !/^\d{1,16}$/.test(at) || !isUuid(id)) return undefined
  return { givenUpMicros: Number(at), id }
}

/** Time in seconds after which counting is late; a roll-up normally runs every half second. */
const COUNTING_LATE_SECONDS = 60

/** Unread mail above this number is not counted exactly. */
const UNREAD_MAX = 100

/**
 * The overview page: the state of the queues, counters and outgoing mail. The waiting jobs of a
 * queue can be put behind new ones.
 */
export function overviewRoutes(site: Site): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const [queues, mail, counted, unread] = await Promise.all([
      site.readQueues(),
      site.readMail(),
      site.readCounterHealth(),
      countUnread(site.pool, UNREAD_MAX),
    ])
    const counting = countingOf(counted)
    const isHeld = site.config.smtpUrl === undefined
    sendAdminPage(req, res, {
      view: 'admin/overview',
      title: 'Overview',
      data: {
        queues,
        health: worstOf([
          countingWord(counting),
          mailStatus(queues, mail, { isHeld, now: site.clock() }),
          healthWord(queues, deadLetterQueue),
        ]),
        mail,
        deadLetterQueue,
        counting,
        unread,
        unreadMax: UNREAD_MAX,
        isHeld,
        forwardTo: site.config.forwardTo,
        done: doneMessage(req, demoteWaiting),
      },
    })
  })
  router.post('/', postAction(site, { actions: demoteWaiting, back: () => '/admin' }))
  return router
}

function countingWord({ isLate }: { isLate: boolean }): HealthStatus | undefined {
  return isLate
    ? {
        tone: 'bad',
        sentence: 'The statistics are not being updated. Check that count is running.',
      }
    : undefined
}

/** The state of the counters, summed over all shards. */
function countingOf({ shards, backlogs, tables }: CounterHealth) {
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
  const oldestSeconds = Math.max(0, ...backlogs.map((backlog) => backlog.oldestSeconds))
  return {
    rows: sum(backlogs.map(({ rows }) => rows)),
    bytes: sum(backlogs.map(({ bytes }) => bytes)),
    oldestSeconds,
    isLate: oldestSeconds > COUNTING_LATE_SECONDS,
    deltas: sum(shards.map(({ deltas }) => deltas)),
    heldBack: sum(shards.map(({ heldBack }) => heldBack)),
    falsePositives: Math.max(0, ...shards.map(({ gate }) => gate?.falsePositives ?? 0)),
    fill: Math.max(0, ...shards.map(({ gate }) => gate?.fill ?? 0)),
    tableBytes: sum(tables.map(({ bytes }) => bytes)),
  }
}
