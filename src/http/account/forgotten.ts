import { Router, type Request, type Response } from 'express'
import { takeAccountLink } from '../../db/account-links.ts'
import { inTransaction } from '../../db/pool.ts'
import { findReporter, holdReporters, updateReporter } from '../../db/reporters.ts'
import { removeSessions } from '../../db/sessions.ts'
import { hashPassword } from '../../intake/credentials.ts'
import { askForReset, linkHash, oweAccountNews } from '../../letters/account/owe-account-letter.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { addressOf, letterLanguageOf, newPasswordOf } from './account-form.ts'
import { findOpenLink, sendChoosePassword } from './choose-password.ts'
import { sendBadLink } from './confirm.ts'
import { limitAsking } from './limit-attempts.ts'
import { sendWritten } from './sign-up.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config' | 'publicUrl' | 'limits'> & FormReader

/** A new password for who has forgotten it: a link by mail, and the page behind it. */
export function forgottenRoutes(site: Needs): Router {
  const router = Router()
  router.get('/forgotten', (req, res) => sendForgotten(req, res, {}))
  router.post('/forgotten', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const address = addressOf(form, 'email')
    if (address === undefined) {
      const { badEmail } = visitOf(req).words.account
      return sendForgotten(req, res, { email: badEmail }, form.text('email'))
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
    const passwordHash = await hashPassword(chosen.password)
    if (!(await setPassword(site, req.params.token, passwordHash))) {
      return sendBadLink(req, res, '/forgotten')
    }
    res.redirect(303, '/sign-in?done=reset')
  })
  return router
}

/** Uses the link up, sets the password and ends every session; false when the link is bad. */
async function setPassword(site: Needs, token: string, passwordHash: string): Promise<boolean> {
  return inTransaction(site.pool, async (tx) => {
    const link = await takeAccountLink(tx, 'reset', linkHash(token), site.clock())
    if (!link?.reporterId) return false
    await holdReporters(tx, [link.reporterId], 'change')
    const reporter = await findReporter(tx, link.reporterId)
    // An account that has moved since is not the one of this address any more.
    if (reporter?.email !== link.address) return false
    await updateReporter(tx, reporter.id, { passwordHash, isAdmin: undefined })
    await removeSessions(tx, reporter.id, undefined)
    await oweAccountNews(tx, 'password-changed', reporter, site)
    return true
  })
}

function sendForgotten(
  req: Request,
  res: Response,
  faults: Record<string, string>,
  email = '',
): void {
  sendPage(req, res, {
    view: 'pages/account/forgotten',
    title: visitOf(req).words.account.forgotten.title,
    status: Object.keys(faults).length > 0 ? 422 : 200,
    data: { faults, email },
  })
}
