import { Router, type Request, type Response } from 'express'
import { uploadBytesMax } from '../../intake/unpack-upload.ts'
import { takeForm } from '../reporting/report-form.ts'
import type { Site } from '../site.ts'
import { readForm, readShortForm, type FormReader } from './form.ts'
import { sendPage } from './render.ts'
import { closeSession } from './session.ts'
import { signIn } from './signed-in.ts'
import { visitOf } from './visit.ts'

type Needs = Pick<Site, 'config' | 'credentials' | 'limits' | 'takeUpload'> & FormReader

/** Signing in and out. The form's field names are those that the old clients know. */
export function signInRoutes(site: Needs): Router {
  const router = Router()
  router.get('/sign-in', (req, res) => {
    const next = localPath(req.query['next'])
    if (visitOf(req).reporter) return res.redirect(303, next)
    sendSignIn(req, res, { next, status: 200 })
  })
  router.post('/sign-in', async (req, res) => {
    const { messageBytesMax } = site.config
    const limits = { bytesMax: uploadBytesMax(messageBytesMax), partBytesMax: messageBytesMax }
    const form = await readForm(req, res, site, limits)
    const reporter = await signIn(req, form, site)
    const next = localPath(form.text('next'))
    if (!reporter) return sendSignIn(req, res, { next, status: 401, wrong: true })
    if (form.bytes('reporting[raw_email]')) return takeForm(req, res, site, form, reporter)
    res.redirect(303, next)
  })
  router.post('/sign-out', async (req, res) => {
    await readShortForm(req, res, site)
    await closeSession(req)
    res.redirect(303, '/')
  })
  return router
}

function sendSignIn(
  req: Request,
  res: Response,
  answer: { next: string; status: number; wrong?: boolean },
): void {
  sendPage(req, res, {
    view: 'pages/sign-in',
    title: visitOf(req).words.signIn.title,
    status: answer.status,
    data: { next: answer.next, wrong: answer.wrong ?? false },
  })
}

/** A path on this site, and nowhere else. */
export function localPath(value: unknown): string {
  if (typeof value !== 'string' || !/^\/(?![/\\])[\x21-\x7e]*$/.test(value)) return '/report'
  return value.includes('\\') || value.length > 500 ? '/report' : value
}
