import express from 'express'
import type { Express, NextFunction, Request, Response } from 'express'
import type { App, WebApp } from '../app.ts'
import { createReadCounterHealth } from '../counting/run-roll-ups.ts'
import { countConsumersByHealth } from '../db/consumers.ts'
import type { Preview } from '../feedback/compose-feedback.ts'
import type { ReadSample } from '../feedback/sample-report.ts'
import { createLastKnown } from '../health/last-known.ts'
import { createReadHealth } from '../health/read-health.ts'
import { createMessageChecker } from '../judging/check-message.ts'
import { createSenderWatch } from '../judging/sender-watch.ts'
import type { AskAboutClient } from '../judging/first-filter.ts'
import type { ReadWritten } from '../judging/rule-versions.ts'
import { needsDatabase } from '../outage/outage.ts'
import { createCredentials } from '../people/credentials.ts'
import { queueAlertWebhooks } from '../people/deliver-webhooks.ts'
import { createLimits } from '../people/limits.ts'
import { createAdvisesProbe } from '../letters/probe-letter.ts'
import { createMailboxUsers } from '../people/mailbox-users.ts'
import { createIntake, type Prepared, type Unpacker } from '../reports/accept-report.ts'
import { spooledReport } from '../reports/take-spooled.ts'
import { createReadLines } from './bodies/read-lines.ts'
import { frontApi } from './api/front.ts'
import { apiRouter, problemAnswers } from './api/router.ts'
import { type BodyPool, createBodyPool } from './bodies/body-pool.ts'
import { createBodies } from './bodies/read-body.ts'
import { type CheckRoutes, createCheckRoutes } from './check/check-routes.ts'
import { createTrial, createTrust } from './check/may-ask.ts'
import { contractRoutes, wellKnownRoutes } from './docs/docs-routes.ts'
import { ProblemError } from './problem.ts'
import { healthRoutes } from './health.ts'
import { guardPasswords } from './limits.ts'
import { listen, localUrl } from './listen.ts'
import {
  createConsumerMetrics,
  createCounterMetrics,
  createHealthMetrics,
  createMailMetrics,
  createMetrics,
  createQueueMetrics,
  createRuleMetrics,
  createSpoolMetrics,
} from './metrics.ts'
import { createStatistics } from './pages/published-months.ts'
import { pageRoutes } from './pages/router.ts'
import { outlookFiles } from './reporting/outlook.ts'
import { createUploads } from './reporting/take-upload.ts'
import { type ReadText, type Site } from './site.ts'
import { createReadMail, createReadQueues } from './read-backlogs.ts'
import { logRequests } from './request-id.ts'
import { createSubmit } from './submit.ts'

const BYTES_IN_HAND_MAX = 150_000_000
const LINE_BYTES_IN_HAND_MAX = 100_000_000
const ANONYMOUS_BYTES_IN_HAND_MAX = 50_000_000

/** The dependencies of the server besides the application. */
type Tools = {
  preview: Preview
  readText: ReadText
  readWritten: ReadWritten
  readSample: ReadSample
  unpack: Unpacker
  standby: Pick<Site, 'outage' | 'callers' | 'spool' | 'front'>
  /** Whether the process waits for the database, and only takes reports: it answers no checks. */
  isStandIn?: boolean
  queueNames: readonly string[]
  askAboutClient?: AskAboutClient | undefined
  provider?: WebApp['provider']
}

/** Serves all HTTP requests. Resolves when it listens, and continues until it is closed. */
export async function serve(
  app: App,
  tools: Tools,
): Promise<{ url: string; close: () => Promise<void> }> {
  const { preview, readText, readWritten, readSample, unpack, queueNames, standby } = tools
  const { provider } = tools
  const { httpHost: host, httpPort: port } = app.config
  const isTrusted = createTrust(app.config.publicUrl)
  const bodies = createBodyPool(app.config.messageBytesMax)
  const lastKnown = createLastKnown(app, standby.outage)
  const checks = tools.isStandIn ? noChecks : openChecks(app, tools, { bodies, isTrusted })
  const listener = await listen(
    (taken, isClosing) => {
      const checkMetrics = checks.metrics
      const readLastKnown = lastKnown.read
      const given = { bodies, checkMetrics, queueNames, standby, readLastKnown }
      const made = createSite(app, taken, given)
      const isTrial = createTrial(app.config)
      const site = { ...made, isTrusted, isTrial, isClosing, noteSender: checks.noteSender }
      const uploads = createUploads({ ...app.config, submit: site.submit, unpack })
      const shown = { preview, readText, readWritten, readSample, provider }
      return createExpress({ ...site, ...shown, ...uploads }, checks.handle)
    },
    { host, port, drainMs: app.config.drainMs },
  )
  return {
    url: localUrl(host, listener.port),
    close: async () => {
      lastKnown.close()
      await listener.close()
      await checks.close()
      await bodies.close()
    },
  }
}

/** The answers to mail servers, and what other routes need of them. */
type Checks = {
  handle: CheckRoutes['handle']
  metrics: () => Promise<string>
  noteSender: Site['noteSender']
  close: () => Promise<void>
}

function openChecks(
  app: App,
  { askAboutClient }: Pick<Tools, 'askAboutClient'>,
  { bodies, isTrusted }: { bodies: BodyPool; isTrusted: Site['isTrusted'] },
): Checks {
  const watch = createSenderWatch(app, (tx, id) =>
    queueAlertWebhooks(tx, app.boss, id, app.clock()),
  )
  const checker = createMessageChecker(app, 'web', { askAboutClient, watch })
  const { handle, statistics } = createCheckRoutes(app, { checker, bodies }, isTrusted)
  return {
    handle,
    metrics: statistics.metrics,
    noteSender: watch.note,
    async close() {
      await checker.close()
      await watch.close()
    },
  }
}

const noChecks: Checks = {
  handle: () => false,
  metrics: () => Promise.resolve(''),
  noteSender: () => Promise.reject(needsDatabase()),
  close: () => Promise.resolve(),
}

/** The part of the site that `createSite` makes. */
type MadeSite = Omit<
  Site,
  | 'preview'
  | 'provider'
  | 'readText'
  | 'readWritten'
  | 'readSample'
  | 'takeUpload'
  | 'lookInto'
  | 'isTrusted'
  | 'isTrial'
  | 'isClosing'
  | 'noteSender'
>

function createSite(
  app: App,
  port: number,
  {
    bodies,
    checkMetrics,
    queueNames,
    standby,
    readLastKnown,
  }: Pick<Tools, 'queueNames' | 'standby'> & {
    bodies: BodyPool
    readLastKnown: Site['readLastKnown']
    checkMetrics: () => Promise<string>
  },
): MadeSite {
  const { front } = standby
  const readQueues = createReadQueues(app, queueNames)
  const readCounterHealth = createReadCounterHealth(app)
  const readMail = createReadMail(app)
  const readHealth = createReadHealth(app)
  const readers = { readQueues, readCounterHealth, readMail, readHealth }
  const metrics = createSiteMetrics(app, standby, { ...readers, checkMetrics })
  const { publicUrl } = app.config
  const refuge = {
    outage: standby.outage,
    async append(report: Prepared) {
      const entry = spooledReport(report, app.config.secret)
      await standby.spool.append(entry)
      return entry.id
    },
  }
  return {
    ...app,
    ...standby,
    publicUrl: publicUrl.replace(/:0$/, `:${port}`),
    credentials: createCredentials(app.pool, {
      clock: app.clock,
      rules: app.config,
      ...standby,
      ...(front && { outage: front.link, lookUps: front.lookUps }),
    }),
    limits: createLimits({ ...app, ...standby, listLimits: front?.listLimits }),
    mailboxUsers: createMailboxUsers({ ...app, ...standby }),
    advisesProbe: createAdvisesProbe(app),
    submit: createSubmit({ intake: createIntake(app, refuge), bodies, metrics: metrics.intake }),
    ...createBodies(BYTES_IN_HAND_MAX),
    takeAnonymousBody: createBodies(ANONYMOUS_BYTES_IN_HAND_MAX).takeBody,
    bodies,
    readLines: createReadLines(LINE_BYTES_IN_HAND_MAX),
    readQueues,
    readMail,
    statistics: createStatistics(app),
    readCounterHealth,
    readHealth,
    readLastKnown,
    metrics,
  }
}

function createSiteMetrics(
  app: App,
  standby: Tools['standby'],
  {
    checkMetrics,
    ...read
  }: Pick<Site, 'readQueues' | 'readCounterHealth' | 'readMail' | 'readHealth'> & {
    checkMetrics: () => Promise<string>
  },
): Site['metrics'] {
  const { front } = standby
  const outage = front?.link ?? standby.outage
  const fromDatabase = [
    createQueueMetrics(read.readQueues),
    createConsumerMetrics(() => countConsumersByHealth(app.pool, app.clock())),
    createRuleMetrics(app),
    createMailMetrics(read.readMail, app.clock),
    createCounterMetrics(read.readCounterHealth),
  ]
  const own = [checkMetrics, createSpoolMetrics({ ...standby, outage }, app.clock)]
  // A front has no conditions of health.
  if (!front) own.push(createHealthMetrics(read.readHealth))
  return createMetrics({ own, fromDatabase }, app.clock)
}

function createExpress(site: Site, handleCheck: CheckRoutes['handle']): Express {
  const handle = express()
  handle.disable('x-powered-by')
  handle.disable('etag')
  handle.use(site.metrics.requests)
  handle.use(logRequests(site.log))
  handle.use(commonHeaders)
  handle.use(guardPasswords(site))
  handle.use((req, res, next) => {
    if (!handleCheck(req, res)) next()
  })
  if (site.front) handle.use(takesOnlyReports(site))
  handle.use('/api/front', frontApi(site))
  handle.use('/api', apiRouter(site))
  handle.use(healthRoutes(site), contractRoutes(site), problemAnswers(site))
  handle.use(wellKnownRoutes(site))
  handle.use(outlookFiles(site))
  handle.use(pageRoutes(site))
  return handle
}

function commonHeaders(_req: Request, res: Response, next: NextFunction): void {
  res.setHeader('x-content-type-options', 'nosniff')
  next()
}

/** What a front answers itself: a method, and a path or the beginning of paths. */
const own: readonly (readonly [method: string, path: RegExp])[] = [
  ['GET', /^\/(?:healthz|readyz|metrics|report)$|^\/assets\//],
  ['POST', /^\/(?:report|report\/share|language)$/],
  ['POST', /^\/api\/(?:v1\/reports|v1\/reports\/bulk|signaler)\/?$/],
  ['OPTIONS', /^\/api\//],
]

/**
 * Lets a front answer only what it can without a database. Leads browsers that want another page to
 * the main site, and tells programs where to send other requests.
 *
 * @throws ProblemError 404
 */
function takesOnlyReports({ publicUrl }: Pick<Site, 'publicUrl'>) {
  const mainHost = new URL(publicUrl).host
  return (req: Request, res: Response, next: NextFunction): void => {
    const { path, originalUrl } = req
    const method = req.method === 'HEAD' ? 'GET' : req.method
    if (own.some(([one, pattern]) => one === method && pattern.test(path))) return next()
    // Redirecting to this same host would never end.
    const leads = method === 'GET' && !path.startsWith('/api/') && req.headers.host !== mainHost
    if (leads && originalUrl.startsWith('/')) return res.redirect(302, publicUrl + originalUrl)
    const detail = `This server only accepts reports. Everything else is at ${publicUrl}.`
    throw new ProblemError('not-found', detail)
  }
}
