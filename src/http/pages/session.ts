import { createHmac } from 'node:crypto'
import connectPgSimple from 'connect-pg-simple'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import session from 'express-session'
import type { Site } from '../site.ts'

type Needs = Pick<Site, 'pool' | 'config' | 'publicUrl' | 'log'>

declare module 'express-session' {
  interface SessionData {
    reporterId: string
  }
}

const REMEMBERED_MS = 30 * 86_400_000
const PRUNE_SECONDS = 15 * 60

/** Browser sessions, kept in the database; nothing is kept for who has not signed in. */
export function sessions(site: Needs): RequestHandler[] {
  const isSecure = site.publicUrl.startsWith('https:')
  const Store = connectPgSimple(session)
  return [
    isSecure ? markSecure : passOn,
    session({
      store: new Store({
        pool: site.pool,
        tableName: 'sessions',
        createTableIfMissing: false,
        pruneSessionInterval: PRUNE_SECONDS,
        errorLog: () => site.log.warn('Old sessions could not be removed.'),
      }),
      name: isSecure ? '__Host-signalpost' : 'signalpost',
      secret: createHmac('sha256', site.config.secret).update('browser sessions').digest('hex'),
      resave: false,
      saveUninitialized: false,
      proxy: isSecure,
      cookie: { httpOnly: true, sameSite: 'lax', secure: isSecure, path: '/' },
    }),
  ]
}

/** Begins the session of a reporter under a new id, so that an id known before is worth nothing. */
export async function openSession(
  req: Request,
  reporterId: string,
  isRemembered: boolean,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    req.session.regenerate((error: unknown) => (error ? reject(asError(error)) : resolve()))
  })
  req.session.reporterId = reporterId
  if (isRemembered) req.session.cookie.maxAge = REMEMBERED_MS
  await new Promise<void>((resolve, reject) => {
    req.session.save((error: unknown) => (error ? reject(asError(error)) : resolve()))
  })
}

/** Ends the session, if there is one. */
export async function closeSession(req: Request): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    req.session.destroy((error: unknown) => (error ? reject(asError(error)) : resolve()))
  })
}

/** The site is reached by https alone; the proxy before us may not say so. */
function markSecure(req: Request, _res: Response, next: NextFunction): void {
  req.headers['x-forwarded-proto'] = 'https'
  next()
}

function passOn(_req: Request, _res: Response, next: NextFunction): void {
  next()
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
