import { parseMailboxes } from './address.ts'
import { fieldValue, type HeaderField } from './header.ts'

/**
 * Whether a machine may answer a mail (RFC 3834 §2, RFC 5230 §4.6): a person seems to have sent it,
 * to us and to nobody's list, and it is none of ours. `ours` are our own addresses, and our domain
 * as `@domain`. When in doubt it may not.
 */
export function mayBeAnswered(
  fields: readonly HeaderField[],
  mailFrom: string,
  ours: readonly string[],
): boolean {
  const value = (key: string) =>
    (fieldValue(fields, key) ?? '').slice(0, 1_000).trim().toLowerCase()
  const has = (key: string) => fieldValue(fields, key) !== undefined
  if (mailFrom === '' || value('return-path') === '<>') return false
  if (has('auto-submitted') && !/^no\b/.test(value('auto-submitted'))) return false
  if (/\b(?:bulk|list|junk|auto_reply)\b/.test(value('precedence'))) return false
  if (/\b(?:all|autoreply|oof)\b/.test(value('x-auto-response-suppress'))) return false
  if (telltales.some(has) || fields.some(({ key }) => key.startsWith('list-'))) return false
  const author = parseMailboxes(fieldValue(fields, 'from') ?? '')[0]?.address ?? ''
  return [mailFrom, author].every((address) => {
    const known = address.toLowerCase()
    const isOurs = ours.some((own) => (own.startsWith('@') ? known.endsWith(own) : known === own))
    return !isOurs && !robots.test(known)
  })
}

const telltales = ['x-autoreply', 'x-autorespond', 'x-autoresponder', 'x-loop', 'feedback-id']
const robots =
  /^(?:mailer-daemon|postmaster|listserv|majordomo|no-?reply|do-?not-?reply)@|-request@|^owner-/
