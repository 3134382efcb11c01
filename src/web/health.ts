import type { ServerResponse } from 'node:http'
import { type Request, Router } from 'express'
import { listLostNodes } from '../db/backend.ts'
import { expectedMigrations, missingMigrations } from '../db/installation.ts'
import type { LastKnown } from '../health/last-known.ts'
import { authenticateRequest } from './authenticate.ts'
import { ProblemError } from './problem.ts'
import type { Front, Site } from './site.ts'
import { inTime } from '../world.ts'

type ReadyNeeds = Pick<Site, 'pool' | 'boss' | 'isClosing'> &
  Partial<Pick<Site, 'outage' | 'spool' | 'front' | 'config'>>
type Needs = Pick<Site, 'credentials' | 'metrics' | 'isTrusted' | 'readLastKnown' | 'clock'> &
  ReadyNeeds

/**
 * Maximum time in milliseconds to wait for the database, and afterwards for what else may hang:
 * together less than the two seconds in which each answer must come.
 */
const DATABASE_MS = 1_000
const REST_MS = 700

/**
 * Routes for monitoring: `/healthz` (the process runs), `/readyz` (it can serve) and `/metrics`,
 * for programs on this machine and for administrators. They answer within two seconds, also while
 * the database hangs.
 */
export function healthRoutes(site: Needs): Router {
  const router = Router()
  router.get('/healthz', async (req, res) => {
    if (site.front) return sendText(res, 200, 'alive')
    sendText(res, 200, aliveText(await site.readLastKnown(), site.clock(), site.isTrusted(req)))
  })
  router.get('/readyz', (_req, res) => sendReadiness(res, site))
  router.get('/metrics', async (req, res) => {
    await requireWatcher(req, site)
    const { contentType, body } = await site.metrics.text()
    res.setHeader('content-type', contentType)
    res.end(body)
  })
  return router
}

/**
 * What is known of the site without its database. Which conditions are bad is only for programs on
 * this machine.
 */
function aliveText({ silentSince, health }: LastKnown, now: Date, isTrusted: boolean): string {
  if (!silentSince) return 'alive'
  const secondsSince = (at: Date) => Math.max(0, Math.round((now.getTime() - at.getTime()) / 1_000))
  const silence = `The database has not answered for ${secondsSince(silentSince)} s.`
  if (!health) return `alive\n${silence} The health before is not known.`
  const bad = health.bad.map(({ code, level }) => `${code} ${level}`)
  const shown = isTrusted && bad.length > 0 ? `${health.level}: ${bad.join(', ')}` : health.level
  return `alive\n${silence}\nThe health ${secondsSince(health.at)} s ago was ${shown}.`
}

/**
 * Sends whether the process can serve: 503 with the reason if it cannot or is stopping. It can
 * serve without a worker of a distributed database, and names that worker. While the database is
 * away, it can serve new reports, if it can store them on disk; while it answers, a spool that
 * cannot be used is only named.
 */
export async function sendReadiness(res: ServerResponse, needs: ReadyNeeds): Promise<void> {
  if (needs.front) return sendFrontReadiness(res, needs, needs.front)
  const obstacle = await inTime(obstacleOf(needs), DATABASE_MS, AWAY)
  if (obstacle === undefined) return sendText(res, 200, await readiness(needs))
  const [fault, away] = await Promise.all([
    faultOf(needs, FAULT_MS.away),
    // A database that is silent will count as away in a few seconds, and no report is lost before.
    obstacle === AWAY && inTime(isAway(needs), REST_MS, needs.outage !== undefined),
  ])
  if (away && !needs.isClosing() && fault === undefined) {
    return sendText(res, 200, 'ready for new reports only: the database does not answer')
  }
  res.setHeader('retry-after', '5')
  sendText(res, 503, fault !== undefined && obstacle === AWAY ? `${AWAY}, and ${fault}` : obstacle)
}

/** Maximum age in milliseconds of a test of the spool. */
const FAULT_MS = { away: 1_000, usual: 10_000 }

/** Why reports cannot be stored on disk; undefined if they can. */
async function faultOf({ spool }: ReadyNeeds, msMax: number): Promise<string | undefined> {
  return spool && inTime(spool.fault(msMax), REST_MS, 'the disk of SPOOL_DIR is slow to answer')
}

/** A front can serve as long as it can store reports, if only of reporters that it knows. */
async function sendFrontReadiness(
  res: ServerResponse,
  needs: ReadyNeeds,
  front: Front,
): Promise<void> {
  const obstacle = front.obstacle()
  const fault = await faultOf(needs, FAULT_MS.away)
  if (!needs.isClosing() && fault === undefined) {
    const only = `ready for reports of known reporters only: ${obstacle}`
    return sendText(res, 200, obstacle === undefined ? 'ready' : only)
  }
  res.setHeader('retry-after', '5')
  const both = `${fault}. ${obstacle ?? 'The main installation answers.'}`
  sendText(res, 503, needs.isClosing() ? CLOSING : both)
}

const CLOSING = 'the process is shutting down'

async function readiness(needs: ReadyNeeds): Promise<string> {
  const late = 'one of them is slow to connect'
  const [lost, fault] = await Promise.all([
    inTime(
      listLostNodes(needs.pool).catch(() => [late]),
      REST_MS,
      [late],
    ),
    needs.config?.spool.bytesMax === 0 ? undefined : faultOf(needs, FAULT_MS.usual),
  ])
  const troubles = [
    ...(lost.length > 0 ? [`not all servers of the database answer: ${lost.join(', ')}`] : []),
    ...(fault === undefined ? [] : [`not without the database: ${fault}`]),
  ]
  return ['ready', ...troubles].join(', but ')
}

let expected: Promise<string[]> | undefined

/** The reason why the process cannot serve; undefined if it can. */
async function obstacleOf({
  pool,
  boss,
  isClosing,
  outage,
}: ReadyNeeds): Promise<string | undefined> {
  if (isClosing()) return CLOSING
  if (outage?.since()) return AWAY
  try {
    expected ??= expectedMigrations()
    const missing = await missingMigrations(pool, await expected)
    if (missing.length > 0) return `the database lacks the migration ${missing[0]}`
    if (!(await boss.isInstalled())) return 'the queues are not installed'
    return undefined
  } catch {
    return AWAY
  }
}

const AWAY = 'the database does not answer'

/** Whether new reports are stored on disk. Notices an outage that no request has met. */
async function isAway({ pool, outage }: ReadyNeeds): Promise<boolean> {
  if (!outage) return false
  return outage.run(
    async () => (await pool.query('select')).rowCount === 0,
    () => true,
  )
}

/**
 * Allows programs on this machine and administrators. Programs are recognized as for `/checkv2`,
 * because behind a proxy every request comes from the proxy's machine.
 */
async function requireWatcher(req: Request, site: Needs): Promise<void> {
  if (site.isTrusted(req)) return
  const checking = authenticateRequest(req, site.credentials, ['bearer', 'basic'], 'viewer')
  if ((await inTime(checking, DATABASE_MS, undefined)) !== undefined) return
  const detail = 'The database does not answer, so these credentials cannot be checked.'
  throw new ProblemError('unavailable', detail, { 'retry-after': '5' })
}

function sendText(res: ServerResponse, status: number, text: string): void {
  res.statusCode = status
  res.setHeader('content-type', 'text/plain; charset=utf-8')
  res.setHeader('cache-control', 'no-store')
  res.end(`${text}\n`)
}
