import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Request } from 'express'
import { ProblemError } from '../problem.ts'
import { visitOf } from './visit.ts'

/** The field in which a form carries the token of the session it was shown in. */
export const tokenField = 'form_token'

/** The token of a session: who cannot read its pages cannot know it, nor make it of another. */
export function composeFormToken(sessionId: string, secret: string): string {
  return createHmac('sha256', secret).update(`form of ${sessionId}`).digest('base64url')
}

/** The token for forms that are shown to who is signed in; undefined for everybody else. */
export function formTokenOf(req: Request): string | undefined {
  const { reporter, tokenOf } = visitOf(req)
  return reporter && tokenOf ? tokenOf(req.sessionID) : undefined
}

/** A page with the token in each form that acts: there, no template can forget it. */
export function withFormToken(html: string, token: string): string {
  const field = `<input type="hidden" name="${tokenField}" value="${token}">`
  return html.replaceAll(/<form\b[^>]*\bmethod="post"[^>]*>/g, (form) => form + field)
}

/**
 * Refuses a form that acts for who is signed in without coming from a page of that session: where
 * the browser's word for the site it comes from were missing or wrong, this still holds. A form
 * with a password proves itself; and the clients from before there were tokens may go on reporting,
 * as long as they say nothing of sites, as every browser does.
 *
 * @throws ProblemError
 */
export function requireFormToken(req: Request, given: string | undefined, isProven: () => boolean) {
  const token = formTokenOf(req)
  if (token === undefined || isSame(given, token)) return
  if (given === undefined && (isProven() || isOldClient(req))) return
  throw new ProblemError('stale-form', 'Load the page again, and send the form from there.')
}

function isOldClient({ path, headers }: Request): boolean {
  return path === '/report' && headers.origin === undefined && !('sec-fetch-site' in headers)
}

function isSame(given: string | undefined, token: string): boolean {
  const [one, other] = [Buffer.from(given ?? ''), Buffer.from(token)]
  return one.length === other.length && timingSafeEqual(one, other)
}
