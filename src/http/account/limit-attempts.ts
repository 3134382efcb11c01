import type { Request } from 'express'
import { admit } from '../limits/admit.ts'
import type { Site } from '../site.ts'

type Needs = Pick<Site, 'limits' | 'config'>

/**
 * Holds back who tries many passwords or codes, by the name tried and the address it comes from.
 *
 * @throws ProblemError 429 when it is too often
 */
export async function limitSignIn(req: Request, site: Needs, name: string): Promise<void> {
  await limited(req, site, 'sign-in', name)
}

/**
 * Holds back who has us write many letters, or tries many links.
 *
 * @throws ProblemError 429 when it is too often
 */
export async function limitAsking(
  req: Request,
  site: Needs,
  attempt: 'sign-up' | 'reset' | 'confirm',
  name?: string,
): Promise<void> {
  await limited(req, site, attempt, name)
}

async function limited(
  req: Request,
  site: Needs,
  attempt: 'sign-in' | 'sign-up' | 'reset' | 'confirm',
  name: string | undefined,
): Promise<void> {
  // Express gives each request its answer.
  if (req.res) await admit(req, req.res, site, attempt, { name })
}
