import Bowser from 'bowser'
import { type Request, type Response, Router } from 'express'
import { shownLine } from '../../mail/text.ts'
import type { Reporter } from '../../db/reporters.ts'
import {
  listSessions,
  listTokens,
  removeSession,
  removeSessions,
  removeToken,
  type TokenScope,
  scopes,
  type SignedInBrowser,
  usualScopes,
} from '../../db/sessions.ts'
import { addToken } from '../../people/credentials.ts'
import { type Role, rolesUpTo } from '../../roles.ts'
import type { Texts } from '../../texts/messages.ts'
import { type Form, type FormReader, readShortForm } from '../pages/form.ts'
import { isUuid, sendPage } from '../pages/render.ts'
import { closeSession } from '../pages/session.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import type { Faults } from './sign-up.ts'

/** Returns the browser and system named in a User-Agent; undefined if neither is recognized. */
export function deviceOf(agent: string): { browser: string; system: string } | undefined {
  if (agent === '') return undefined
  const { browser, os } = Bowser.parse(agent)
  if (browser.name === undefined || os.name === undefined) return undefined
  return { browser: browser.name, system: os.name }
}

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const page = '/account/sessions'

/** The page that lists the browsers signed in to the account, to sign out one or all others. */
export function sessionRoutes(site: Needs): Router {
  const router = Router()
  router.get(page, (req, res) => sendSessions(req, res, site, requireReporter(req)))
  router.post(page, async (req, res) => {
    const form = await readShortForm(req, res, site)
    const reporter = requireReporter(req)
    const handle = form.text('end')
    if (handle === req.session.handle) {
      await closeSession(req)
      return res.redirect(303, '/')
    }
    if (handle === 'others') await removeSessions(site.pool, reporter.id, req.session.handle)
    else if (isUuid(handle)) await removeSession(site.pool, reporter.id, handle)
    res.redirect(303, `${page}?done=ended`)
  })
  return router
}

async function sendSessions(
  req: Request,
  res: Response,
  site: Needs,
  { id }: Reporter,
): Promise<void> {
  const { texts } = visitOf(req)
  const found = await listSessions(site.pool, id, site.clock())
  const shown = found.map((one) => ({
    ...one,
    device: deviceWords(one, texts),
    isHere: one.handle === req.session.handle,
  }))
  sendPage(req, res, {
    view: 'pages/account/sessions',
    title: texts('ownAccount.sessions.title'),
    data: {
      note: req.query['done'] === 'ended' ? texts('ownAccount.sessions.ended') : undefined,
      sessions: shown,
      others: shown.filter(({ isHere }) => !isHere).length,
    },
  })
}

function deviceWords({ agent }: SignedInBrowser, texts: Texts): string {
  const device = deviceOf(agent)
  return device
    ? shownLine(texts('ownAccount.sessions.on', device), 80)
    : texts('ownAccount.sessions.unknown')
}

const tokensPage = '/account/tokens'
const NAME_CHARS_MAX = 80

/** Additional content of the page. */
type Given = {
  faults?: Faults
  name?: string
  chosen?: readonly TokenScope[]
  role?: Role | null
  token?: string
}

/** The page to create, show once, and revoke the API tokens of a reporter. */
export function tokenRoutes(site: Needs): Router {
  const router = Router()
  router.get(tokensPage, async (req, res) => {
    const reporter = requireReporter(req)
    // A program that opens the page gives its name.
    const { name } = req.query
    const given = typeof name === 'string' ? { name: shownLine(name, NAME_CHARS_MAX) } : {}
    await sendTokens(req, res, site, reporter, given)
  })
  router.post(tokensPage, async (req, res) => {
    const form = await readShortForm(req, res, site)
    const reporter = requireReporter(req)
    const ended = form.text('end')
    if (ended !== undefined) {
      const isEnded = isUuid(ended) && (await removeToken(site.pool, reporter.id, ended))
      return res.redirect(303, isEnded ? `${tokensPage}?done=ended` : tokensPage)
    }
    await sendTokens(req, res, site, reporter, await make(req, form, reporter, site))
  })
  return router
}

async function make(req: Request, form: Form, reporter: Reporter, site: Needs): Promise<Given> {
  const { texts } = visitOf(req)
  const name = Array.from(form.text('name') ?? '')
    .slice(0, NAME_CHARS_MAX)
    .join('')
  const wanted = form.texts('scope')
  const chosen = scopes.filter((scope) => wanted.includes(scope))
  const role = rolesUpTo(reporter.role).find((one) => one === form.text('role')) ?? null
  const faults = {
    ...(name === '' && { name: texts('ownAccount.tokens.noName') }),
    ...(chosen.length === 0 &&
      role === null && { 'scope-report': texts('ownAccount.tokens.noScope') }),
  }
  if (Object.keys(faults).length > 0) return { faults, name, chosen, role }
  const token = await addToken(site, reporter.id, { name, scopes: chosen, role })
  const full = { name: texts('ownAccount.tokens.full') }
  return token ? { token } : { faults: full, name, chosen, role }
}

async function sendTokens(
  req: Request,
  res: Response,
  site: Needs,
  reporter: Reporter,
  given: Given,
): Promise<void> {
  const { texts } = visitOf(req)
  sendPage(req, res, {
    view: 'pages/account/tokens',
    title: texts('ownAccount.tokens.title'),
    status: given.faults ? 422 : 200,
    data: {
      faults: given.faults ?? {},
      name: given.name ?? '',
      chosen: given.chosen ?? usualScopes,
      token: given.token,
      note: req.query['done'] === 'ended' ? texts('ownAccount.tokens.ended') : undefined,
      scopes,
      roles: rolesUpTo(reporter.role),
      role: given.role,
      tokens: await listTokens(site.pool, reporter.id),
    },
  })
}
