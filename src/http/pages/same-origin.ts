import type { NextFunction, Request, Response } from 'express'
import { ProblemError } from '../problem.ts'

/**
 * Refuses forms that another site sends in a visitor's name. Browsers say where a request comes
 * from by Sec-Fetch-Site, older ones by Origin; who says neither is no browser and holds no
 * cookies of a victim.
 */
export function sameOrigin(publicUrl: string) {
  const ownHost = new URL(publicUrl).host
  return (req: Request, _res: Response, next: NextFunction): void => {
    if (req.method === 'GET' || req.method === 'HEAD' || isOwn(req, ownHost)) return next()
    throw new ProblemError('not-allowed', 'This form was sent from another site.')
  }
}

function isOwn(req: Request, ownHost: string): boolean {
  const site = req.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const { origin, host } = req.headers
  if (origin === undefined) return true
  const from = URL.canParse(origin) ? new URL(origin).host : undefined
  return from !== undefined && (from === ownHost || from === host)
}
