import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../../intake/credentials.ts'
import type { Site } from '../site.ts'
import { admit } from './admit.ts'

/**
 * Admits so many reports of somebody who was authenticated, as `admit` does.
 *
 * @throws ProblemError 429
 */
export function admitReports(
  req: IncomingMessage,
  res: ServerResponse,
  site: Pick<Site, 'limits' | 'config'>,
  { id, tokenHash }: Pick<Caller, 'id' | 'tokenHash'>,
  count = 1,
): Promise<'admitted' | 'shadowed'> {
  return admit(req, res, site, 'report', { reporterId: id, tokenHash }, count)
}
