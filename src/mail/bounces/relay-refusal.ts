import { bounceReason, isHardBounce } from './bounce-reason.ts'
import { statusIn } from './codes.ts'
import type { BounceReason } from './reasons.ts'

/** A reply with which our own mail server refused a mail during the SMTP session. */
export type RelayReply = {
  /** The command that the server answered; `dot` is the end of the message. */
  step: 'session' | 'mail' | 'rcpt' | 'data' | 'dot'
  /** SMTP reply code (RFC 5321 §4.2). */
  replyCode: number
  text: string
}

/**
 * What a refusal is about:
 *
 * - `us`: the server refuses our mail in general, permanently or for now (policy, authentication,
 *   relaying, TLS, limits), or refuses permanently without saying why. It would refuse other
 *   mail in the same way.
 * - `gone`: the address does not exist. `unreachable`: the mailbox exists but accepts no mail.
 * - `message`: the content or the size of this message, or a temporary refusal without an
 *   explanation.
 */
export type RefusalSubject = 'us' | 'gone' | 'unreachable' | 'message'

// Codes for: bad sequence of commands; encryption or authentication required, failed or too weak;
// shutting down.
const sessionCodes = new Set([421, 432, 454, 502, 503, 523, 524, 525, 530, 534, 535, 538])

const ours = new Set<BounceReason>([
  ...(['norelaying', 'authfailure', 'failedstarttls', 'requireptr', 'badreputation'] as const),
  ...(['blocked', 'rejected', 'speeding', 'toomanyconn', 'notcompliantrfc'] as const),
])
const recipients = new Set<BounceReason>([
  ...(['userunknown', 'hostunknown', 'hasmoved', 'mailboxfull', 'suspend', 'notaccept'] as const),
])
const contents = new Set<BounceReason>([
  ...(['mesgtoobig', 'exceedlimit', 'contenterror', 'spamdetected', 'virusdetected'] as const),
])

const relaying =
  /\brelay(?:ing)?\b.{0,40}\b(?:den|not|disallow|prohibit|reject|refus)|unable to relay|rcpthosts/i
const signIn = /\b(?:authenticat|authoriz|credential|log ?in\b|sign ?in\b|starttls|\btls\b)/i

/** Decides what a refusal by our own mail server is about. */
export function refusalSubject({ step, replyCode, text }: RelayReply): RefusalSubject {
  if (step === 'session' || sessionCodes.has(replyCode)) return 'us'
  const status = statusIn(text.replace(/^\d{3}[ -]/, ''))
  const context = { rcpt: 'RCPT TO', mail: 'MAIL FROM', data: 'DATA', dot: 'DATA' }[step]
  const failure = { text, status, replyCode, context: `(in reply to ${context} command)` }
  const reason = bounceReason(failure)
  const [, subject = '', detail = ''] = status?.split('.') ?? []
  if (contents.has(reason) || subject === '6' || isAboutSize(replyCode, subject, detail)) {
    return 'message'
  }
  if (step === 'mail' || relaying.test(text) || signIn.test(text)) return 'us'
  // X.1.7 and X.1.8 are about the sender's address.
  if (subject === '1' && detail !== '7' && detail !== '8') return 'gone'
  if (subject === '2') return 'unreachable'
  const isForNow = replyCode < 500
  if (isForNow && /gr[ae]y-?list/i.test(text)) return 'message'
  const isVague = subject === '' || subject === '0' || subject === '4' || subject === '5'
  if (!isVague || ours.has(reason)) return 'us'
  if (reason === 'filtered') return 'message'
  if (!recipients.has(reason)) return isForNow ? 'message' : 'us'
  return isHardBounce(reason, status, replyCode) ? 'gone' : 'unreachable'
}

function isAboutSize(replyCode: number, subject: string, detail: string): boolean {
  if ((subject === '2' && detail === '3') || (subject === '3' && detail === '4')) return true
  return replyCode === 552 && subject === ''
}
