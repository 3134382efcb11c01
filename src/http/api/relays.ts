import { Router, type Request, type Response } from 'express'
import type { z } from 'zod'
import { listRelays } from '../../db/reporter-relays.ts'
import type { Scope } from '../../db/tokens.ts'
import { forgetRelay, SET_RELAYS_MAX, tellRelays } from '../../intake/tell-relays.ts'
import { parseRelayBlock } from '../../mail/relay-block.ts'
import { authenticate } from '../authenticate.ts'
import { admit } from '../limits/admit.ts'
import { ProblemError } from '../problem.ts'
import { refusalWords } from '../relay-refusals.ts'
import type { Site } from '../site.ts'
import { relayStatementSchema, type relaysSchema } from './contract/schemas/knowledge-schemas.ts'
import { otherMethods } from './methods.ts'
import { readJson } from './read-json.ts'
import { sendJson } from './results.ts'

type Needs = Pick<
  Site,
  'pool' | 'boss' | 'clock' | 'config' | 'credentials' | 'limits' | 'readBody'
>

/** A relay as `GET /api/v1/relays` gives it. */
export type RelayJson = z.infer<typeof relaysSchema>['relays'][number]

const BODY_BYTES_MAX = 4_000

/** The caller's relays: `/api/v1/relays`. */
export function relaysApi(site: Needs): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const id = await callerOf(req, res, site, 'read')
    sendJson(res, 200, { relays: await describeRelays(site, id) })
  })
  router.put('/', async (req, res) => {
    const id = await callerOf(req, res, site, 'account')
    const { cidr, how } = readJson(
      await site.readBody(req, res, BODY_BYTES_MAX),
      relayStatementSchema,
    )
    const told = await tellRelays(site, id, [{ cidr: parseCidr(cidr), name: null, how }])
    if (told === 'full') {
      throw new ProblemError('bad-field', `At most ${SET_RELAYS_MAX} relays can be set.`)
    }
    sendJson(res, 200, { relays: await describeRelays(site, id) })
  })
  router.delete('/', async (req, res) => {
    const id = await callerOf(req, res, site, 'account')
    if (!(await forgetRelay(site, id, parseCidr(cidrOf(req))))) {
      throw new ProblemError('not-found', 'You have no such relay.')
    }
    sendJson(res, 200, { relays: await describeRelays(site, id) })
  })
  router.all('/', otherMethods('GET', 'PUT', 'DELETE'))
  return router
}

async function callerOf(req: Request, res: Response, site: Needs, scope: Scope): Promise<string> {
  const { id, tokenHash } = await authenticate(req, site.credentials, ['bearer', 'basic'], scope)
  await admit(req, res, site, 'read', { reporterId: id, tokenHash })
  return id
}

async function describeRelays({ pool }: Needs, reporterId: string): Promise<RelayJson[]> {
  return (await listRelays(pool, reporterId)).map(({ cidr, how, name, evidence, since }) => ({
    cidr,
    how,
    name,
    reports: evidence,
    since: since.toISOString(),
  }))
}

function cidrOf(req: Request): string {
  const { cidr } = req.query
  if (typeof cidr === 'string') return cidr
  throw new ProblemError('bad-field', 'Name the relay: ?cidr=192.0.2.7.')
}

function parseCidr(text: string): string {
  const parsed = parseRelayBlock(text)
  if ('block' in parsed) return parsed.block
  throw new ProblemError('bad-field', `cidr ${refusalWords[parsed.refusal]}`)
}
