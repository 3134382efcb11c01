import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import connectPgSimple from 'connect-pg-simple'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import session from 'express-session'
import type { SessionData, Store } from 'express-session'
import type { Pool } from '../../db/pool.ts'
import type { Reporter } from '../../db/reporters.ts'
import { updateSession } from '../../db/sessions.ts'
import { DAY_MS } from '../../durations.ts'
import { type Callers, unknownCallers } from '../../outage/callers.ts'
import { noOutage, type Outage } from '../../outage/outage.ts'
import { systemRandom, uuidv7 } from '../../world.ts'
import type { Site } from '../site.ts'

type DeviceNeeds = Pick<Site, 'clock' | 'config'>

/** The maximum lifetime of cookies in browsers. */
const LIFE_DAYS = 400
/** Maximum number of accounts that a browser remembers, the most recent sign-ins first. */
const ACCOUNTS_MAX = 5

/**
 * Returns the browser of this request if it was used to sign in under this name before. Its
 * attempts are counted separately, so that others cannot use them up (OWASP: device cookies).
 */
export function knownDevice(
  req: IncomingMessage,
  name: string,
  site: DeviceNeeds,
): string | undefined {
  const entry = entriesOf(req, site).find((one) => isSigned(one, name, site))
  return entry?.split('.')[0]
}

/** Marks the browser as one that was used to sign in under this name. */
function rememberDevice(
  req: IncomingMessage,
  res: ServerResponse,
  name: string,
  site: DeviceNeeds,
): void {
  const others = entriesOf(req, site).filter((entry) => !isSigned(entry, name, site))
  const id = knownDevice(req, name, site) ?? systemRandom(16).toString('base64url')
  const day = Math.floor(site.clock().getTime() / DAY_MS) + LIFE_DAYS
  const entry = `${id}.${day}.${sign({ id, day, name }, site.config.secret.key('device'))}`
  const value = [entry, ...others].slice(0, ACCOUNTS_MAX).join('~')
  const isSecure = site.config.publicUrl.startsWith('https:')
  const rest = `Path=/; Max-Age=${LIFE_DAYS * 86_400}; HttpOnly; SameSite=Lax`
  res.appendHeader(
    'set-cookie',
    `${cookieName(site)}=${value}; ${rest}${isSecure ? '; Secure' : ''}`,
  )
}

function entriesOf(req: IncomingMessage, site: DeviceNeeds): string[] {
  return cookieIn(req, cookieName(site))?.split('~', ACCOUNTS_MAX) ?? []
}

/** Returns the value of a cookie as it was sent; undefined without one. */
export function cookieIn(req: Pick<IncomingMessage, 'headers'>, name: string): string | undefined {
  const begin = `${name}=`
  const cookies = (req.headers.cookie ?? '').split(';').map((cookie) => cookie.trim())
  return cookies.find((cookie) => cookie.startsWith(begin))?.slice(begin.length)
}

function isSigned(entry: string, name: string, site: DeviceNeeds): boolean {
  const [, id = '', day = '', given = ''] =
    /^([\w-]{22})\.(\d{1,6})\.([\w-]{43})$/.exec(entry) ?? []
  if (given === '' || Number(day) * DAY_MS < site.clock().getTime()) return false
  const content = { id, day: Number(day), name }
  const issuedAt = new Date((content.day - LIFE_DAYS) * DAY_MS)
  const compare = (key: Buffer) => {
    return timingSafeEqual(Buffer.from(given), Buffer.from(sign(content, key))) || undefined
  }
  return site.config.secret.find('device', compare, issuedAt) ?? false
}

function sign({ id, day, name }: { id: string; day: number; name: string }, key: Buffer): string {
  const text = `signalpost device\n${id}\n${day}\n${name.trim().toLowerCase()}`
  return createHmac('sha256', key).update(text).digest('base64url')
}

function cookieName({ config }: DeviceNeeds): string {
  const isSecure = config.publicUrl.startsWith('https:')
  return isSecure ? '__Host-signalpost-device' : 'signalpost-device'
}

const PRUNE_SECONDS = 15 * 60

type StandbyNeeds = { outage?: Pick<Outage, 'run'>; callers?: Pick<Callers, 'find'> }

/**
 * Stores sessions in the database. A session that was ended during a request stays ended; otherwise
 * a slow request could keep a session open after a password change. While the database is away,
 * known sessions are found, and their use is not stored.
 */
export function createSessionStore(
  pool: Pool,
  warn: () => void,
  { outage = noOutage, callers = unknownCallers }: StandbyNeeds = {},
): Store {
  const PgStore = connectPgSimple(session)
  class SessionStore extends PgStore {
    /** The stored content of each session, as last read or written. */
    readonly #kept = new WeakMap<SessionData, string>()

    override createSession(req: Request, data: SessionData) {
      const found = super.createSession(req, data)
      this.#kept.set(found, heldBy(found))
      return found
    }

    override get(id: string, done: (error: unknown, data?: SessionData | null) => void): void {
      const find = () =>
        new Promise<string | undefined>((resolve, reject) => {
          super.get(id, (error: unknown, data?: SessionData | null) => {
            if (error) reject(asError(error))
            else resolve(data ? JSON.stringify(data) : undefined)
          })
        })
      callers.find({ kind: 'session', key: id, find }).then(
        (text) => done(null, text === undefined ? null : (JSON.parse(text) as SessionData)),
        (error: unknown) => done(error),
      )
    }

    override touch(id: string, data: SessionData, done?: (error?: unknown) => void): void {
      const touch = () =>
        new Promise<void>((resolve) => void super.touch(id, data, () => resolve()))
      void outage.run(touch, () => undefined).then(() => done?.())
    }

    override set(id: string, data: SessionData, done?: (error?: unknown) => void): void {
      const before = this.#kept.get(data)
      const held = heldBy(data)
      this.#kept.set(data, held)
      if (before === undefined) return void super.set(id, data, done)
      const touched = () => this.touch(id, data, () => done?.())
      // express-session saves a newly opened session a second time when the response ends.
      if (before === held) return touched()
      const update = () => updateSession(pool, id, data)
      outage.run(update, () => undefined).then(touched, (error: unknown) => done?.(error))
    }
  }
  return new SessionStore({
    pool,
    tableName: 'sessions',
    createTableIfMissing: false,
    pruneSessionInterval: PRUNE_SECONDS,
    errorLog: warn,
  })
}

/** Returns the content of a session as JSON, except the cookie, whose expiry changes with time. */
function heldBy(data: SessionData): string {
  return JSON.stringify({ ...data, cookie: undefined })
}

/** Whether the session outlives the browser window. */
export type SessionLife = 'remembered' | 'passing'

type Needs = Pick<Site, 'pool' | 'config' | 'publicUrl' | 'log' | 'outage' | 'callers'>

declare module 'express-session' {
  interface SessionData {
    reporterId: string
    /** Identifies the session where the session id must stay secret. */
    handle: string
    /** ISO 8601. */
    openedAt: string
    /** ISO 8601, accurate to ten minutes. */
    seenAt: string
    /** The User-Agent of the browser. */
    agent: string
    isRemembered: boolean
    /** An account whose password was accepted and whose second step is pending. */
    awaiting: {
      reporterId: string
      isRemembered: boolean
      until: string
      tries: number
      /** Derived from the entered password; invalid after a password change. */
      passwordMark: string
    }
    /**
     * When the person last entered the password in this session, or at the provider of the
     * organization. ISO 8601.
     */
    provenAt: string
    /** Whether the session was opened by a sign-in at the provider of the organization. */
    isByProvider: boolean
    /** Lets the owner begin to link the account to a person at the provider, once. */
    linking: string
    /** The encrypted secret of a second step being set up, in base64. */
    totpSetup: string
  }
}

/** Idle time in milliseconds after which a remembered session ends; other ones end after a day. */
const REMEMBERED_MS = 30 * DAY_MS
/** Maximum age in milliseconds of a session, even if used. */
const LIFE_MS = { remembered: 180 * DAY_MS, passing: 7 * DAY_MS }
const SEEN_MS = 10 * 60_000
const AWAITING_MS = 10 * 60_000
const AGENT_CHARS_MAX = 300
/** Time in milliseconds for which dangerous actions do not ask for the password again. */
const PROVEN_MS = 10 * 60_000

/**
 * Browser sessions, stored in the database; nothing is stored for visitors who are not signed in.
 */
export function sessions(site: Needs): RequestHandler[] {
  const isSecure = site.publicUrl.startsWith('https:')
  const warn = () => site.log.warn('Could not delete old sessions.')
  const store = createSessionStore(site.pool, warn, site)
  const { secret } = site.config
  const make = () =>
    session({
      store,
      name: isSecure ? '__Host-signalpost' : 'signalpost',
      secret: secret.accepted('session').map(cookieSecret),
      resave: false,
      saveUninitialized: false,
      proxy: isSecure,
      cookie: { httpOnly: true, sameSite: 'lax', secure: isSecure, path: '/' },
    })
  let made = { version: secret.version(), handler: make() }
  const handler: RequestHandler = (req, res, next) => {
    if (made.version !== secret.version()) made = { version: secret.version(), handler: make() }
    made.handler(req, res, next)
  }
  return [isSecure ? markSecure : passOn, handler]
}

function cookieSecret(key: Buffer): string {
  return createHmac('sha256', key).update('browser sessions').digest('hex')
}

/**
 * Opens the session of a reporter under a new id, so that an earlier id is useless (session
 * fixation), and marks the browser as a known device of the account. `atProvider` is given if the
 * person signed in at the provider of the organization: when the person proved who it is there.
 */
export async function openSession(
  req: Request,
  { id: reporterId, email }: Pick<Reporter, 'id' | 'email'>,
  life: SessionLife,
  site: Pick<Site, 'clock' | 'config'>,
  atProvider?: { provenAt: Date },
): Promise<void> {
  if (req.res) rememberDevice(req, req.res, email, site)
  await ended(req, 'regenerate')
  const { session } = req
  session.reporterId = reporterId
  session.isRemembered = life === 'remembered'
  name(req, site.clock())
  if (atProvider) {
    session.isByProvider = true
    session.provenAt = atProvider.provenAt.toISOString()
  }
  if (session.isRemembered) session.cookie.maxAge = REMEMBERED_MS
  await saveSession(req)
}

/**
 * Stores in the session, under a new session id, that the password was accepted. The user is not
 * signed in before the second step.
 */
export async function awaitSecondStep(
  req: Request,
  { id, life, passwordMark }: { id: string; life: SessionLife; passwordMark: string },
  now: Date,
): Promise<void> {
  await ended(req, 'regenerate')
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
 * Returns the reporter of the session and records its use. Undefined without a session, or after
 * its maximum age, when it is ended.
 */
export async function useSession(req: Request, now: Date): Promise<string | undefined> {
  // Absent only if the session could not be read.
  const session = (req as Partial<Request>).session
  const reporterId = session?.reporterId
  if (session === undefined || reporterId === undefined) return undefined
  const life = LIFE_MS[session.isRemembered === true ? 'remembered' : 'passing']
  if (now.getTime() - Date.parse(session.openedAt ?? '1970-01-01') > life) {
    await closeSession(req)
    return undefined
  }
  if (now.getTime() - Date.parse(session.seenAt ?? '') > SEEN_MS) {
    session.seenAt = now.toISOString()
    session.agent = agentOf(req)
  }
  return reporterId
}

/** Whether the person proved a few minutes ago, in this session, to be the owner. */
export function isPasswordFresh({ session }: Request, now: Date): boolean {
  return now.getTime() - Date.parse(session.provenAt ?? '1970-01-01') < PROVEN_MS
}

/** Stores when the person proved to be the owner. */
export async function notePassword(req: Request, now: Date): Promise<void> {
  req.session.provenAt = now.toISOString()
  await saveSession(req)
}

function name(req: Request, now: Date): void {
  const { session } = req
  session.handle = uuidv7(now)
  session.openedAt = session.seenAt = session.provenAt = now.toISOString()
  session.agent = agentOf(req)
}

function agentOf(req: Request): string {
  return (req.headers['user-agent'] ?? '').slice(0, AGENT_CHARS_MAX)
}

/** Saves the session before the response is sent, and resolves when it is saved. */
export function saveSession(req: Request): Promise<void> {
  return ended(req, 'save')
}

/** Ends the session, if there is one. */
export function closeSession(req: Request): Promise<void> {
  return ended(req, 'destroy')
}

async function ended(req: Request, method: 'regenerate' | 'save' | 'destroy'): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    req.session[method]((error: unknown) => (error ? reject(asError(error)) : resolve()))
  })
}

/**
 * Marks a request as https, because the site is reached only by https and the proxy may not say so.
 */
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
