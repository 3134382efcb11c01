import { type Request, type Response, Router } from 'express'
import { shownLine } from '../../mail/text.ts'
import { type AccountLink, findAccountLink } from '../../db/accounts.ts'
import { askForReset, isTrialOver, linkHash } from '../../letters/account-letters.ts'
import { makeAccount, resetPassword } from '../../people/accounts.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { formPage } from '../pages/form-page.ts'
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

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config' | 'publicUrl' | 'limits'> & FormReader

/** Takes a chosen password; returns where it leads, or undefined if the link was used meanwhile. */
type UseLink = (req: Request<{ token: string }>, password: string) => Promise<string | undefined>

/**
 * The page behind a link that leads to the choice of a password. GET changes nothing, because mail
 * scanners follow links. `again` is the page that sends another link.
 */
function linkRoutes(
  site: Needs,
  { purpose, again, use }: { purpose: Purpose; again: string; use: UseLink },
): Router {
  const router = Router()
  const path = `/account/${purpose}/:token` as const
  router.get(path, async (req: Request<{ token: string }>, res) => {
    const link = await findOpenLink(req, purpose, site)
    if (!link) return sendBadLink(req, res, again)
    sendChoosePassword(req, res, purpose, link)
  })
  router.post(path, async (req: Request<{ token: string }>, res) => {
    const form = await readShortForm(req, res, site)
    await limitAsking(req, site, 'confirm')
    const link = await findOpenLink(req, purpose, site)
    if (!link) return sendBadLink(req, res, again)
    const chosen = await newPasswordOf(req, form, link.address)
    if ('fault' in chosen) return sendChoosePassword(req, res, purpose, link, chosen.fault)
    const next = await use(req, chosen.password)
    if (next === undefined) return sendBadLink(req, res, again)
    res.redirect(303, next)
  })
  return router
}

/** The page behind the link that confirms an address, where the account is created. */
export function confirmRoutes(site: Needs): Router {
  return linkRoutes(site, {
    purpose: 'confirm',
    again: '/sign-up',
    async use(req, password) {
      const account = await makeAccount(site, req.params.token, password)
      if (!account) return undefined
      await openSession(req, account, 'passing', site)
      return '/report'
    },
  })
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

/** The pages to reset a forgotten password: one sends a link by mail, the other is behind it. */
export function forgottenRoutes(site: Needs): Router {
  const router = Router()
  router.use(
    formPage(site, {
      at: '/forgotten',
      view: 'pages/account/forgotten',
      title: 'account.forgotten.title',
      data: () => ({ email: '' }),
      async take({ req, res, texts, language, form }) {
        const address = addressOf(form, 'email')
        if (address === undefined) {
          return { faults: { email: texts('account.badEmail') }, email: form.text('email') }
        }
        await limitAsking(req, site, 'reset', address)
        await askForReset({ address, language: letterLanguageOf(language) }, site)
        sendWritten(req, res, address)
        return undefined
      },
    }),
    linkRoutes(site, {
      purpose: 'reset',
      again: '/forgotten',
      async use(req, password) {
        const isReset = await resetPassword(site, req.params.token, password)
        return isReset ? '/sign-in?done=reset' : undefined
      },
    }),
  )
  return router
}
