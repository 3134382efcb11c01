import Bowser from 'bowser'
import type { Router } from 'express'
import { shownLine } from '../../mail/text.ts'
import {
  listSessions,
  listTokens,
  removeSession,
  removeSessions,
  removeToken,
  scopes,
  type SignedInBrowser,
  usualScopes,
} from '../../db/sessions.ts'
import { addToken } from '../../people/credentials.ts'
import { rolesUpTo } from '../../roles.ts'
import type { Texts } from '../../texts/messages.ts'
import type { Form, FormReader } from '../pages/form.ts'
import { type OwnCall, ownFormPage } from '../pages/form-page.ts'
import { isConfirmedBy } from '../pages/sure.ts'
import { isUuid } from '../pages/render.ts'
import { closeSession } from '../pages/session.ts'
import type { Site } from '../site.ts'

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
  return ownFormPage(site, {
    at: page,
    view: 'pages/account/sessions',
    title: 'ownAccount.sessions.title',
    async data({ req, texts, reporter }) {
      const found = await listSessions(site.pool, reporter.id, site.clock())
      const sessions = found.map((one) => ({
        ...one,
        device: deviceWords(one, texts),
        isHere: one.handle === req.session.handle,
      }))
      return {
        note: req.query['done'] === 'ended' ? texts('ownAccount.sessions.ended') : undefined,
        sessions,
        others: sessions.filter(({ isHere }) => !isHere).length,
      }
    },
    async take(call) {
      const { req, form, reporter } = call
      const handle = form.text('end')
      if (handle === req.session.handle) {
        await closeSession(req)
        return '/'
      }
      const asked = await sessionsToEnd(call, handle, site)
      if (asked && !isConfirmedBy(call, asked)) return undefined
      if (handle === 'others') await removeSessions(site.pool, reporter.id, req.session.handle)
      else if (isUuid(handle)) await removeSession(site.pool, reporter.id, handle)
      return `${page}?done=ended`
    },
  })
}

/** What is asked before sessions end; undefined if there are none with this handle. */
async function sessionsToEnd(
  { req, texts, reporter }: OwnCall,
  handle: string | undefined,
  site: Needs,
) {
  const found = await listSessions(site.pool, reporter.id, site.clock())
  const isAll = handle === 'others'
  const ending = found.filter((one) =>
    isAll ? one.handle !== req.session.handle : one.handle === handle,
  )
  const name = [...new Set(ending.map((one) => deviceWords(one, texts)))].join(', ')
  const code = isAll ? 'sessions' : 'session'
  return ending.length > 0 ? ({ code, name } as const) : undefined
}

function deviceWords({ agent }: SignedInBrowser, texts: Texts): string {
  const device = deviceOf(agent)
  return device
    ? shownLine(texts('ownAccount.sessions.on', device), 80)
    : texts('ownAccount.sessions.unknown')
}

const tokensPage = '/account/tokens'
const NAME_CHARS_MAX = 80

/** The page to create, show once, and revoke the API tokens of a reporter. */
export function tokenRoutes(site: Needs): Router {
  return ownFormPage(site, {
    at: tokensPage,
    view: 'pages/account/tokens',
    title: 'ownAccount.tokens.title',
    async data({ req, texts, reporter }, made) {
      // A program that opens the page gives its name.
      const { name } = req.query
      return {
        name: typeof name === 'string' && !made ? shownLine(name, NAME_CHARS_MAX) : '',
        chosen: usualScopes,
        note: req.query['done'] === 'ended' ? texts('ownAccount.tokens.ended') : undefined,
        scopes,
        roles: rolesUpTo(reporter.role),
        tokens: await listTokens(site.pool, reporter.id),
      }
    },
    async take(call) {
      const ended = call.form.text('end')
      if (ended === undefined) return make(call, site)
      const known = await listTokens(site.pool, call.reporter.id)
      const token = known.find(({ id }) => id === ended)
      if (token && !isConfirmedBy(call, { code: 'token', name: token.name })) return undefined
      const isEnded = isUuid(ended) && (await removeToken(site.pool, call.reporter.id, ended))
      return isEnded ? `${tokensPage}?done=ended` : tokensPage
    },
  })
}

async function make({ texts, form, reporter }: OwnCall & { form: Form }, site: Needs) {
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
