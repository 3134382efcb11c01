import type { Request, Response } from 'express'
import type { Reporter } from '../../db/reporters.ts'
import type { Site } from '../site.ts'
import type { Form } from './form.ts'
import { openSession } from './session.ts'
import { setReporter, visitOf } from './visit.ts'

/** Sends who is not signed in to the sign-in page, which leads back here. */
export function requireReporter(req: Request, res: Response): Reporter | undefined {
  const { reporter } = visitOf(req)
  if (!reporter) res.redirect(303, `/sign-in?next=${encodeURIComponent(req.originalUrl)}`)
  return reporter
}

/** Signs in by the fields of a form; undefined when they are absent or not right. */
export async function signIn(
  req: Request,
  form: Form,
  site: Pick<Site, 'credentials'>,
): Promise<Reporter | undefined> {
  const email = form.text('user[email_or_login]')
  const password = form.bytes('user[password]')?.toString('utf8')
  if (!email || !password) return undefined
  const reporter = await site.credentials.byPassword(email, password)
  if (!reporter) return undefined
  await openSession(req, reporter.id, form.texts('user[remember_me]').includes('1'))
  setReporter(req, reporter)
  return reporter
}
