import type { ReceivedField } from './received.ts'

const proving = /^(?:(?:E?SMTPS?|LMTPS?|UTF8SMTPS?|UTF8LMTPS?)A|ASMTP)(?= |$)/i

/** By how their comments begin; the mechanism is named where the comment names it. */
const proofs: readonly (readonly [RegExp, string?])[] = [
  [/^authenticated sender/i, 'Postfix'],
  [/^authenticated as /i, 'CriticalPath'],
  [/^authenticated/i, 'Sendmail'],
  [/^account /i, 'CommuniGate'],
  [/^auth[:=]\s*([\w-]{1,20})/i],
]

/**
 * How the peer proved who it was: the protocol that says so (RFC 3848), web mail, where a browser
 * hands over by HTTP, or the mail system or mechanism that a comment names. HTTPS alone proves
 * nothing: Exchange uses it between its own machines.
 */
export function receivedAuth(
  { with: protocol = '', via = '' }: Pick<ReceivedField, 'with' | 'via'>,
  comments: readonly string[],
): string | undefined {
  const proved = proving.exec(protocol)
  if (proved) return proved[0].toUpperCase()
  for (const comment of comments) {
    const found = proofIn(comment.trimStart())
    if (found !== undefined) return found
  }
  return /^httpu?(?= |$)/i.test(protocol) || /^http$/i.test(via) ? 'HTTP' : undefined
}

function proofIn(comment: string): string | undefined {
  const first = comment.charCodeAt(0) | 0x20
  if (first === 0x61) {
    const proof = proofs.find(([pattern]) => pattern.test(comment))
    return proof && (proof[1] ?? proof[0].exec(comment)?.[1]?.toUpperCase())
  }
  if (comment.startsWith('via HTTP') || isUserOfWebMail(comment)) return 'HTTP'
  if (!comment.includes('@')) return undefined
  return /^\S+@\S+ with (login|plain|cram-md5)$/i.exec(comment)?.[1]?.toUpperCase()
}

function isUserOfWebMail(text: string): boolean {
  return /^(?:SquirrelMail|NaSMail) authenticated user /.test(text)
}
