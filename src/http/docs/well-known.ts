import { Router, type Response } from 'express'
import type { Site } from '../site.ts'

type Needs = Pick<Site, 'config' | 'publicUrl' | 'clock'>

/** RFC 9116 §2.5.5 recommends less than a year; the date moves on by itself, once a month. */
const VALID_MONTHS = 6

/** What stands under `/.well-known/`, and what robots are asked. */
export function wellKnownRoutes(site: Needs): Router {
  const router = Router()
  router.get(['/.well-known/security.txt', '/security.txt'], (req, res, next) => {
    const { securityContact, securityPolicy } = site.config
    if (securityContact === undefined) return next()
    if (req.path === '/security.txt') return res.redirect(301, '/.well-known/security.txt')
    sendText(
      res,
      [
        `Contact: ${securityContact}`,
        `Expires: ${expiresAfter(site.clock()).toISOString()}`,
        'Preferred-Languages: en, fr, ru',
        `Canonical: ${site.publicUrl}/.well-known/security.txt`,
        ...(securityPolicy === undefined ? [] : [`Policy: ${securityPolicy}`]),
      ],
      86_400,
    )
  })
  router.get('/.well-known/change-password', (_req, res) => res.redirect(302, '/account/password'))
  router.get('/robots.txt', (_req, res) => {
    const closed = ['/admin', '/reports', '/lookup/', '/account', '/settings', '/api/']
    sendText(res, ['User-agent: *', ...closed.map((path) => `Disallow: ${path}`)], 86_400)
  })
  return router
}

/** The first of a month, so that the text stays the same for a while. */
function expiresAfter(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + VALID_MONTHS, 1))
}

function sendText(res: Response, lines: readonly string[], maxAge: number): void {
  res.statusCode = 200
  res.setHeader('content-type', 'text/plain; charset=utf-8')
  res.setHeader('cache-control', `public, max-age=${maxAge}`)
  res.end(`${lines.join('\n')}\n`)
}
