import type { ReceivedClauses } from './received-clauses.ts'
import type { ReceivedField } from './received.ts'

/**
 * What the first word of a from clause is, which depends on the mail system: the name found for
 * the address (`exim`; `qmail`, where it is the HELO too unless another is named; `firewall` and
 * `http`, which note no HELO), or the HELO (`usual`).
 */
export type ReceivedStyle = 'exim' | 'qmail' | 'firewall' | 'http' | 'usual'

const eximId = /^[0-9A-Za-z]{6}-[0-9A-Za-z]{6,11}-[0-9A-Za-z]{2,4}$/

/** Each mail system words the from clause in its own way; the rest of the line betrays which. */
export function receivedStyle(
  { with: protocol = '', via, id, auth }: Omit<ReceivedField, 'by' | 'from'>,
  { from, date, comments }: ReceivedClauses,
): ReceivedStyle {
  if (protocol === 'local' || protocol.startsWith('local ')) return 'usual'
  if (auth === 'HTTP') return 'http'
  if (via !== undefined && /^(?:smap|csmap|smtpd?)(?= |$)/i.test(via)) return 'firewall'
  if (id && /^(?:e?smtps?a?|asmtp)(?= |$)/.test(protocol) && eximId.test(id)) return 'exim'
  for (const comment of comments) {
    if (comment.startsWith('Exim') || comment.includes('helo=')) return 'exim'
  }
  const peers = from?.comments ?? []
  for (const comment of peers) if (/^[HE][EH]LO(?: |$)/.test(comment)) return 'qmail'
  const isBare = protocol === 'SMTP' && id === undefined && peers.length === 1
  return isBare && isQmailDate(date) ? 'qmail' : 'usual'
}

/** `14 Nov 2026 08:05:50 -0000` */
function isQmailDate(date: string): boolean {
  return date.endsWith(' -0000') && date.charCodeAt(0) < 0x3a
}
