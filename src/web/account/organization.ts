import { type Request, type Response, Router } from 'express'
import { findLink, findLinkOf } from '../../db/organization-links.ts'
import { openBytes, sealBytes } from '../../db/sealed-bytes.ts'
import { reasonOf } from '../../errors.ts'
import { enterByProvider, linkAccount, unlinkAccount } from '../../people/organization.ts'
import { systemRandom } from '../../world.ts'
import type { Form, FormReader } from '../pages/form.ts'
import { type OwnCall, ownFormPage } from '../pages/form-page.ts'
import { localPath, sendPage } from '../pages/render.ts'
import { cookieIn, notePassword, openSession, saveSession } from '../pages/session.ts'
import { limitAsking } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { asksForCode, isProven, proofFault } from './password.ts'

type Needs = Pick<
  Site,
  'pool' | 'boss' | 'clock' | 'config' | 'publicUrl' | 'credentials' | 'limits' | 'log' | 'outage'
> &
  FormReader

const BACK = '/sign-in/organization/back'
const page = '/account/organization'
/** How long a person may take at the provider. */
const FLOW_MS = 15 * 60_000
/** The accepted difference of clocks. */
const SKEW_MS = 60_000

/**
 * Why a browser was sent to the provider: to sign in, to prove before a dangerous action that its
 * user is the owner of the session, or to link the account of the session.
 */
type Purpose = 'enter' | 'confirm' | 'link'

/** What the browser brings back, sealed. `handle` names the session that must still be open. */
type Flow = {
  state: string
  nonce: string
  verifier: string
  purpose: Purpose
  next: string
  handle: string | undefined
  at: number
}

type Fault = 'away' | 'refused' | 'invalid' | 'no-account' | 'closed' | 'other' | 'taken' | 'stale'

/** What the routes use: also the provider, and what people call it. */
type Place = Needs & { provider: NonNullable<Site['provider']>; name: string }

export function organizationRoutes(site: Needs, provider: Place['provider']): Router {
  const place = { ...site, provider, name: site.config.oidc?.name ?? '' }
  const router = Router()
  router.use(flowRoutes(place), signOutRoutes(place), linkRoutes(place))
  return router
}

/** The way to the provider and back. */
function flowRoutes(site: Place): Router {
  const router = Router()
  const flows = flowCookie(site)
  router.get('/sign-in/organization', async (req, res) => {
    const purpose = await purposeOf(req)
    const next = localPath(req.query['next'])
    if (purpose === undefined) return res.redirect(303, page)
    try {
      const { url, secrets } = await site.provider.begin(site.publicUrl + BACK, purpose !== 'enter')
      const at = site.clock().getTime()
      flows.keep(res, { ...secrets, purpose, next, handle: req.session.handle, at })
      res.setHeader('cache-control', 'no-store')
      res.redirect(303, url.href)
    } catch (error) {
      sendAway(req, res, { error, next }, site)
    }
  })
  router.get(BACK, async (req, res) => {
    await limitAsking(req, site, 'confirm')
    const flow = flows.take(req, res)
    if (!flow) return sendFault(req, res, { fault: 'stale', next: '/report' }, site)
    const at = new URL(site.publicUrl + BACK)
    at.search = new URL(req.originalUrl, 'http://site').search
    const answer = await site.provider.finish(at, flow)
    if (answer.is === 'confirmed') return takeIdentity(req, res, { ...flow, ...answer }, site)
    site.log.warn({ reason: answer.reason }, failed)
    const fault = answer.is === 'unavailable' ? 'away' : answer.is
    sendFault(req, res, { fault, next: flow.next }, site)
  })
  return router
}

const failed = 'A sign-in at the provider of the organization failed.'

/** Keeps in the browser, sealed, what it must bring back. So visitors leave nothing here. */
function flowCookie({ config, publicUrl, clock }: Pick<Place, 'config' | 'publicUrl' | 'clock'>) {
  const sealedFor = { purpose: 'provider flow' } as const
  const secure = publicUrl.startsWith('https:')
  const cookie = secure ? '__Host-signalpost-provider' : 'signalpost-provider'
  const attributes = { httpOnly: true, sameSite: 'lax', secure, path: '/' } as const
  return {
    keep(res: Response, flow: Flow): void {
      const sealed = sealBytes(Buffer.from(JSON.stringify(flow)), sealedFor, config.secret)
      res.cookie(cookie, sealed.toString('base64url'), { ...attributes, maxAge: FLOW_MS })
    },
    /** Returns what the browser brought back; undefined if it is absent, forged or too old. */
    take(req: Request, res: Response): Flow | undefined {
      const sealed = Buffer.from(cookieIn(req, cookie) ?? '', 'base64url')
      res.clearCookie(cookie, attributes)
      const bytes = openBytes(sealed, sealedFor, config.secret)
      const flow = bytes && (JSON.parse(bytes.toString()) as Flow)
      return flow && clock().getTime() - flow.at < FLOW_MS ? flow : undefined
    },
  }
}

/** Returns why the browser is sent to the provider; undefined if it may not link the account. */
async function purposeOf(req: Request): Promise<Purpose | undefined> {
  const { reporter } = visitOf(req)
  const { for: purpose, key } = req.query
  if (purpose === 'confirm' && reporter) return 'confirm'
  if (purpose !== 'link') return 'enter'
  const { linking } = req.session
  if (linking === undefined || linking !== key || !reporter) return undefined
  delete req.session.linking
  await saveSession(req)
  return 'link'
}

type Returned = Flow & { identity: Parameters<typeof enterByProvider>[1] }

/** Does what the browser was sent to the provider for, and answers. */
async function takeIdentity(
  req: Request,
  res: Response,
  { purpose, next, identity, ...flow }: Returned,
  site: Place,
): Promise<void> {
  const refuse = (fault: Fault) => sendFault(req, res, { fault, next }, site)
  const { reporter, language, texts } = visitOf(req)
  // The clock of the provider may be ahead.
  const proven = identity.provenAt?.getTime() ?? 0
  const provenAt = new Date(Math.min(proven, site.clock().getTime()))
  if (purpose !== 'enter') {
    if (!reporter || req.session.handle !== flow.handle) return refuse('stale')
    if (provenAt.getTime() < flow.at - SKEW_MS) {
      const reason = 'It did not say that the person signed in just now (claim "auth_time").'
      site.log.warn({ reason }, failed)
      return refuse('invalid')
    }
  }
  if (purpose === 'link' && reporter) {
    const linked = await linkAccount(site, reporter, identity)
    if (linked !== 'linked') return refuse(linked)
  }
  if (purpose === 'confirm') {
    const link = await findLinkOf(site.pool, identity)
    if (link?.reporterId !== reporter?.id) return refuse('other')
  }
  const entrance = await enterByProvider(site, identity, language)
  if (entrance.is !== 'entered') return refuse(entrance.is)
  if (purpose === 'confirm') {
    await notePassword(req, provenAt)
    const title = texts('organization.confirmed.title')
    return sendPage(req, res, { view: 'pages/account/confirmed', title })
  }
  await openSession(req, entrance.reporter, 'passing', site, { provenAt })
  res.redirect(303, purpose === 'link' ? `${page}?done=linked` : next)
}

function sendFault(
  req: Request,
  res: Response,
  { fault, next }: { fault: Fault; next: string },
  { name }: Pick<Place, 'name'>,
): void {
  const { texts } = visitOf(req)
  sendPage(req, res, {
    view: 'pages/account/organization-fault',
    title: texts('organization.fault.title'),
    status: fault === 'away' ? 503 : 403,
    data: {
      sentence: texts(`organization.faults.${fault}`, { name }),
      again: `/sign-in/organization?next=${encodeURIComponent(next)}`,
      name,
    },
  })
}

function sendAway(
  req: Request,
  res: Response,
  { error, next }: { error: unknown; next: string },
  site: Place,
): void {
  site.log.warn({ reason: reasonOf(error) }, 'The provider of the organization is away.')
  sendFault(req, res, { fault: 'away', next }, site)
}

/** Pages after signing out here, from which a person also signs out at the provider. */
function signOutRoutes(site: Place): Router {
  const router = Router()
  router.get('/signed-out', (req, res) => {
    const title = visitOf(req).texts('organization.signedOut.title')
    sendPage(req, res, { view: 'pages/account/signed-out', title, data: { name: site.name } })
  })
  router.get('/sign-out/organization', async (req, res) => {
    try {
      const url = await site.provider.signOutUrl(`${site.publicUrl}/`)
      res.redirect(303, url?.href ?? '/')
    } catch (error) {
      sendAway(req, res, { error, next: '/' }, site)
    }
  })
  return router
}

/** The page on which the owner of an account links it with a person at the provider. */
function linkRoutes(site: Place): Router {
  const { name } = site
  return ownFormPage(site, {
    at: page,
    view: 'pages/account/organization',
    title: 'organization.link.title',
    async data({ req, texts, reporter }) {
      const link = await findLink(site.pool, reporter.id)
      return {
        name,
        link,
        note:
          req.query['done'] === 'linked' ? texts('organization.link.done', { name }) : undefined,
        asksForCode: await asksForCode(site, reporter),
      }
    },
    take: (call) => takeLinking(call),
  })

  async function takeLinking({ req, texts, form, reporter }: OwnCall & { form: Form }) {
    if (!(await isProven(req, form, reporter, site))) return { faults: { now: proofFault(req) } }
    if (form.text('do') === 'end') {
      const isEnded = await unlinkAccount(site, reporter)
      if (isEnded) return '/sign-in?done=unlinked'
      return { faults: { now: texts('organization.link.noPassword') } }
    }
    req.session.linking = systemRandom(16).toString('base64url')
    await saveSession(req)
    return { way: `/sign-in/organization?for=link&key=${req.session.linking}` }
  }
}
