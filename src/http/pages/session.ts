import { createHmac } from 'node:crypto'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import session from 'express-session'
import type { Reporter } from '../../db/reporters.ts'
import { uuidv7 } from '../../world.ts'
import type { Site } from '../site.ts'
import { rememberDevice } from './device.ts'
import { createSessionStore } from './session-store.ts'

/** Whether the browser is to know who this is when it is opened again. */
export type SessionLife = 'remembered' | 'passing'

type Needs = Pick<Site, 'pool' | 'config' | 'publicUrl' | 'log'>

declare module 'express-session' {
  interface SessionData {
    reporterId: string
    /** Names the session where its id must not be told. */
    handle: string
    /** ISO 8601. */
    openedAt: string
    /** ISO 8601, within ten minutes. */
    seenAt: string
    /** What the browser called itself. */
    agent: string
    isRemembered: boolean
    /** Who has given the password, and owes the second step. */
    awaiting: {
      reporterId: string
      isRemembered: boolean
      until: string
      tries: number
      /** Of the password that was given: with another since, it is worth nothing. */
      passwordMark: string
    }
    /** The sealed secret of a second step that is being set up, in base64. */
    totpSetup: string
  }
}

const DAY_MS = 86_400_000
/** Unused for so long it ends; one that is not remembered, after a day. */
const REMEMBERED_MS = 30 * DAY_MS
/** However much it is used, it ends then. */
const LIFE_MS = { remembered: 180 * DAY_MS, passing: 7 * DAY_MS }
const SEEN_MS = 10 * 60_000
const AWAITING_MS = 10 * 60_000
const AGENT_CHARS_MAX = 300

/** Browser sessions, kept in the database; nothing is kept for who has not signed in. */
export function sessions(site: Needs): RequestHandler[] {
  const isSecure = site.publicUrl.startsWith('https:')
  const warn = () => site.log.warn('Old sessions could not be removed.')
  return [
    isSecure ? markSecure : passOn,
    session({
      store: createSessionStore(site.pool, warn),
      name: isSecure ? '__Host-signalpost' : 'signalpost',
      secret: createHmac('sha256', site.config.secret).update('browser sessions').digest('hex'),
      resave: false,
      saveUninitialized: false,
      proxy: isSecure,
      cookie: { httpOnly: true, sameSite: 'lax', secure: isSecure, path: '/' },
    }),
  ]
}

/**
 * Begins the session of a reporter under a new id, so that an id known before is worth nothing. The
 * browser is a known device of this account from now on.
 */
export async function openSession(
  req: Request,
  { id: reporterId, email }: Pick<Reporter, 'id' | 'email'>,
  life: SessionLife,
  site: Pick<Site, 'clock' | 'config'>,
): Promise<void> {
  if (req.res) rememberDevice(req, req.res, email, site)
  await regenerate(req)
  const { session } = req
  session.reporterId = reporterId
  session.isRemembered = life === 'remembered'
  name(req, site.clock())
  if (session.isRemembered) session.cookie.maxAge = REMEMBERED_MS
  await saveSession(req)
}

/** Notes who gave the password, under a new id: nobody is signed in before the second step. */
export async function awaitSecondStep(
  req: Request,
  { id, life, passwordMark }: { id: string; life: SessionLife; passwordMark: string },
  now: Date,
): Promise<void> {
  await regenerate(req)
  req.session.awaiting = {
    reporterId: id,
    passwordMark,
    isRemembered: life === 'remembered',
    until: new Date(now.getTime() + AWAITING_MS).toISOString(),
    tries: 0,
  }
  await saveSession(req)
}

/**
 * Whose session this is, and that it is in use. Undefined without one, and for one past its life,
 * which ends here.
 */
export async function useSession(req: Request, now: Date): Promise<string | undefined> {
  // Absent only where the session itself could not be read.
  const session = (req as Partial<Request>).session
  const reporterId = session?.reporterId
  if (session === undefined || reporterId === undefined) return undefined
  // Those opened before sessions were told apart begin to live now.
  if (session.openedAt === undefined) name(req, now)
  const life = LIFE_MS[session.isRemembered === true ? 'remembered' : 'passing']
  if (now.getTime() - Date.parse(session.openedAt ?? '') > life) {
    await closeSession(req)
    return undefined
  }
  if (now.getTime() - Date.parse(session.seenAt ?? '') > SEEN_MS) {
    session.seenAt = now.toISOString()
    session.agent = agentOf(req)
  }
  return reporterId
}

function name(req: Request, now: Date): void {
  const { session } = req
  session.handle = uuidv7(now)
  session.openedAt = session.seenAt = now.toISOString()
  session.agent = agentOf(req)
}

function agentOf(req: Request): string {
  return (req.headers['user-agent'] ?? '').slice(0, AGENT_CHARS_MAX)
}

async function regenerate(req: Request): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    req.session.regenerate((error: unknown) => (error ? reject(asError(error)) : resolve()))
  })
}

/** Keeps what was changed before the browser has an answer, and comes back. */
export async function saveSession(req: Request): Promise<void> {
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
