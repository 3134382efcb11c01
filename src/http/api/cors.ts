import type { NextFunction, Request, Response } from 'express'

/** What a page may read of an answer besides its body. */
const exposed = [
  ...['Location', 'Link', 'Retry-After', 'WWW-Authenticate', 'Allow', 'Accept-Post'],
  ...['Content-Disposition', 'Idempotency-Replayed', 'RateLimit', 'RateLimit-Policy'],
].join(', ')

/**
 * Lets pages of any origin use the API. Nothing is given away: a browser sends no cookie along,
 * and the credentials come from the page itself.
 */
export function cors(req: Request, res: Response, next: NextFunction): void {
  res.setHeader('access-control-allow-origin', '*')
  if (req.method !== 'OPTIONS' || !isPreflight(req)) {
    res.setHeader('access-control-expose-headers', exposed)
    return next()
  }
  res
    .status(204)
    .set({
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      'access-control-allow-headers':
        'Authorization, Content-Type, Idempotency-Key, X-Requested-With, Accept',
      'access-control-max-age': '86400',
    })
    .end()
}

/** A browser asks before it sends; only a program sends Authorization with OPTIONS. */
function isPreflight(req: Request): boolean {
  const { origin, authorization } = req.headers
  return (
    origin !== undefined &&
    authorization === undefined &&
    req.headers['access-control-request-method'] !== undefined
  )
}
