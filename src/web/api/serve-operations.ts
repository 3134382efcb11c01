import { createHash } from 'node:crypto'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { z } from 'zod'
import { type Consumer, findConsumer } from '../../db/consumers.ts'
import { parseConsumerToken } from '../../feedback/enroll.ts'
import type { Caller } from '../../people/credentials.ts'
import { authenticateRequest } from '../authenticate.ts'
import { readJson, readQuery } from '../bodies/body-tasks.ts'
import { admit } from '../limits.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { operations } from './contract/document.ts'
import type { Declared } from './contract/operation.ts'
import { type SchemaName, schemas } from './contract/schemas.ts'
import { otherMethods } from './cors.ts'
import { sendJson } from './submission.ts'

type All = typeof operations
/** The ids of the operations below `/api`. */
type Id = {
  [Each in keyof All]: All[Each]['path'] extends `/api/${string}` ? Each : never
}[keyof All]

type ParametersOf<Of, Place extends string> = Of extends {
  parameters: Readonly<Record<Place, infer Schema extends z.ZodObject>>
}
  ? z.infer<Schema>
  : undefined
type JsonBody<Of> = Of extends {
  body: { 'application/json': infer Name extends SchemaName }
}
  ? z.infer<(typeof schemas)[Name]>
  : undefined
type CallerOf<Need> = Need extends 'nothing' ? undefined : Need extends 'desk' ? Consumer : Caller

/**
 * A request that has the credentials that its operation needs, is within the limits, and whose
 * query and body have the declared schemas. The path is not checked.
 */
export type Call<Each extends Id> = {
  req: Request
  res: Response
  caller: CallerOf<All[Each]['need']>
  path: ParametersOf<All[Each], 'path'>
  query: ParametersOf<All[Each], 'query'>
  body: JsonBody<All[Each]>
}

/**
 * Returns what is sent as JSON, with the first status that the operation declares; undefined if it
 * has answered by itself.
 */
type Handler<Each extends Id> = (call: Call<Each>) => Promise<object | undefined>

/**
 * The handlers of operations by their ids. A handler in `whole` gets the request as it came, and
 * checks credentials, limits and the body by itself.
 */
export type Handlers = { [Each in Id]: Handler<Each> | { whole: RequestHandler } }

type Needs = Pick<Site, 'pool' | 'config' | 'credentials' | 'limits' | 'readBody'>

const BODY_BYTES_MAX = 8_000

/** Routes requests to the handlers of their operations, and answers other methods. */
export function operationRoutes(site: Needs, handlers: Handlers): Router {
  const router = Router()
  const byPath = Map.groupBy(Object.keys(handlers) as Id[], (id) => operations[id].path)
  // The order matters: `/reports/bulk` comes before `/reports/{id}`, which would match it too.
  for (const [path, ids] of [...byPath].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const route = router.route(path.replace('/api', '').replaceAll(/\{(\w+)\}/g, ':$1'))
    for (const id of ids) {
      const handler = handlers[id] as Handler<Id> | { whole: RequestHandler }
      const handle = 'whole' in handler ? handler.whole : checked(site, operations[id], handler)
      route[operations[id].method](handle)
    }
    route.all(otherMethods(...ids.map((id) => operations[id].method)))
  }
  return router
}

function checked(site: Needs, operation: Declared, handler: Handler<Id>): RequestHandler {
  const { parameters, body, bodyBytesMax = BODY_BYTES_MAX, answers } = operation
  const status = Number(Object.keys(answers)[0])
  const schema = body && schemas[body['application/json'] as SchemaName]
  return async (req, res) => {
    const call = {
      ...{ req, res, path: req.params },
      caller: await callerOf(req, res, site, operation),
      query: parameters?.query && readQuery(req, parameters.query),
      body: schema && readJson(await site.readBody(req, res, bodyBytesMax), schema),
    }
    const answer = await handler(call as Call<Id>)
    if (answer) sendJson(res, status, answer)
  }
}

async function callerOf(
  req: Request,
  res: Response,
  site: Needs,
  { need, limit = 'read' }: Pick<Declared, 'need' | 'limit'>,
): Promise<Caller | Consumer | undefined> {
  if (need === 'desk') return deskOf(req, res, site)
  if (need === 'nothing' || need === 'plug-in' || need === 'mail-server') {
    await admit(req, res, site, limit, {})
    return undefined
  }
  const caller = await authenticateRequest(req, site.credentials, ['bearer', 'basic'], need)
  const { id: reporterId, tokenHash } = caller
  await admit(req, res, site, limit, { reporterId, tokenHash })
  return caller
}

/**
 * Returns the desk whose token a request contains: the last part of the address of its page.
 *
 * @throws ProblemError 401
 */
async function deskOf(req: Request, res: Response, site: Needs): Promise<Consumer> {
  const [, token = ''] = /^bearer +(\S+)$/i.exec(req.headers.authorization ?? '') ?? []
  const id = parseConsumerToken(token, site.config.secret)
  await admit(req, res, site, 'read', { tokenHash: createHash('sha256').update(token).digest() })
  const consumer = id === undefined ? undefined : await findConsumer(site.pool, id)
  if (consumer) return consumer
  throw new ProblemError('sign-in-needed', 'Send the token of your page as a bearer token.', {
    'www-authenticate': 'Bearer realm="Signalpost"',
  })
}
