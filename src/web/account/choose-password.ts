import { type Request, type Response, Router } from 'express'
import { shownLine } from '../../mail/text.ts'
import { type AccountLink, findAccountLink } from '../../db/accounts.ts'
import { askForReset, isTrialOver, linkHash } from '../../letters/account-letters.ts'
import { makeAccount, resetPassword } from '../../people/accounts.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { openSession } from '../pages/session.ts'
import { limitAsking } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { addressOf, letterLanguageOf, newPasswordOf, sendWritten } from './sign-up.ts'

/** The purpose of a link that leads to the choice of a password. */
type Purpose = 'confirm' | 'reset'

/** Returns the link in the page's address if it is valid. Does not use it up. */
function findOpenLink(
  req: Request<{ token: string }>,
  purpose: Purpose,
  { pool, clock, config }: Pick<Site, 'pool' | 'clock' | 'config'>,
): Promise<AccountLink | undefined> {
  if (isTrialOver(req.params.token, config)) return Promise.resolve(undefined)
  return findAccountLink(pool, purpose, linkHash(req.params.token), clock())
}

/** Sends the page on which a password is chosen; `fault` describes an error in the last attempt. */
function sendChoosePassword(
  req: Request,
  res: Response,
  purpose: Purpose,
  { address }: AccountLink,
  fault?: string,
): void {
  const { texts } = visitOf(req)
  sendPage(req, res, {
    view: 'pages/account/choose-password',
    title: texts(`account.${purpose}.title`),
    status: fault === undefined ? 200 : 422,
    data: {
      lead: texts(`account.${purpose}.lead`, { address: shownLine(address) }),
      submit: texts(`account.${purpose}.submit`),
      email: address,
      faults: fault === undefined ? {} : { password: fault },
    },
  })
}

type ConfirmNeeds = Pick<Site, 'pool' | 'clock' | 'limits' | 'config'> & FormReader

/**
 * The page behind the link that confirms an address. GET changes nothing, because mail scanners
 * follow links: the account is created when a password is submitted.
 */
export function confirmRoutes(site: ConfirmNeeds): Router {
  const router = Router()
  router.get('/account/confirm/:token', async (req, res) => {
    const link = await findOpenLink(req, 'confirm', site)
    if (!link) return sendBadLink(req, res, '/sign-up')
    sendChoosePassword(req, res, 'confirm', link)
  })
  router.post('/account/confirm/:token', async (req, res) => {
    const form = await readShortForm(req, res, site)
    await limitAsking(req, site, 'confirm')
    const link = await findOpenLink(req, 'confirm', site)
    if (!link) return sendBadLink(req, res, '/sign-up')
    const chosen = await newPasswordOf(req, form, link.address)
    if ('fault' in chosen) return sendChoosePassword(req, res, 'confirm', link, chosen.fault)
    const account = await makeAccount(site, req.params.token, chosen.password)
    if (!account) return sendBadLink(req, res, '/sign-up')
    await openSession(req, account, 'passing', site)
    res.redirect(303, '/report')
  })
  return router
}

/** Sends a page for a link that was used, has expired or was replaced, without saying which. */
export function sendBadLink(req: Request, res: Response, again: string): void {
  sendPage(req, res, {
    view: 'pages/account/bad-link',
    title: visitOf(req).texts('account.badLink.title'),
    status: 404,
    data: { again },
  })
}

type ForgottenNeeds = Pick<Site, 'pool' | 'boss' | 'clock' | 'config' | 'publicUrl' | 'limits'> &
  FormReader

/** The pages to reset a forgotten password: one sends a link by mail, the other is behind it. */
export function forgottenRoutes(site: ForgottenNeeds): Router {
  const router = Router()
  router.get('/forgotten', (req, res) => sendForgotten(req, res, {}))
  router.post('/forgotten', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const address = addressOf(form, 'email')
    if (address === undefined) {
      const { texts } = visitOf(req)
      return sendForgotten(req, res, { email: texts('account.badEmail') }, form.text('email'))
    }
    await limitAsking(req, site, 'reset', address)
    const language = letterLanguageOf(visitOf(req).language)
    await askForReset({ address, language }, site)
    sendWritten(req, res, address)
  })
  router.get('/account/reset/:token', async (req, res) => {
    const link = await findOpenLink(req, 'reset', site)
    if (!link) return sendBadLink(req, res, '/forgotten')
    sendChoosePassword(req, res, 'reset', link)
  })
  router.post('/account/reset/:token', async (req, res) => {
    const form = await readShortForm(req, res, site)
    await limitAsking(req, site, 'confirm')
    const link = await findOpenLink(req, 'reset', site)
    if (!link) return sendBadLink(req, res, '/forgotten')
    const chosen = await newPasswordOf(req, form, link.address)
    if ('fault' in chosen) return sendChoosePassword(req, res, 'reset', link, chosen.fault)
    if (!(await resetPassword(site, req.params.token, chosen.password))) {
      return sendBadLink(req, res, '/forgotten')
    }
    res.redirect(303, '/sign-in?done=reset')
  })
  return router
}

function sendForgotten(
  req: Request,
  res: Response,
  faults: Record<string, string>,
  email = '',
): void {
  sendPage(req, res, {
    view: 'pages/account/forgotten',
    title: visitOf(req).texts('account.forgotten.title'),
    status: Object.keys(faults).length > 0 ? 422 : 200,
    data: { faults, email },
  })
}
