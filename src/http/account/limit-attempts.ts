import type { Request } from 'express'
import type { Attempt } from '../../db/rate-limits.ts'
import type { Actor } from '../../intake/limits/actor.ts'
import { admit } from '../limits/admit.ts'
import { knownDevice } from '../pages/device.ts'
import type { Site } from '../site.ts'

type Needs = Pick<Site, 'limits' | 'config'>

/**
 * Holds back who tries many passwords or codes, by the name tried and the address it comes from. A
 * browser that somebody signed in with under this name before has attempts of its own.
 *
 * @throws ProblemError 429 when it is too often
 */
export async function limitSignIn(
  req: Request,
  site: Needs & Pick<Site, 'clock'>,
  name: string,
): Promise<void> {
  const device = knownDevice(req, name, site)
  if (device === undefined) return limited(req, site, 'sign-in', { name })
  await limited(req, site, 'sign-in-device', { device })
}

/**
 * Holds back who has us write many letters, or tries many links.
 *
 * @throws ProblemError 429 when it is too often
 */
export async function limitAsking(
  req: Request,
  site: Needs,
  attempt: 'sign-up' | 'reset' | 'confirm' | 'enroll',
  name?: string,
): Promise<void> {
  await limited(req, site, attempt, { name })
}

async function limited(
  req: Request,
  site: Needs,
  attempt: Attempt,
  actor: Pick<Actor, 'name' | 'device'>,
): Promise<void> {
  // Express gives each request its answer.
  if (req.res) await admit(req, req.res, site, attempt, actor)
}
