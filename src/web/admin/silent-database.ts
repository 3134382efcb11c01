import type { RequestHandler } from 'express'
import { duration } from '../../texts/messages.ts'
import { sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'

const RETRY_SECONDS = 5

/**
 * While the database does not answer, answers every request for a page of administrators with one
 * that says so. It comes before sessions, which are in the database, so anyone may read it: it
 * shows no more than `/healthz`.
 */
export function silentDatabasePage({
  readLastKnown,
  clock,
}: Pick<Site, 'readLastKnown' | 'clock'>): RequestHandler {
  return async (req, res, next) => {
    const { silentSince, health } = await readLastKnown()
    if (!silentSince) return next()
    const { texts, language } = visitOf(req)
    const secondsSince = (at: Date) => Math.max(0, (clock().getTime() - at.getTime()) / 1_000)
    const said = (at: Date) => duration(language, secondsSince(at))
    res.setHeader('retry-after', String(RETRY_SECONDS))
    sendPage(req, res, {
      view: 'admin/silent-database',
      title: texts('silentDatabase.title'),
      status: 503,
      data: {
        isPrivate: true,
        silence: texts('silentDatabase.silence', { duration: said(silentSince) }),
        health: health && {
          age: texts('silentDatabase.health', { duration: said(health.at) }),
          summary: texts(`health.levels.${health.level}`),
        },
        again: req.method === 'GET' ? req.originalUrl : '/admin',
      },
    })
  }
}
