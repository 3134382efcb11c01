import { type Request, type Response, Router } from 'express'
import { findModel, type ListedModel, listModels } from '../../db/models.ts'
import { listReporterEmails } from '../../db/reporters.ts'
import { promote, rollBack } from '../../judging/models.ts'
import {
  countsText,
  type ModelReport,
  percentText,
  shareText,
} from '../../verdict/model/figures.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { queryOf } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

/** A ROC curve laid out for a template. */
type RocChart = {
  width: number
  height: number
  plot: { x: number; y: number; size: number }
  /** The curve, as the `points` of a polyline. */
  curve: string
  /** The diagonal of a random classifier. */
  chance: { x1: number; y1: number; x2: number; y2: number }
  /** Horizontal and vertical grid lines at tenths, with labels. */
  ticks: { at: number; upright: number; text: string }[]
}

const PLOT = { x: 48, y: 12, size: 320 }
const WIDTH = PLOT.x + PLOT.size + 16
const HEIGHT = PLOT.y + PLOT.size + 44
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1]

/** Lays out the curve: false positive rate to the right, true positive rate upwards. */
function rocChart(points: ModelReport['roc']): RocChart {
  const across = (share: number) => round(PLOT.x + share * PLOT.size)
  const upwards = (share: number) => round(PLOT.y + (1 - share) * PLOT.size)
  return {
    width: WIDTH,
    height: HEIGHT,
    plot: PLOT,
    curve: points
      .map(({ falsePositives, truePositives }) =>
        [across(falsePositives), upwards(truePositives)].join(','),
      )
      .join(' '),
    chance: { x1: across(0), y1: upwards(0), x2: across(1), y2: upwards(1) },
    ticks: TICKS.map((share) => ({
      at: across(share),
      upright: upwards(share),
      text: `${share * 100} %`,
    })),
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const LISTED_MAX = 100
const VERSION = /^[1-9]\d{0,8}$/

const deeds = {
  promoted: 'Model promoted. It takes effect in all processes within two seconds.',
  'rolled-back': 'The last promotion has been undone.',
  nothing: 'No model is active, so there is no promotion to undo.',
}

/** The page with the versions of the model, their measurements, and the active one. */
export function modelRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendList(req, res, site))
  router.get('/:version', (req, res) => sendModel(req, res, site))
  router.post('/', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const deed = { at: site.clock(), reporterId: administrator.id }
    const done = (name: keyof typeof deeds) =>
      res.redirect(303, `/admin/models${queryOf({ done: name })}`)
    if (form.text('do') === 'roll-back') {
      return done((await rollBack(site.pool, deed)) ? 'rolled-back' : 'nothing')
    }
    const version = versionOf(form.text('version'))
    const came = await promote(site.pool, version, deed)
    if (came.is === 'unknown') throw noSuch()
    if (came.is === 'refused') return sendList(req, res, site, `Refused: ${came.why}`)
    done('promoted')
  })
  return router
}

async function sendList(req: Request, res: Response, site: Needs, fault?: string): Promise<void> {
  const models = await listModels(site.pool, LISTED_MAX)
  const done = req.query['done']
  sendAdminPage(req, res, {
    view: 'admin/models',
    title: 'Models',
    status: fault === undefined ? 200 : 422,
    data: {
      fault,
      done: typeof done === 'string' && Object.hasOwn(deeds, done) ? done : undefined,
      deeds,
      lines: await withNames(models, site),
      isActing: models.some(({ state }) => state === 'active'),
    },
  })
}

async function sendModel(req: Request, res: Response, site: Needs): Promise<void> {
  const model = await findModel(site.pool, versionOf(req.params['version']))
  if (!model) throw noSuch()
  const [named] = await withNames([model], site)
  const { report } = model
  sendAdminPage(req, res, {
    view: 'admin/model',
    title: `Model ${model.version}`,
    data: {
      model: named,
      report,
      chart: report && report.roc.length > 0 ? rocChart(report.roc) : undefined,
      percent: percentText,
      shareText,
      countsText,
    },
  })
}

async function withNames(models: readonly ListedModel[], { pool }: Needs) {
  const ids = [...new Set(models.flatMap(({ promotedBy }) => promotedBy ?? []))]
  const emails = await listReporterEmails(pool, ids)
  return models.map((model) => ({ ...model, who: whoOf(model, emails) }))
}

function whoOf(
  { promotedAt, promotedBy }: ListedModel,
  emails: ReadonlyMap<string, string>,
): string {
  if (promotedAt === null) return ''
  return promotedBy === null ? 'command line' : (emails.get(promotedBy) ?? '')
}

function versionOf(text: unknown): number {
  if (typeof text === 'string' && VERSION.test(text)) return Number(text)
  throw noSuch()
}

function noSuch(): ProblemError {
  return new ProblemError('not-found', 'Model version not found.')
}
