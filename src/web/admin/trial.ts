import { Router } from 'express'
import { findLastRun, listBacklogs } from '../../db/jobs.ts'
import { listReportersAt } from '../../db/reporters.ts'
import { countReportsBetween } from '../../db/reports.ts'
import { DAY_MS } from '../../durations.ts'
import { fillSamples, removeSamples } from '../../reports/sample-actions.ts'
import { fillSampleReports, SAMPLE_DOMAIN } from '../../reports/queues.ts'
import { uuidFloor } from '../../world.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { adminPage } from './page.ts'

/** How far the sample data is, by the reports of its accounts. */
async function readProgress({ pool, clock }: Pick<Site, 'pool' | 'clock'>) {
  const accounts = await listReportersAt(pool, SAMPLE_DOMAIN)
  const [first] = accounts
  if (!first) return { state: 'empty' }
  // Loaded only for a trial.
  const { sampleReportsAbout } = await import('../../reports/sample-mail.ts')
  const about = { reports: 0, about: sampleReportsAbout }
  if (accounts.some(({ state }) => state === 'erasing')) return { state: 'removing', ...about }
  const now = clock()
  const span = { from: uuidFloor(first.createdAt), to: uuidFloor(new Date(now.getTime() + DAY_MS)) }
  const [counts, [backlog], lastRun] = await Promise.all([
    countReportsBetween(
      pool,
      accounts.map(({ id }) => id),
      span,
    ),
    listBacklogs(pool, [fillSampleReports.name], now),
    findLastRun(pool, fillSampleReports.name),
  ])
  const isFilling =
    lastRun?.endedAt === null || (backlog?.ready ?? 0) + (backlog?.deferred ?? 0) > 0
  const reports = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return { state: isFilling ? 'filling' : 'filled', ...about, reports }
}

/** The page of a trial instance, which adds and removes sample data. Others do not have it. */
export function trialRoutes(site: Site): Router {
  const router = Router()
  router.use((req, _res, next) => {
    if (!site.isTrial(req)) throw new ProblemError('not-found', 'Page not found.')
    next()
  })
  router.use(
    adminPage(site, {
      view: 'admin/trial',
      title: 'trial.title',
      data: () => readProgress(site),
      form: { actions: { fill: fillSamples, remove: removeSamples } },
    }),
  )
  return router
}
