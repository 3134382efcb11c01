import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../../app.ts'
import { isOutage } from '../../db/follow.ts'
import { reasonOf } from '../../errors.ts'
import type { MessageChecker } from '../../judging/check-message.ts'
import { createIntake } from '../../reports/accept-report.ts'
import { createLimits } from '../../people/limits.ts'
import { createMailboxUsers, isUserKey, keyFault } from '../../people/mailbox-users.ts'
import { createLearn, type Learn, type Learnable } from '../../reports/learn-message.ts'
import type { BodyPool } from '../bodies/body-pool.ts'
import { AbortedError, createBodies, type ReadBody } from '../bodies/read-body.ts'
import { ProblemError } from '../problem.ts'
import {
  type Ask,
  type CheckStatistics,
  createAsk,
  createCheckStatistics,
} from './answer-question.ts'
import { createGate, type AccessCheck } from './may-ask.ts'
import { fieldsOfRequest, type CheckedBody, messageIn } from './protocol.ts'

/** The HTTP interface for mail servers. */
export type CheckRoutes = {
  /** Handles a request; returns false if its path is not one of ours. */
  handle: (req: IncomingMessage, res: ServerResponse) => boolean
  statistics: CheckStatistics
  ask: Ask
  gate: AccessCheck
}

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'log' | 'config'>
type Inside = {
  ask: Ask
  statistics: CheckStatistics
  gate: AccessCheck
  learn: Learn
  readBody: ReadBody
  bodies: BodyPool
  log: App['log']
}
type Route = (req: IncomingMessage, res: ServerResponse, inside: Inside) => Promise<void> | void

const BYTES_IN_HAND_MAX = 150_000_000

/**
 * Creates the interface for mail servers: rspamd's normal worker and its controller in one. A
 * message without a verdict passes. Refusals, and failures to learn a message, are JSON with an
 * `error`. Without a password, only requests for which `isTrusted` returns true may check.
 */
export function createCheckRoutes(
  app: Needs,
  { checker, bodies }: { checker: MessageChecker; bodies: BodyPool },
  isTrusted: (req: IncomingMessage) => boolean,
): CheckRoutes {
  const { config, clock } = app
  const statistics = createCheckStatistics(clock, checker.lost)
  const scores = { reject: config.checkRejectScore, greylist: config.checkGreylistScore }
  const ask = createAsk(checker, scores, statistics, app.log)
  const gate = createGate(config, clock, isTrusted)
  const inside: Inside = {
    ask,
    statistics,
    log: app.log,
    gate,
    learn: createLearn({ ...app, intake: createIntake(app), admitUser: createAdmitUser(app) }),
    readBody: createBodies(BYTES_IN_HAND_MAX).readBody,
    bodies,
  }
  const routes = createRoutes(config.messageBytesMax)
  return {
    statistics,
    ask,
    gate,
    handle(req, res) {
      const path = pathOf(req)
      const route = Object.hasOwn(routes, path) ? routes[path] : undefined
      if (!route) return false
      void serve(req, res, inside, route)
      return true
    },
  }
}

export function checkPaths(): string[] {
  return Object.keys(createRoutes(0))
}

/** The path of a request without its query. */
export function pathOf({ url = '/' }: IncomingMessage): string {
  const at = url.indexOf('?')
  return at < 0 ? url : url.slice(0, at)
}

export function sendError(
  res: ServerResponse,
  status: number,
  error: string,
  headers: Record<string, string> = {},
): void {
  sendJson(res, status, { error }, headers)
}

/** Admits reports of the mail server's users, each within limits of its own. */
function createAdmitUser(app: Needs): Parameters<typeof createLearn>[0]['admitUser'] {
  const findUser = createMailboxUsers(app, false)
  const limits = createLimits(app)
  return async (server, key) => {
    const user = await findUser(server, key)
    if (typeof user === 'string') return 'disabled'
    const { is } = await limits.admit('mailbox-user', { reporterId: user.id })
    return is === 'refused' ? 'too-often' : { id: user.id, admission: is }
  }
}

function createRoutes(bytesMax: number): Readonly<Record<string, Route>> {
  const check = allowedOnly(
    withBody((req, res, inside) => checkMessage(req, res, inside, bytesMax)),
  )
  const learn = (kind: Learnable) =>
    allowedOnly(withBody((req, res, inside) => learnMessage(req, res, inside, { kind, bytesMax })))
  return {
    '/checkv2': check,
    '/check': check,
    '/symbols': check,
    '/learnspam': learn('spam'),
    '/learnham': learn('not-spam'),
    '/ping': (_req, res) => sendText(res, 'pong\r\n'),
    '/stat': allowedOnly((_req, res, { statistics }) => sendJson(res, 200, statistics.stat())),
    '/auth': allowedOnly((_req, res, { statistics }) =>
      sendJson(res, 200, { ...statistics.stat(), auth: 'ok' }),
    ),
  }
}

function allowedOnly(route: Route): Route {
  return (req, res, inside) => {
    const refused = inside.gate(req)
    if (!refused) return route(req, res, inside)
    const { status, error, retrySeconds } = refused
    sendError(res, status, error, retrySeconds ? { 'retry-after': String(retrySeconds) } : {})
  }
}

/** Reads the body for any method, because rspamd's proxy sends the message with GET. */
function withBody(route: Route): Route {
  return (req, res, inside) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = req.headers
    if (req.method === 'POST' || length !== undefined || encoding !== undefined) {
      return route(req, res, inside)
    }
    sendError(res, 405, 'Send the message by POST.', { allow: 'POST' })
  }
}

async function serve(
  req: IncomingMessage,
  res: ServerResponse,
  inside: Inside,
  route: Route,
): Promise<void> {
  try {
    await route(req, res, inside)
  } catch (error) {
    if (error instanceof AbortedError || res.headersSent) return void res.destroy()
    if (error instanceof ProblemError) {
      return sendError(res, error.status, error.message, { ...error.headers })
    }
    inside.statistics.failed()
    const reason = isOutage(error) ? 'the database is unavailable' : reasonOf(error).slice(0, 200)
    inside.log.warn({ reason }, 'A request from a mail server failed.')
    sendError(res, 503, 'Temporarily unavailable. Try again shortly.', { 'retry-after': '5' })
  }
}

async function checkMessage(
  req: IncomingMessage,
  res: ServerResponse,
  inside: Inside,
  bytesMax: number,
): Promise<void> {
  const fields = fieldsOfRequest(req)
  const given = await givenIn(req, res, inside, bytesMax)
  if (typeof given === 'object' && 'fault' in given) return sendError(res, 400, given.fault)
  sendJson(res, 200, await inside.ask(given, fields))
}

async function learnMessage(
  req: IncomingMessage,
  res: ServerResponse,
  inside: Inside,
  { kind, bytesMax }: { kind: Learnable; bytesMax: number },
): Promise<void> {
  const given = await givenIn(req, res, inside, bytesMax)
  if (given === 'too-big') return sendError(res, 413, 'The message is too large to learn.')
  if (given === 'no-room') throw new Error('Too many bytes at once.')
  if (!Buffer.isBuffer(given)) return sendError(res, 400, given.fault)
  const by = { reporter: '', isUnasked: true }
  const fit = await inside.bodies.read('message', given, { ownerId: 'mail server', by })
  if ('refusal' in fit) return sendError(res, fit.refusal.status, fit.refusal.detail)
  const key = req.headers['on-behalf-of']
  if (key !== undefined && !isUserKey(key)) return sendError(res, 400, keyFault)
  const lesson = await inside.learn(fit.message, kind, key)
  if (lesson === 'too-often') return sendError(res, 429, 'This user reported too often.')
  if (lesson === 'disabled') return sendError(res, 403, 'The account of this user is disabled.')
  const as = kind === 'spam' ? 'spam' : 'ham'
  if (lesson === 'known') return sendError(res, 208, `The message was already learned as ${as}.`)
  inside.statistics.learned()
  sendJson(res, 200, { success: true })
}

async function givenIn(
  req: IncomingMessage,
  res: ServerResponse,
  { readBody }: Inside,
  bytesMax: number,
): Promise<CheckedBody | 'no-room'> {
  try {
    const body = await readBody(req, res, bytesMax)
    return await messageIn(body, fieldsOfRequest(req), bytesMax)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    if (error.problem === 'too-big') return 'too-big'
    if (error.problem === 'unavailable') return 'no-room'
    throw error
  }
}

function sendJson(
  res: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  send(res, status, 'application/json', JSON.stringify(value), headers)
}

function sendText(res: ServerResponse, text: string): void {
  send(res, 200, 'text/plain', text, {})
}

function send(
  res: ServerResponse,
  status: number,
  type: string,
  text: string,
  headers: Record<string, string>,
): void {
  const length = Buffer.byteLength(text)
  res.writeHead(status, { 'content-type': type, 'content-length': length, ...headers })
  res.end(text)
}
