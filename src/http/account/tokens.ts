import { Router, type Request, type Response } from 'express'
import { inTransaction } from '../../db/pool.ts'
import { holdReporters, type Reporter } from '../../db/reporters.ts'
import {
  countTokens,
  insertToken,
  listTokens,
  removeToken,
  type Scope,
  scopesOf,
  usualScopes,
} from '../../db/tokens.ts'
import { createToken } from '../../intake/credentials.ts'
import { isUuid } from '../paging.ts'
import { type Form, type FormReader, readShortForm } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import type { Faults } from './account-form.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const page = '/account/tokens'
const TOKENS_MAX = 100
const NAME_CHARS_MAX = 80

/** What the page holds besides the list. */
type Given = { faults?: Faults; name?: string; chosen?: readonly Scope[]; token?: string }

/** The page with the tokens of a reporter: made, shown once, ended. */
export function tokenRoutes(site: Needs): Router {
  const router = Router()
  router.get(page, async (req, res) => {
    const reporter = requireReporter(req, res)
    if (reporter) await sendTokens(req, res, site, reporter, {})
  })
  router.post(page, async (req, res) => {
    const form = await readShortForm(req, res, site)
    const reporter = requireReporter(req, res)
    if (!reporter) return
    const ended = form.text('end')
    if (ended !== undefined) {
      const isEnded = isUuid(ended) && (await removeToken(site.pool, reporter.id, ended))
      return res.redirect(303, isEnded ? `${page}?done=ended` : page)
    }
    await sendTokens(req, res, site, reporter, await make(req, form, reporter, site))
  })
  return router
}

async function make(req: Request, form: Form, reporter: Reporter, site: Needs): Promise<Given> {
  const { id } = reporter
  const { tokens } = visitOf(req).words.ownAccount
  const name = Array.from(form.text('name') ?? '')
    .slice(0, NAME_CHARS_MAX)
    .join('')
  const wanted = form.texts('scope')
  const chosen = scopesOf(reporter).filter((scope) => wanted.includes(scope))
  const faults = {
    ...(name === '' && { name: tokens.noName }),
    ...(chosen.length === 0 && { 'scope-report': tokens.noScope }),
  }
  if (Object.keys(faults).length > 0) return { faults, name, chosen }
  const { token, hash } = createToken()
  const createdAt = site.clock()
  const isMade = await inTransaction(site.pool, async (tx) => {
    await holdReporters(tx, [id], 'change')
    if ((await countTokens(tx, id)) >= TOKENS_MAX) return false
    await insertToken(tx, { hash, reporterId: id, name, scopes: chosen, createdAt })
    return true
  })
  return isMade ? { token } : { faults: { name: tokens.full }, name, chosen }
}

async function sendTokens(
  req: Request,
  res: Response,
  site: Needs,
  reporter: Reporter,
  given: Given,
): Promise<void> {
  const { tokens } = visitOf(req).words.ownAccount
  sendPage(req, res, {
    view: 'pages/account/tokens',
    title: tokens.title,
    status: given.faults ? 422 : 200,
    data: {
      faults: given.faults ?? {},
      name: given.name ?? '',
      chosen: given.chosen ?? usualScopes,
      token: given.token,
      note: req.query['done'] === 'ended' ? tokens.ended : undefined,
      scopes: scopesOf(reporter),
      tokens: await listTokens(site.pool, reporter.id),
    },
  })
}
