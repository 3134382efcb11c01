import { Router } from 'express'
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
import { countGraph } from '../pages/count-graph.ts'
import type { Graph } from '../pages/graph.ts'
import type { Visit } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { adminPage } from './page.ts'

export function reporterRoutes(site: Site): Router {
  return adminPage(site, {
    at: '/:id',
    view: 'admin/reputations/reporter',
    title: 'reporters.title',
    async data({ req }) {
      const { id } = req.params
      const account = isUuid(id) ? await findAccount(site.pool, id) : undefined
      if (!account) throw new ProblemError('not-found', 'Reporter not found.')
      const [state] = await findKarmas(site.pool, [account.id])
      const now = site.clock()
      const karma = karmaOf(state, now)
      const why = explainKarma(state, now)
      return { account, karma, isProven: karma >= PROVEN_KARMA_MIN, why }
    },
  })
}

const LINES = 50
const NAME_CHARS_MAX = 250

const marks: readonly Mark[] = ['exempt', 'listed', 'welcome']

/**
 * The search for the reputations of addresses, authors, links and so on, a page for each, and
 * manual overrides.
 */
export function reputationRoutes(site: Site): Router {
  const subjectOf = (form: Form) => requireSubject({ get: (name) => form.text(name) ?? null })
  const router = Router()
  router.use(
    adminPage(site, {
      view: 'admin/reputations/search',
      title: 'reputations.title',
      data: ({ req }) => search(searchParamsOf(req), site),
    }),
    adminPage(site, {
      at: '/subject',
      view: 'admin/reputations/subject',
      title: 'reputations.one',
      async data({ req, refused, ...visit }) {
        const given = refused && { get: (name: string) => refused.given[name] ?? null }
        const subject = requireSubject(given ?? searchParamsOf(req))
        const now = site.clock()
        const shown = await showReputation(site.pool, subject, now)
        const untilAt = shown.mark?.untilAt ?? null
        return {
          ...shown,
          chart: chartOf(shown, now, visit),
          marks,
          isHolding: shown.mark !== null && (untilAt === null || untilAt > now),
        }
      },
      form: {
        actions: { set: markReputation, lift: unmarkReputation },
        fields: (_, form) => subjectOf(form),
        back: (_req, _outcome, form) => href(subjectOf(form)),
      },
    }),
  )
  return router
}

async function search(given: URLSearchParams, { pool, clock }: Pick<Site, 'pool' | 'clock'>) {
  const name = storableText(given.get('name')?.trim() ?? '', NAME_CHARS_MAX)
  const kind = given.get('kind') ?? ''
  const query = { name: name.includes('/') ? name : name.toLowerCase(), limit: LINES }
  const now = clock()
  const known = isSubjectKind(kind) ? kind : undefined
  const [found, overrides] = await Promise.all([
    name === '' ? [] : findReputationsByName(pool, { ...query, kind: known }, now),
    listMarks(pool, now, LINES),
  ])
  const kinds = Object.keys(subjectKinds)
  return { name, kind: known, kinds, found, marks: overrides, href, LINES }
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
): Graph | undefined {
  if (!detail) return undefined
  const points = detail.days.map(({ day, ...sums }) => {
    return { startsAt: new Date(day * DAY_MS), ...sums }
  })
  return countGraph(points, {
    id: 'behavior',
    title: texts('reputations.chart'),
    ...{ period: 'day', language, texts },
    series: [
      { key: 'bad', name: texts('reputations.bad'), tone: 'bad' },
      { key: 'newcomers', name: texts('reputations.newcomers'), tone: 'plain' },
      { key: 'good', name: texts('reputations.good'), tone: 'good', isBelow: true },
    ],
    now,
    from: new Date(now.getTime() - (DAYS_MAX - 1) * DAY_MS),
  })
}
