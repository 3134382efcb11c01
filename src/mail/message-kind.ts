import { fieldValue } from './header.ts'
import type { HeaderField } from './header.ts'
import { isAutomaticReply } from './inbound/automatic.ts'

/** What sort of mail it is, as far as its header tells. */
export type MessageKind = 'message' | 'dsn' | 'feedback-report' | 'auto-reply'

/**
 * Tells reports and automatic answers from ordinary mail: multipart/report with its report type
 * (RFC 6522, 3464, 5965), Auto-Submitted (RFC 3834 §5) and what was used before it.
 */
export function messageKind(fields: readonly HeaderField[]): MessageKind {
  const type = (fieldValue(fields, 'content-type') ?? '').slice(0, 2000).toLowerCase()
  if (/^\s*multipart\/report\b/.test(type)) {
    const report = /report-type\s{0,9}=\s{0,9}"?\s{0,9}([a-z0-9-]+)/.exec(type)?.[1]
    if (report === 'feedback-report') return 'feedback-report'
    if (report === 'delivery-status') return 'dsn'
  }
  return isAutomaticReply(fields) ? 'auto-reply' : 'message'
}
