import { type Request, type Response, Router } from 'express'
import type { z } from 'zod'
import { listRelays } from '../../db/reporter-relays.ts'
import type { Reporter } from '../../db/reporters.ts'
import type { TokenScope } from '../../db/sessions.ts'
import { sendDueProbe } from '../../letters/probe-letter.ts'
import { findListed } from '../../lists/delist.ts'
import { parseRelayBlock } from '../../mail/ip-blocks.ts'
import { letterMessageId } from '../../mail/verp.ts'
import { WEBHOOKS_MAX } from '../../people/webhooks.ts'
import { UPLOAD_MESSAGES_MAX } from '../../reports/accept-report.ts'
import { forgetRelay, SET_RELAYS_MAX, setRelays } from '../../reports/set-relays.ts'
import { listedJson } from '../../verdict/lists/judge-candidate.ts'
import { readListQuestion } from '../../verdict/lists/questions.ts'
import { authenticateRequest } from '../authenticate.ts'
import { readJson, readQuery } from '../bodies/body-tasks.ts'
import { admit } from '../limits.ts'
import { refusalWords } from '../submit.ts'
import { inEnglish } from '../../texts/phrases.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { BULK_MAX } from './bulk.ts'
import {
  counterQuestionSchema,
  type relaysSchema,
  relayStatementSchema,
} from './contract/knowledge-schemas.ts'
import { otherMethods } from './cors.ts'
import { FILES_MAX, sendJson } from './submission.ts'

/** The caller's account and permissions: `/api/v1/account`. */
export function accountApi(site: Pick<Site, 'credentials' | 'config' | 'limits'>): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const caller = await authenticateRequest(req, site.credentials, ['bearer', 'basic'], 'any')
    const { id: reporterId, tokenHash } = caller
    await admit(req, res, site, 'read', { reporterId, tokenHash })
    sendJson(res, 200, {
      id: caller.id,
      email: caller.email,
      role: caller.role,
      proved_by: caller.tokenHash ? 'token' : 'password',
      scopes: caller.scopes,
      limits: {
        message_bytes: site.config.messageBytesMax,
        files_in_a_form: FILES_MAX,
        messages_in_a_request: UPLOAD_MESSAGES_MAX,
        reports_in_bulk: BULK_MAX,
        webhooks: WEBHOOKS_MAX,
        relays: SET_RELAYS_MAX,
      },
    })
  })
  router.all('/', otherMethods('GET'))
  return router
}

type CounterNeeds = Pick<Site, 'pool' | 'clock' | 'credentials'>

/** The counters of a link, address, file and so on: `/api/v1/counters`. */
export function countersApi(site: CounterNeeds): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    await authenticateRequest(req, site.credentials, ['bearer', 'basic'], 'viewer')
    const { series, ...given } = readQuery(req, counterQuestionSchema)
    // Loaded on first use, because splitting messages needs code that the intake does not.
    const { ask } = await import('../../counting/headline.ts')
    const answer = await ask(site, given, series)
    if ('fault' in answer) throw new ProblemError('bad-field', inEnglish(answer.fault))
    sendJson(res, 200, { ...answer, summary: inEnglish(answer.summary) })
  })
  router.all('/', otherMethods('GET'))
  return router
}

type ReputationNeeds = Pick<Site, 'pool' | 'clock' | 'config' | 'limits' | 'publicUrl'>

/**
 * Whether a name is listed: `/api/v1/reputation/NAME`, without credentials, at the rate limit of
 * the look-up page.
 */
export function reputationApi(site: ReputationNeeds): Router {
  const router = Router()
  router.get('/:name', async (req, res) => {
    await admit(req, res, site, 'lookup', {})
    const question = readListQuestion(req.params.name)
    if (!question)
      throw new ProblemError('bad-field', 'This is not an address, domain, host or link.')
    const listed = (await findListed(site, question.asks)).map(listedJson)
    sendJson(res, 200, {
      name: question.name,
      is_listed: listed.length > 0,
      listed,
      url: `${site.publicUrl}/lookup?q=${encodeURIComponent(question.name)}`,
    })
  })
  router.all('/:name', otherMethods('GET'))
  return router
}

type RelayNeeds = Pick<
  Site,
  'pool' | 'boss' | 'clock' | 'config' | 'credentials' | 'limits' | 'readBody'
>

/** A relay as `GET /api/v1/relays` returns it. */
export type RelayJson = z.infer<typeof relaysSchema>['relays'][number]

const BODY_BYTES_MAX = 4_000

/** The caller's relays: `/api/v1/relays`. */
export function relaysApi(site: RelayNeeds): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const { id } = await callerOf(req, res, site, 'read')
    sendJson(res, 200, { relays: await describeRelays(site, id) })
  })
  router.put('/', async (req, res) => {
    const { id } = await callerOf(req, res, site, 'account')
    const { cidr, how } = readJson(
      await site.readBody(req, res, BODY_BYTES_MAX),
      relayStatementSchema,
    )
    const result = await setRelays(site, id, [{ cidr: parseCidr(cidr), name: null, how }])
    if (result === 'full') {
      throw new ProblemError('bad-field', `At most ${SET_RELAYS_MAX} relays can be set.`)
    }
    if (result === 'disputed') {
      const how = 'Ask for a test message on the page /relays, and report it.'
      throw new ProblemError('bad-field', `Other reporters deny this relay. ${how}`)
    }
    sendJson(res, 200, { relays: await describeRelays(site, id) })
  })
  router.delete('/', async (req, res) => {
    const { id } = await callerOf(req, res, site, 'account')
    if (!(await forgetRelay(site, id, parseCidr(cidrOf(req))))) {
      throw new ProblemError('not-found', 'Relay not found.')
    }
    sendJson(res, 200, { relays: await describeRelays(site, id) })
  })
  router.all('/', otherMethods('GET', 'PUT', 'DELETE'))
  return router
}

/** A test letter that a program asks for, and reports when it arrives: `/api/v1/test-messages`. */
export function testMessagesApi(site: RelayNeeds): Router {
  const router = Router()
  router.post('/', async (req, res) => {
    const { is, letterId } = await sendDueProbe(site, await callerOf(req, res, site, 'report'))
    if (is === 'too-many') {
      const detail = 'Three test messages were sent to this account within a day.'
      throw new ProblemError('too-often', detail, { 'retry-after': '86400' })
    }
    const { returnPathDomain } = site.config
    sendJson(res, is === 'sent' ? 202 : 200, {
      state: is,
      message_id: letterId && letterMessageId(letterId, returnPathDomain),
    })
  })
  router.all('/', otherMethods('POST'))
  return router
}

async function callerOf(
  req: Request,
  res: Response,
  site: RelayNeeds,
  scope: TokenScope,
): Promise<Reporter> {
  const caller = await authenticateRequest(req, site.credentials, ['bearer', 'basic'], scope)
  const { id: reporterId, tokenHash } = caller
  await admit(req, res, site, 'read', { reporterId, tokenHash })
  return caller
}

async function describeRelays({ pool }: RelayNeeds, reporterId: string): Promise<RelayJson[]> {
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
  throw new ProblemError('bad-field', 'Name the relay in the query, for example ?cidr=192.0.2.7.')
}

function parseCidr(text: string): string {
  const parsed = parseRelayBlock(text)
  if ('block' in parsed) return parsed.block
  throw new ProblemError('bad-field', `cidr ${refusalWords[parsed.refusal]}`)
}
