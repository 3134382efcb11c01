import type { Request } from 'express'
import { findAccount, type Reporter } from '../../db/reporters.ts'
import { takeCode } from '../../intake/account/second-step.ts'
import type { Form } from '../pages/form.ts'
import type { Site } from '../site.ts'
import { limitSignIn } from './limit-attempts.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'config' | 'credentials' | 'limits'>

/**
 * Whether the person at the browser is the one whose account it is: by the password, and the code
 * where there is a second step. Asked before anything that could not be undone.
 */
export async function isProven(
  req: Request,
  form: Form,
  reporter: Reporter,
  site: Needs,
): Promise<boolean> {
  await limitSignIn(req, site, reporter.email)
  const password = form.bytes('now')?.toString('utf8') ?? ''
  const caller = await site.credentials.byPasswordNow(reporter.email, password)
  if (caller?.id !== reporter.id) return false
  if (!caller.hasTotp) return true
  const keys = { db: site.pool, secret: site.config.secret }
  return takeCode(keys, reporter.id, form.text('now_code') ?? '', site.clock())
}

/** Whether a form must ask for a code too. */
export async function asksForCode({ pool }: Needs, { id }: Reporter): Promise<boolean> {
  return (await findAccount(pool, id))?.hasTotp ?? false
}
