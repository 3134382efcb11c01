import type { CheckAnswer } from '../protocol.ts'
import { ACTIONS, formatPacket, STEPS, type Terms } from './packets.ts'

/** What the operator wants to happen to unwanted mail. Mail is never discarded. */
export type MilterPolicy = {
  /** Mail that the first filter settles is marked, or rejected before it is transferred. */
  firstFilter: 'mark' | 'reject'
  /** Mail with the action `reject` is rejected, or kept by the mail server for an operator. */
  reject: 'reject' | 'quarantine'
}

/** What happened to a message; `none` when it passed without a verdict. */
export type Outcome = 'pass' | 'mark' | 'reject' | 'quarantine' | 'none'

export const CONTINUE = formatPacket('c')
/** Ends the filtering of the message, or before its return path that of the connection. */
export const ACCEPT = formatPacket('a')
/** Asks the mail server to leave out the rest of the body. */
export const SKIP = formatPacket('s')
export const NOTHING = Buffer.alloc(0)

export const MARK = 'X-Spam'
/** Maximum number of forged marks that are removed. Ours is the last field in any case. */
const MARKS_MAX = 50

/** The rejection of a recipient of mail that the first filter settles. */
export const REJECT_ENVELOPE = formatPacket(
  'y',
  '550 5.7.1 Your address or the domain of your return path is listed as a source of spam.',
)

/**
 * Returns the reply at the end of a message. Forged marks are removed, `marks` of which the message
 * has. Changes that the mail server does not support are left out. The action `greylist` passes,
 * because a mail server asks a milter anew at each attempt.
 */
export function replyAtEnd(
  answer: CheckAnswer,
  { policy, terms, marks }: { policy: MilterPolicy; terms: Terms; marks: number },
): { reply: Buffer; outcome: Outcome } {
  const can = (action: number) => (terms.actions & action) !== 0
  const { action, messages } = answer
  if (action === 'reject' && policy.reject === 'reject') {
    const text = `550 5.7.1 ${messages.smtp_message ?? 'This message looks like spam.'}`
    return { reply: formatPacket('y', text), outcome: 'reject' }
  }
  const changes: Buffer[] = []
  if (can(ACTIONS.changeFields)) {
    // From the last to the first, because the numbers of those below one change with it.
    for (let nth = Math.min(marks, MARKS_MAX); nth > 0; nth--) {
      changes.push(formatPacket('m', nth, MARK, ''))
    }
  }
  const isUnwanted = ['add header', 'rewrite subject', 'reject'].includes(action)
  if (isUnwanted && can(ACTIONS.addFields)) {
    changes.push(formatPacket('h', MARK, (terms.steps & STEPS.leadingSpace) === 0 ? 'Yes' : ' Yes'))
  }
  const isKept = action === 'reject' && can(ACTIONS.quarantine)
  if (isKept) changes.push(formatPacket('q', messages.smtp_message ?? 'This looks like spam.'))
  const passed = answer.is_skipped ? 'none' : 'pass'
  const outcome = isKept ? 'quarantine' : isUnwanted ? 'mark' : passed
  return { reply: Buffer.concat([...changes, CONTINUE]), outcome }
}
