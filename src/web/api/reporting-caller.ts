import type { Request, Response } from 'express'
import type { Reporter } from '../../db/reporters.ts'
import { isUserKey, keyFault } from '../../people/mailbox-users.ts'
import { authenticateRequest } from '../authenticate.ts'
import { admitReports, admitReportsFor } from '../limits.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'

export type ReportingCaller = {
  reporter: Reporter
  /** @throws ProblemError 429 above the limit */
  admit: (count: number) => Promise<'admitted' | 'shadowed'>
}

type Needs = Pick<Site, 'credentials' | 'limits' | 'config' | 'mailboxUsers'>

/**
 * Authenticates a request that reports. With the header On-Behalf-Of, a provider's token reports
 * for a mailbox user, whom it names by a key of its own.
 *
 * @throws ProblemError as `authenticateRequest`; 400 for a malformed key, 403 if the credentials
 * may not report for others
 */
export async function reportingCaller(
  req: Request,
  res: Response,
  site: Needs,
): Promise<ReportingCaller> {
  const caller = await authenticateRequest(req, site.credentials, ['bearer', 'basic'], 'report')
  const key = req.headers['on-behalf-of']
  if (key === undefined) {
    return { reporter: caller, admit: (count) => admitReports(req, res, site, caller, count) }
  }
  if (!isUserKey(key)) throw new ProblemError('bad-request', keyFault)
  if (!caller.scopes.includes('on-behalf')) {
    throw new ProblemError('not-allowed', 'This token does not have the scope "on-behalf".')
  }
  const user = await site.mailboxUsers(caller, key)
  if (user === 'not-vouched') {
    const detail = 'Only accounts that an operator created may report for others.'
    throw new ProblemError('not-allowed', detail)
  }
  if (user === 'disabled') {
    throw new ProblemError('not-allowed', 'The account of this mailbox user is disabled.')
  }
  const ids = { userId: user.id, providerId: caller.id }
  return { reporter: user, admit: (count) => admitReportsFor(req, res, site, ids, count) }
}
