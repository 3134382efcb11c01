import { Router } from 'express'
import type { CounterHealth } from '../../counters/counter-health.ts'
import { countUnread } from '../../db/inbox.ts'
import { deadLetterQueue } from '../../queue/queues.ts'
import type { Site } from '../site.ts'
import { type HealthWord, healthWord } from './health-word.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'config' | 'readQueues' | 'readCounterHealth'>

/** A roll-up comes every half second: what waits for so long waits for nobody. */
const COUNTING_LATE_SECONDS = 60

/** Past so many it is enough to know that they are many. */
const UNREAD_MAX = 100

/** The first page: how the queues and the counting fare, and whether mail leaves. */
export function overviewRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const [queues, counted, unread] = await Promise.all([
      site.readQueues(),
      site.readCounterHealth(),
      countUnread(site.pool, UNREAD_MAX),
    ])
    const counting = countingOf(counted)
    sendAdminPage(req, res, {
      view: 'admin/overview',
      title: 'Overview',
      data: {
        queues,
        health: worseOf(healthWord(queues, deadLetterQueue), counting),
        deadLetterQueue,
        counting,
        unread,
        unreadMax: UNREAD_MAX,
        isHeld: site.config.smtpUrl === undefined,
        forwardTo: site.config.forwardTo,
      },
    })
  })
  return router
}

/** All is well only where the counting is too. */
function worseOf(ofQueues: HealthWord, { isLate }: { isLate: boolean }): HealthWord {
  if (!isLate || ofQueues.tone !== 'good') return ofQueues
  return { tone: 'bad', sentence: 'The queues move, but the counting does not.' }
}

/** How the counting fares, in sums over all shards. */
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
