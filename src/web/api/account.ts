import type { z } from 'zod'
import { listRelays } from '../../db/reporter-relays.ts'
import { sendDueProbe } from '../../letters/probe-letter.ts'
import { parseRelayBlock } from '../../mail/ip-blocks.ts'
import { letterMessageId } from '../../mail/verp.ts'
import { WEBHOOKS_MAX } from '../../people/webhooks.ts'
import { UPLOAD_MESSAGES_MAX } from '../../reports/accept-report.ts'
import { forgetRelay, SET_RELAYS_MAX, setRelays } from '../../reports/set-relays.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { refusalWords } from '../submit.ts'
import { BULK_MAX } from './bulk.ts'
import type { relaysSchema } from './contract/knowledge-schemas.ts'
import type { Handlers } from './serve-operations.ts'
import { FILES_MAX, sendJson } from './submission.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config'>

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
    async 'ask-for-test-message'({ caller, res }) {
      const { is, letterId } = await sendDueProbe(site, caller)
      if (is === 'too-many') {
        const detail = 'Three test messages were sent to this account within a day.'
        throw new ProblemError('too-often', detail, { 'retry-after': '86400' })
      }
      const { returnPathDomain } = site.config
      sendJson(res, is === 'sent' ? 202 : 200, {
        state: is,
        message_id: letterId && letterMessageId(letterId, returnPathDomain),
      })
      return undefined
    },
  } satisfies Partial<Handlers>
}

/** A relay as `GET /api/v1/relays` returns it. */
export type RelayJson = z.infer<typeof relaysSchema>['relays'][number]

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
