import type { NextFunction, Request, Response } from 'express'
import { ProblemError } from './problem.ts'
import type { Site } from './site.ts'

/** What a front answers itself: a method, and a path or the beginning of paths. */
const own: readonly (readonly [method: string, path: RegExp])[] = [
  ['GET', /^\/(?:healthz|readyz|metrics|report)$|^\/assets\//],
  ['POST', /^\/(?:report|report\/share|language)$/],
  ['POST', /^\/api\/(?:v1\/reports|v1\/reports\/bulk|signaler)\/?$/],
  ['OPTIONS', /^\/api\//],
]

/**
 * Lets a front answer only what it can without a database. Leads browsers that want another page to
 * the main site, and tells programs where to send other requests.
 *
 * @throws ProblemError 404
 */
export function takesOnlyReports({ publicUrl }: Pick<Site, 'publicUrl'>) {
  const mainHost = new URL(publicUrl).host
  return (req: Request, res: Response, next: NextFunction): void => {
    const { path, originalUrl } = req
    const method = req.method === 'HEAD' ? 'GET' : req.method
    if (own.some(([one, pattern]) => one === method && pattern.test(path))) return next()
    // Redirecting to this same host would never end.
    const leads = method === 'GET' && !path.startsWith('/api/') && req.headers.host !== mainHost
    if (leads && originalUrl.startsWith('/')) return res.redirect(302, publicUrl + originalUrl)
    const detail = `This server only accepts reports. Everything else is at ${publicUrl}.`
    throw new ProblemError('not-found', detail)
  }
}
