import { type Request, type Response, Router } from 'express'
import type { CounterHealth } from '../../counting/run-roll-ups.ts'
import { type DeadLetterKey, listDeadLetters } from '../../db/dead-letters.ts'
import { countUnread } from '../../db/inbox.ts'
import type { Level } from '../../health/conditions.ts'
import { deadLetterQueue } from '../../queue/define-queue.ts'
import { demoteWaiting, retryDeadLetters } from '../../queue/redrive.ts'
import { isUuid, pageOf } from '../pages/render.ts'
import type { Site } from '../site.ts'
import { shownCondition } from './health.ts'
import { doneMessage, postAction } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

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

/** Unread mail above this number is not counted exactly. */
const UNREAD_MAX = 100

/**
 * The overview page: what is wrong, and the state of the queues, counters and outgoing mail. The
 * waiting jobs of a queue can be put behind new ones.
 */
export function overviewRoutes(site: Site): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const [health, queues, mail, counted, unread] = await Promise.all([
      site.readHealth(),
      site.readQueues(),
      site.readMail(),
      site.readCounterHealth(),
      countUnread(site.pool, UNREAD_MAX),
    ])
    sendAdminPage(req, res, {
      view: 'admin/overview',
      title: 'Overview',
      data: {
        queues,
        level: health.level,
        conditions: health.conditions.map(shownCondition).filter(({ level }) => isBad(level)),
        unknown: health.conditions.filter(({ level }) => level === 'unknown').length,
        mail,
        deadLetterQueue,
        counting: countingOf(counted),
        unread,
        unreadMax: UNREAD_MAX,
        forwardTo: site.config.forwardTo,
        done: doneMessage(req, demoteWaiting),
      },
    })
  })
  router.post('/', postAction(site, { actions: demoteWaiting, back: () => '/admin' }))
  return router
}

function isBad(level: Level): boolean {
  return level === 'warning' || level === 'critical'
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
