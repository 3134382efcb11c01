import type { Request, Response } from 'express'
import type { z } from 'zod'
import { listRelays } from '../../db/reporter-relays.ts'
import { sendDueProbe } from '../../letters/probe-letter.ts'
import { parseRelayBlock } from '../../mail/ip-blocks.ts'
import { letterMessageId } from '../../mail/verp.ts'
import { WEBHOOKS_MAX } from '../../people/webhooks.ts'
import { UPLOAD_MESSAGES_MAX } from '../../reports/accept-report.ts'
import { forgetRelay, SET_RELAYS_MAX, setRelays } from '../../reports/set-relays.ts'
import { authenticateRequest } from '../authenticate.ts'
import { readJson } from '../bodies/body-tasks.ts'
import { admit } from '../limits.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { refusalWords } from '../submit.ts'
import { BULK_MAX } from './bulk.ts'
import { type relaysSchema, testMessageRequestSchema } from './contract/knowledge-schemas.ts'
import { reportingCaller } from './reporting-caller.ts'
import type { Handlers } from './serve-operations.ts'
import { FILES_MAX, sendJson } from './submission.ts'

type Needs = Pick<
  Site,
  'pool' | 'boss' | 'clock' | 'config' | 'credentials' | 'limits' | 'readBody' | 'mailboxUsers'
>

const BODY_BYTES_MAX = 4_000

/** The caller's account, permissions and relays, and test letters that find relays. */
export function accountHandlers(site: Needs) {
  const relaysOf = async (id: string) => ({ relays: await describeRelays(site, id) })
  return {
    'read-account': async ({ caller }) => ({
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
    }),
    'list-relays': ({ caller }) => relaysOf(caller.id),
    async 'set-relay'({ caller: { id }, body: { cidr, how } }) {
      const result = await setRelays(site, id, [{ cidr: parseCidr(cidr), name: null, how }])
      if (result === 'full') {
        throw new ProblemError('bad-field', `At most ${SET_RELAYS_MAX} relays can be set.`)
      }
      if (result === 'disputed') {
        const how = 'Ask for a test message on the page /relays, and report it.'
        throw new ProblemError('bad-field', `Other reporters deny this relay. ${how}`)
      }
      return relaysOf(id)
    },
    async 'forget-relay'({ caller: { id }, query: { cidr } }) {
      if (await forgetRelay(site, id, parseCidr(cidr))) return relaysOf(id)
      throw new ProblemError('not-found', 'Relay not found.')
    },
    'ask-for-test-message': {
      async whole(req, res) {
        const { is, letterId } = await sendDueProbe(site, await recipientOf(req, res, site))
        if (is === 'too-many') {
          const detail = 'Three test messages were sent to this address within a day.'
          throw new ProblemError('too-often', detail, { 'retry-after': '86400' })
        }
        const { returnPathDomain } = site.config
        sendJson(res, is === 'sent' ? 202 : 200, {
          state: is,
          message_id: letterId && letterMessageId(letterId, returnPathDomain),
        })
      },
    },
  } satisfies Partial<Handlers>
}

/** A relay as `GET /api/v1/relays` returns it. */
export type RelayJson = z.infer<typeof relaysSchema>['relays'][number]

/**
 * To whom a test message goes: to the caller; or with the header On-Behalf-Of to a mailbox user,
 * whose address only the provider knows.
 */
async function recipientOf(req: Request, res: Response, site: Needs) {
  if (req.headers['on-behalf-of'] === undefined) {
    const caller = await authenticateRequest(req, site.credentials, ['bearer', 'basic'], 'report')
    const { id: reporterId, tokenHash } = caller
    await admit(req, res, site, 'read', { reporterId, tokenHash })
    return caller
  }
  const { reporter, admit: admitReports } = await reportingCaller(req, res, site)
  await admitReports(1)
  const body = await site.readBody(req, res, BODY_BYTES_MAX)
  const { address } = readJson(body, testMessageRequestSchema)
  return { id: reporter.id, email: address.toLowerCase(), isMailboxUser: true }
}

async function describeRelays({ pool }: Needs, reporterId: string): Promise<RelayJson[]> {
  return (await listRelays(pool, reporterId)).map(({ cidr, how, name, evidence, since }) => ({
    ...{ cidr, how, name, reports: evidence, since: since.toISOString() },
  }))
}

function parseCidr(text: string): string {
  const parsed = parseRelayBlock(text)
  if ('block' in parsed) return parsed.block
  throw new ProblemError('bad-field', `cidr ${refusalWords[parsed.refusal]}`)
}
