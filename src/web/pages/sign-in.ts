import { type Request, type Response, Router } from 'express'
import type { Reporter } from '../../db/reporters.ts'
import { takeForm } from '../reporting/report-form.ts'
import type { Site } from '../site.ts'
import { sendCode } from '../account/second-step.ts'
import { type FormReader, readForm, readShortForm } from './form.ts'
import { KEPT_FORM_BYTES_MAX, type KeptForm, keptField, keptIn, sendKept } from './kept-form.ts'
import { localPath, sendPage } from './render.ts'
import { awaitSecondStep, closeSession, openSession } from './session.ts'
import { takePassword } from './signed-in.ts'
import { setReporter, visitOf } from './visit.ts'

type Needs = Pick<
  Site,
  'pool' | 'clock' | 'config' | 'credentials' | 'limits' | 'takeUpload' | 'outage'
> &
  FormReader

/** The pages for signing in and out. The form uses the field names of older clients. */
export function signInRoutes(site: Needs): Router {
  const router = Router()
  const show = (req: Request, res: Response, answer: SignInAnswer) =>
    sendSignIn(req, res, answer, site.config)
  router.get('/sign-in', (req, res) => {
    const next = localPath(req.query['next'], '')
    const { reporter } = visitOf(req)
    const isForRole = req.query['for'] === 'role' && site.config.oidc !== undefined
    if (reporter && !isForRole) return res.redirect(303, next || landingOf(reporter))
    show(req, res, { next, status: 200, done: isForRole ? 'role' : req.query['done'] })
  })
  router.post('/sign-in', async (req, res) => {
    const limits = { bytesMax: KEPT_FORM_BYTES_MAX, partBytesMax: KEPT_FORM_BYTES_MAX }
    const form = await readForm(req, res, site, limits)
    const asked = localPath(form.text('next'), '')
    const kept = keptIn(form)
    const caller = await takePassword(req, form, site)
    const typed = form.text('user[email_or_login]')
    if (!caller) return show(req, res, { next: asked, status: 401, wrong: true, typed, kept })
    const { id, email, role, life } = caller
    const next = asked || landingOf(caller)
    if (caller.hasTotp) {
      await awaitSecondStep(req, caller, site.clock())
      if (kept) return sendCode(req, res, { next, kept })
      return res.redirect(303, `/sign-in/code?next=${encodeURIComponent(next)}`)
    }
    const open = () => openSession(req, caller, life, site)
    const reporter = { id, email, role }
    const isReporting = form.bytes('reporting[raw_email]') !== undefined
    // While the database is away, the password counts for this request only.
    await (isReporting ? site.outage.run(open, () => undefined) : open())
    setReporter(req, reporter)
    if (isReporting) return takeForm(req, res, site, form, reporter)
    if (kept) return sendKept(req, res, kept)
    res.redirect(303, next)
  })
  router.post('/sign-out', async (req, res) => {
    await readShortForm(req, res, site)
    const { atProvider } = visitOf(req)
    await closeSession(req)
    res.redirect(303, atProvider ? '/signed-out' : '/')
  })
  return router
}

type SignInAnswer = {
  next: string
  status: number
  wrong?: boolean
  done?: unknown
  /** The email address as typed. */
  typed?: string | undefined
  /** What its sender can send after signing in. */
  kept?: KeptForm | undefined
}

export function sendSignIn(
  req: Request,
  res: Response,
  answer: SignInAnswer,
  { dataDir, oidc }: Site['config'],
): void {
  const { texts, isTrial } = visitOf(req)
  const notes: Record<string, string> = {
    reset: texts('account.reset.done'),
    over: texts('account.secondStep.over'),
    move: texts('account.move.otherAccount'),
    unlinked: texts('organization.link.ended'),
    role: texts('organization.forRole', { name: oidc?.name ?? '' }),
  }
  sendPage(req, res, {
    view: 'pages/sign-in',
    title: texts('signIn.title'),
    status: answer.status,
    data: {
      next: answer.next,
      wrong: answer.wrong ?? false,
      email: answer.typed,
      kept: keptField(answer.kept),
      note: answer.kept ? texts('kept.signIn') : notes[String(answer.done)],
      trial: isTrial && texts('trial.accounts', { file: `${dataDir}/accounts.json` }),
      organization: oidc?.name,
      way: `/sign-in/organization?next=${encodeURIComponent(answer.next)}`,
    },
  })
}

/** The page after signing in: people with a role come to see how the site does. */
function landingOf({ role }: Pick<Reporter, 'role'>): string {
  return role ? '/admin' : '/report'
}
