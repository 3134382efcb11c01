import type { Request, Router } from 'express'
import {
  fittingPeriod,
  type Period,
  periodNames,
  periods,
  readActivity,
  readMarks,
  spanBefore,
  spanOf,
} from '../../activity/read-activity.ts'
import { findFirstSlot } from '../../db/activity.ts'
import { listConsumersByIds } from '../../db/consumers.ts'
import { type Language, textsIn } from '../../texts/messages.ts'
import { isUuid, queryOf } from '../pages/render.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { activityGroups, drawGroup, type DrawnActivity, markText } from './activity-charts.ts'
import { adminPage, type PageCall } from './page.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'readHealth'>

export function activityRoutes(site: Site): Router {
  return adminPage(site, {
    view: 'admin/activity',
    data: (call) => describeActivity(call, site),
  })
}

const groupIn = (req: Request) =>
  activityGroups.find(({ key }) => key === req.query['group']) ?? activityGroups[0]

async function describeActivity({ req, language, texts }: PageCall, site: Needs) {
  const group = groupIn(req)
  if (!group) throw new ProblemError('not-found', 'There is no such graph.')
  const end = site.clock()
  const since = await findFirstSlot(site.pool)
  const period = periodNames.find((name) => name === req.query['period']) ?? usualPeriod(since, end)
  const isCompared = req.query['compare'] === 'before'
  const drawn = await readDrawn(site, { group, period, isCompared, language, since, end })
  const href = (change: { group?: string; period?: string; compare?: string }) =>
    `/admin/activity${queryOf({
      ...{ group: group.key, period, compare: isCompared ? 'before' : '', ...change },
    })}`
  return {
    title: [texts('activity.title'), texts(`activity.groups.${group.key}`)].join(
      `${texts('marks.colon')} `,
    ),
    charts: drawGroup(group, drawn),
    ...{ group, period, isCompared, href, groups: activityGroups, periods: periodNames },
    marks: drawn.marks.toReversed(),
    isYoung: since !== undefined && end.getTime() - since.getTime() < periods[period].lengthMs,
    since,
  }
}

/** A day, or less while no more is stored. */
function usualPeriod(since: Date | undefined, end: Date): Period {
  const age = since ? end.getTime() - since.getTime() : 0
  return age > periods.day.lengthMs ? 'day' : fittingPeriod(age)
}

type Wanted = {
  group: (typeof activityGroups)[number]
  period: Period
  isCompared: boolean
  language: Language
  since: Date | undefined
  end: Date
}

async function readDrawn(
  { pool, readHealth }: Needs,
  { group, period, isCompared, language, since, end }: Wanted,
): Promise<DrawnActivity> {
  const span = spanOf(period, { end, since })
  const [activity, before, marks, health] = await Promise.all([
    readActivity(pool, group.families, span, end),
    isCompared ? readActivity(pool, group.families, spanBefore(span), end) : undefined,
    readMarks(pool, span),
    readHealth(),
  ])
  const desks = [...activity.ids.keys()].map((name) => name.slice(name.lastIndexOf('/') + 1))
  const ids = group.families.includes('desks') ? desks.filter(isUuid) : []
  const consumers = await listConsumersByIds(pool, [...new Set(ids)])
  return {
    ...{ span, activity, before, language },
    marks: shownMarks(marks, { health, span, language }),
    names: new Map([...consumers.values()].map(({ id, address }) => [id, address])),
  }
}

type ReadHealth = Awaited<ReturnType<Site['readHealth']>>

/** The events of a span in words, oldest first, with the faults that last. */
export function shownMarks(
  marks: Awaited<ReturnType<typeof readMarks>>,
  {
    health,
    span,
    language,
  }: { health: ReadHealth; span: { from: Date; to: Date }; language: Language },
): { at: Date; text: string }[] {
  const texts = textsIn(language)
  const faults = health.conditions.flatMap(({ code, level, since }) => {
    const isFault = level === 'warning' || level === 'critical'
    if (!isFault || !since || since < span.from || since >= span.to) return []
    const title = texts(`health.titles.${code}`)
    return [{ at: since, text: texts('activity.marks.fault', { detail: title }) }]
  })
  const happened = marks.map((mark) => ({ at: mark.at, text: markText(mark, language) }))
  return [...happened, ...faults].toSorted((one, other) => one.at.getTime() - other.at.getTime())
}
