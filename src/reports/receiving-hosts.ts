import { z } from 'zod'
import { defineAction, textField } from '../actions.ts'
import type { App } from '../app.ts'
import {
  countReceivingHosts,
  insertReceivingHost,
  removeReceivingHost,
} from '../db/receiving-hosts.ts'
import { parseRelayBlock } from '../mail/ip-blocks.ts'
import { refusal } from '../phrase.ts'
import { decideDomainAgain } from './reopen-reports.ts'

const NAME_CHARS_MAX = 253
const NOTE_CHARS_MAX = 500
const HOSTS_MAX = 5_000

const nameShape = /^(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{2,63}$/
const domainError = refusal('refused.domain')
const hostError = refusal('refused.host')

const domainField = textField(NAME_CHARS_MAX, domainError)
  .transform((text) => text.toLowerCase().replace(/^@/, ''))
  .pipe(z.string().regex(nameShape, domainError))
  .meta({ argument: 'DOMAIN' })

const hostField = textField(NAME_CHARS_MAX, hostError)
  .transform((text) => {
    const parsed = parseRelayBlock(text)
    if ('block' in parsed) return parsed.block
    const name = text.toLowerCase().replace(/\.$/, '')
    return parsed.refusal === 'unreadable' && nameShape.test(name) ? name : ''
  })
  .pipe(z.string().min(1, hostError))
  .meta({ argument: 'HOST' })

/**
 * States that a host receives mail for a domain. Then it is a mail server of all reporters with an
 * address at the domain, and their earlier reports are decided again.
 */
export const addReceivingHost = defineAction({
  name: 'mail-servers add',
  summary: 'state that a host receives mail for a domain',
  audit: 'add mail server',
  role: 'operator',
  input: z.object({
    domain: domainField,
    host: hostField,
    note: z.string().max(NOTE_CHARS_MAX).default(''),
  }),
  async run(tx, { domain, host, note }, { at, boss }: { at: Date } & Pick<App, 'boss'>) {
    if ((await countReceivingHosts(tx)) >= HOSTS_MAX) {
      const message = refusal('refused.hosts', { max: HOSTS_MAX })
      return { problems: [{ message }] }
    }
    if (!(await insertReceivingHost(tx, { domain, host, note, createdAt: at })))
      return { unchanged: 'known' }
    const count = await decideDomainAgain(tx, boss, domain)
    return { done: 'added', audit: `${domain}: ${host}`, count }
  },
})

/** Takes back such a statement. Reports that were decided with it stay as they are. */
export const dropReceivingHost = defineAction({
  name: 'mail-servers remove',
  summary: 'take back that a host receives mail for a domain',
  audit: 'remove mail server',
  role: 'operator',
  input: z.object({ domain: domainField, host: hostField }),
  async run(tx, { domain, host }) {
    if (!(await removeReceivingHost(tx, { domain, host }))) return { unchanged: 'unknown' }
    return { done: 'removed', audit: `${domain}: ${host}` }
  },
})
