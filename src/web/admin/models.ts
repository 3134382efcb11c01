import { Router } from 'express'
import { findModel, type ListedModel, listModels, promotesModels } from '../../db/models.ts'
import { allowPromotion, promoteVersion, rollBackPromotion } from '../../judging/models.ts'
import { fixed, number, percent } from '../../texts/messages.ts'
import {
  type ModelReport,
  plainFigures,
  type RowCounts,
  type Share,
} from '../../verdict/model/figures.ts'
import { rowKinds } from '../../verdict/model/training.ts'
import type { Visit } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { driftChart } from './drift-chart.ts'
import { readNames } from './list-page.ts'
import { keptReportsPath } from './mass-actions.ts'
import { adminPage, type PageCall } from './page.ts'

type Reader = Pick<Visit, 'texts' | 'language'>

const PLOT = { x: 48, y: 12, size: 320 }
const WIDTH = PLOT.x + PLOT.size + 28
const HEIGHT = PLOT.y + PLOT.size + 44
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1]

/** Lays out a ROC curve: false positive rate to the right, true positive rate upwards. */
function rocChart(points: ModelReport['roc'], { language }: Reader) {
  const across = (share: number) => round(PLOT.x + share * PLOT.size)
  const upwards = (share: number) => round(PLOT.y + (1 - share) * PLOT.size)
  return {
    width: WIDTH,
    height: HEIGHT,
    plot: PLOT,
    /** As the `points` of a polyline. */
    curve: points
      .map(({ falsePositives, truePositives }) =>
        [across(falsePositives), upwards(truePositives)].join(','),
      )
      .join(' '),
    /** The diagonal: the curve of a random classifier. */
    chance: { x1: across(0), y1: upwards(0), x2: across(1), y2: upwards(1) },
    /** Horizontal and vertical grid lines, with labels. */
    ticks: TICKS.map((share) => ({
      at: across(share),
      upright: upwards(share),
      text: percent(language, share, 0),
    })),
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

const LISTED_MAX = 100
const VERSION = /^[1-9]\d{0,8}$/

/** The page with the versions of the model, their measurements, and the active one. */
export function modelRoutes(site: Site): Router {
  const router = Router()
  router.use(
    adminPage(site, {
      view: 'admin/models',
      title: 'models.title',
      async data(call) {
        const [models, isAutomatic] = await Promise.all([
          listModels(site.pool, LISTED_MAX),
          promotesModels(site.pool),
        ])
        return {
          isAutomatic,
          keptPath: keptReportsPath(site),
          lines: await withNames(models, site, call),
          drift: driftChart(models, site.clock(), call),
          ownShare: (share?: Share) =>
            share && share.of > 0 ? percent(call.language, share.share) : undefined,
          isActing: models.some(({ state }) => state === 'active'),
        }
      },
      form: {
        actions: { '': promoteVersion, 'roll-back': rollBackPromotion, automatic: allowPromotion },
      },
    }),
    adminPage(site, {
      at: '/:version',
      view: 'admin/model',
      data: (call) => describeModel(call, site),
    }),
  )
  return router
}

async function describeModel(call: PageCall, site: Pick<Site, 'pool'>) {
  const { version } = call.req.params
  const isVersion = typeof version === 'string' && VERSION.test(version)
  const model = isVersion ? await findModel(site.pool, Number(version)) : undefined
  if (!model) throw new ProblemError('not-found', 'Model version not found.')
  const [named] = await withNames([model], site, call)
  const { report } = model
  return {
    title: call.texts('model.title', { version: model.version }),
    model: named,
    report,
    plain: report ? plainTexts(report, call) : [],
    chart: report && report.roc.length > 0 ? rocChart(report.roc, call) : undefined,
    percent: (share: number) => percent(call.language, share),
    shareText: (share: Share) => shareText(share, call),
    countsText: (counts: RowCounts) => countsText(counts, call),
  }
}

/** States what a model does, in plain words, from its figures on messages that it never saw. */
function plainTexts(report: ModelReport, { texts }: Reader): string[] {
  const figures = plainFigures(report)
  if (!figures) return []
  return (['precision', 'recall', 'mistaken'] as const).map((name) =>
    texts(`model.plain.${name}`, { n: figures[name] }),
  )
}

function shareText({ hits, of, share, low, high }: Share, { texts, language }: Reader): string {
  if (of === 0) return texts('model.noShare')
  const [bottom, top] = [low, high].map((bound) => fixed(language, bound * 100, 1))
  return texts('model.share', {
    ...{ percent: percent(language, share), low: bottom ?? '', high: top ?? '' },
    ...{ hits: String(hits), of: String(of) },
  })
}

function countsText(counts: RowCounts, { texts, language }: Reader): string {
  const parts = rowKinds.flatMap((kind) => {
    const count = counts[kind]
    return count ? [`${number(language, count)} ${texts(`model.rows.${kind}`)}`] : []
  })
  return parts.length === 0 ? texts('model.nothing') : parts.join(', ')
}

async function withNames(
  models: readonly ListedModel[],
  site: Pick<Site, 'pool'>,
  { texts }: Reader,
) {
  const people = models.map(({ promotedBy }) => promotedBy)
  const nameOf = await readNames(site, people, texts)
  return models.map((model) => {
    return { ...model, who: model.promotedAt === null ? '' : nameOf(model.promotedBy) }
  })
}
