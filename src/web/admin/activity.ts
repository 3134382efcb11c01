import { type Request, type Response, Router } from 'express'
import { type Period, periods, readActivity, readMarks } from '../../activity/read-activity.ts'
import { listConsumersByIds } from '../../db/consumers.ts'
import { isUuid, queryOf } from '../pages/render.ts'
import { ProblemError } from '../problem.ts'
import { visitOf } from '../pages/visit.ts'
import type { Language } from '../../texts/messages.ts'
import type { Site } from '../site.ts'
import {
  activityGroups,
  chartData,
  drawGroup,
  type DrawnActivity,
  markText,
} from './activity-charts.ts'
import { adminPage, type PageCall } from './page.ts'

type Needs = Pick<Site, 'pool' | 'clock'>

/** The pages of graphs, and the values of a graph for the script that zooms in. */
export function activityRoutes(site: Site): Router {
  const router = Router()
  router.use(
    adminPage(site, { view: 'admin/activity', data: (call) => describeActivity(call, site) }),
  )
  router.get('/data', (req, res) => sendData(req, res, site))
  return router
}

const groupIn = (req: Request) =>
  activityGroups.find(({ key }) => key === req.query['group']) ?? activityGroups[0]

const periodNames = Object.keys(periods) as Period[]

async function describeActivity({ req, language, texts }: PageCall, site: Needs) {
  const group = groupIn(req)
  if (!group) throw new ProblemError('not-found', 'There is no such graph.')
  const period = periodNames.find((name) => name === req.query['period']) ?? 'day'
  const isCompared = req.query['compare'] === 'before'
  const drawn = await readDrawn(site, { group, period, isCompared, language })
  const href = (change: { group?: string; period?: string; compare?: string }) =>
    `/admin/activity${queryOf({
      ...{ group: group.key, period, compare: isCompared ? 'before' : '', ...change },
    })}`
  return {
    title: `${texts('activity.title')}: ${texts(`activity.groups.${group.key}`)}`,
    charts: drawGroup(group, drawn),
    ...{ group, period, isCompared, href, groups: activityGroups, periods: periodNames },
    marks: drawn.marks.toReversed(),
    dataHref: (chart: string) =>
      `/admin/activity/data${queryOf({ group: group.key, period, chart })}`,
  }
}

async function sendData(req: Request, res: Response, site: Needs): Promise<void> {
  const group = groupIn(req)
  const chart = group?.charts.find(({ key }) => key === req.query['chart'])
  if (!group || !chart) throw new ProblemError('not-found', 'There is no such graph.')
  const period = periodNames.find((name) => name === req.query['period']) ?? 'day'
  const { language } = visitOf(req)
  const drawn = await readDrawn(site, { group, period, isCompared: false, language })
  res.setHeader('cache-control', 'no-store')
  res.json(chartData(chart, drawn))
}

async function readDrawn(
  { pool, clock }: Needs,
  {
    group,
    period,
    isCompared,
    language,
  }: {
    group: (typeof activityGroups)[number]
    period: Period
    isCompared: boolean
    language: Language
  },
): Promise<DrawnActivity> {
  const end = clock()
  const [activity, before, marks] = await Promise.all([
    readActivity(pool, group.families, { period, end }),
    isCompared ? readActivity(pool, group.families, { period, end, isBefore: true }) : undefined,
    readMarks(pool, { period, end }),
  ])
  const desks = [...activity.ids.keys()].map((name) => name.slice(name.lastIndexOf('/') + 1))
  const ids = group.families.includes('desks') ? desks.filter(isUuid) : []
  const consumers = await listConsumersByIds(pool, [...new Set(ids)])
  return {
    ...{ period, activity, before, language },
    marks: marks.map((mark) => ({ at: mark.at, text: markText(mark, language) })).toReversed(),
    names: new Map([...consumers.values()].map(({ id, address }) => [id, address])),
  }
}
