import { Router, type Request, type Response } from 'express'
import { findModel, type ListedModel, listModels } from '../../db/models.ts'
import { listReporterEmails } from '../../db/reporters.ts'
import { promote, rollBack } from '../../judging/change-model.ts'
import { countsText, percentText, shareText } from '../../verdict/model/figures-text.ts'
import { readShortForm, type FormReader } from '../pages/form.ts'
import { rocChart } from '../pages/roc-chart.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { queryOf } from '../paging.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const LISTED_MAX = 100
const VERSION = /^[1-9]\d{0,8}$/

const deeds = {
  promoted: 'The version acts now, in every process within two seconds.',
  'rolled-back': 'The last promotion is taken back.',
  nothing: 'No model acts, so there is nothing to take back.',
}

/** The versions of the model, what was measured of each, and which one acts. */
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
  return new ProblemError('not-found', 'There is no such version of the model.')
}
