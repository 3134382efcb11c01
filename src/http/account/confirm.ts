import { Router, type Request, type Response } from 'express'
import { inTransaction } from '../../db/pool.ts'
import { makeAccount } from '../../intake/account/make-account.ts'
import { hashPassword } from '../../intake/credentials.ts'
import { linkHash } from '../../letters/account/owe-account-letter.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { openSession } from '../pages/session.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { newPasswordOf } from './account-form.ts'
import { findOpenLink, sendChoosePassword } from './choose-password.ts'
import { limitAsking } from './limit-attempts.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'limits' | 'config'> & FormReader

/**
 * The page behind the link that proves an address. To look changes nothing, because mail scanners
 * follow links: the account is made when a password is sent.
 */
export function confirmRoutes(site: Needs): Router {
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
    const passwordHash = await hashPassword(chosen.password)
    const now = site.clock()
    const made = await inTransaction(site.pool, (tx) =>
      makeAccount(tx, linkHash(req.params.token), passwordHash, now),
    )
    if (made === undefined) return sendBadLink(req, res, '/sign-up')
    await openSession(req, { id: made, email: link.address }, 'passing', site)
    res.redirect(303, '/report')
  })
  return router
}

/** Says that a link was used, has expired or was replaced: which, nobody learns. */
export function sendBadLink(req: Request, res: Response, again: string): void {
  sendPage(req, res, {
    view: 'pages/account/bad-link',
    title: visitOf(req).words.account.badLink.title,
    status: 404,
    data: { again },
  })
}
