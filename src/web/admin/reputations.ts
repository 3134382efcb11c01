import { type Request, type Response, Router } from 'express'
import { markReputation, unmarkReputation } from '../../counting/reputation-actions.ts'
import {
  findReputationsByName,
  type ShownReputation,
  showReputation,
} from '../../counting/reputation-reader.ts'
import { findAccount } from '../../db/reporters.ts'
import { findKarmas, listMarks } from '../../db/reputations.ts'
import { DAY_MS } from '../../durations.ts'
import { storableText } from '../../mail/text.ts'
import { DAYS_MAX, PROVEN_KARMA_MIN } from '../../verdict/reputation/detail.ts'
import { explainKarma, karmaOf } from '../../verdict/reputation/karma.ts'
import { type Mark } from '../../verdict/reputation/reputation.ts'
import { isSubjectKind, type Subject, subjectKinds } from '../../verdict/reputation/subject.ts'
import type { Form } from '../pages/form.ts'
import { isUuid, queryOf } from '../pages/render.ts'
import { seriesChart, type SeriesChart } from '../pages/series-chart.ts'
import { type Visit, visitOf } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { doneMessage, postAction } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

type ReporterNeeds = Pick<Site, 'pool' | 'clock'>

/** The page with the karma of a reporter and its reasons. */
export function reporterRoutes(site: ReporterNeeds): Router {
  const router = Router()
  router.get('/:id', async (req, res) => {
    const { id } = req.params
    const reporter = isUuid(id) ? await findAccount(site.pool, id) : undefined
    if (!reporter) throw new ProblemError('not-found', 'Reporter not found.')
    const [state] = await findKarmas(site.pool, [reporter.id])
    const now = site.clock()
    const karma = karmaOf(state, now)
    sendAdminPage(req, res, {
      view: 'admin/reputations/reporter',
      title: visitOf(req).texts('reporters.title'),
      data: {
        account: reporter,
        karma,
        isProven: karma >= PROVEN_KARMA_MIN,
        why: explainKarma(state, now),
      },
    })
  })
  return router
}

const LINES = 50
const NAME_CHARS_MAX = 250

const marks: readonly Mark[] = ['exempt', 'listed', 'welcome']

/**
 * The search for the reputations of addresses, authors, links and so on, a page for each, and
 * manual overrides.
 */
export function reputationRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendSearch(req, res, site))
  router.get('/subject', (req, res) => {
    const given = searchParamsOf(req)
    return sendSubject(req, res, site, { subject: requireSubject(given), faults: [], form: {} })
  })
  const subjectOf = (form: Form) => requireSubject({ get: (name) => form.text(name) ?? null })
  router.post(
    '/subject',
    postAction(site, {
      actions: { set: markReputation, lift: unmarkReputation },
      fields: (_, form) => subjectOf(form),
      back: (_req, _outcome, form) => href(subjectOf(form)),
      show: (req, res, { problems: faults, given: form }) => {
        const subject = requireSubject({ get: (name) => form[name] ?? null })
        return sendSubject(req, res, site, { subject, faults, form })
      },
    }),
  )
  return router
}

async function sendSearch(
  req: Request,
  res: Response,
  site: Pick<Site, 'pool' | 'clock'>,
): Promise<void> {
  const given = searchParamsOf(req)
  const name = storableText(given.get('name')?.trim() ?? '', NAME_CHARS_MAX)
  const kind = given.get('kind') ?? ''
  const search = { name: name.includes('/') ? name : name.toLowerCase(), limit: LINES }
  const now = site.clock()
  const known = isSubjectKind(kind) ? kind : undefined
  const [found, marks] = await Promise.all([
    name === '' ? [] : findReputationsByName(site.pool, { ...search, kind: known }, now),
    listMarks(site.pool, now, LINES),
  ])
  sendAdminPage(req, res, {
    view: 'admin/reputations/search',
    title: visitOf(req).texts('reputations.title'),
    data: { name, kind: known, kinds: Object.keys(subjectKinds), found, marks, href, LINES },
  })
}

type Attempt = {
  subject: Subject
  faults: readonly string[]
  form: { mark?: string; reason?: string; until?: string }
}

async function sendSubject(
  req: Request,
  res: Response,
  site: Pick<Site, 'pool' | 'clock'>,
  attempt: Attempt,
) {
  const { subject, faults, form } = attempt
  const { texts } = visitOf(req)
  const now = site.clock()
  const shown = await showReputation(site.pool, subject, now)
  sendAdminPage(req, res, {
    view: 'admin/reputations/subject',
    title: texts('reputations.one'),
    status: faults.length > 0 ? 422 : 200,
    data: {
      ...shown,
      chart: chartOf(shown, now, visitOf(req)),
      faults,
      form,
      marks,
      done: doneMessage(req, markReputation, unmarkReputation),
      isHolding: shown.mark !== null && (shown.mark.untilAt === null || shown.mark.untilAt > now),
    },
  })
}

function requireSubject(given: { get: (name: string) => string | null }): Subject {
  const kind = given.get('kind') ?? ''
  const name = storableText(given.get('name')?.trim() ?? '', NAME_CHARS_MAX)
  if (!isSubjectKind(kind) || name === '') {
    throw new ProblemError('not-found', 'Unknown kind of reputation.')
  }
  return { kind, name }
}

function href({ kind, name }: Subject): string {
  return `/admin/reputations/subject${queryOf({ kind, name })}`
}

function chartOf(
  { detail }: ShownReputation,
  now: Date,
  { texts, language }: Pick<Visit, 'texts' | 'language'>,
): SeriesChart | undefined {
  if (!detail) return undefined
  const points = detail.days.map(({ day, ...sums }) => {
    return { startsAt: new Date(day * DAY_MS), ...sums }
  })
  return seriesChart(points, {
    id: 'behavior',
    title: texts('reputations.chart'),
    ...{ period: 'day', language },
    series: [
      { key: 'bad', name: texts('reputations.bad'), tone: 'bad' },
      { key: 'newcomers', name: texts('reputations.newcomers'), tone: 'plain' },
      { key: 'good', name: texts('reputations.good'), tone: 'good', isBelow: true },
    ],
    now,
    from: new Date(now.getTime() - (DAYS_MAX - 1) * DAY_MS),
  })
}
