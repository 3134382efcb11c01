import type { Request, Response } from 'express'
import type { Reporter } from '../../db/reporters.ts'
import { asksForCode, isProven } from '../account/password.ts'
import type { Form } from '../pages/form.ts'
import { isPasswordFresh, notePassword } from '../pages/session.ts'
import { tokenField, visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

const proofFields = ['now', 'now_code', tokenField]

/**
 * Whether the person behind a session entered the password a few minutes ago, or with this form.
 * Otherwise shows a page that asks for it and contains the form, so that nothing is entered twice.
 */
export async function isConfirmed(
  req: Request,
  res: Response,
  { site, form, person }: { site: Site; form: Form; person: Reporter },
): Promise<boolean> {
  const now = site.clock()
  if (isPasswordFresh(req, now)) return true
  const isGiven = form.bytes('now') !== undefined
  if (isGiven && (await isProven(req, form, person, site))) {
    await notePassword(req, now)
    return true
  }
  const { texts } = visitOf(req)
  sendAdminPage(req, res, {
    view: 'admin/accounts/confirm',
    title: texts('confirmation.title'),
    status: 403,
    data: {
      fields: form.fields().filter(([name]) => !proofFields.includes(name)),
      target: req.originalUrl,
      asksForCode: await asksForCode(site, person),
      faults: isGiven ? { now: texts('confirmation.wrong') } : {},
    },
  })
  return false
}
