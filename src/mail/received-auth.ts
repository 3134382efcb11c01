import type { ReceivedField } from './received.ts'

const proving = /^(?:(?:E?SMTPS?|LMTPS?|UTF8SMTPS?|UTF8LMTPS?)A|ASMTP)(?= |$)/i

/** By how their comments begin; the mechanism is named where the comment names it. */
const proofs: readonly (readonly [RegExp, string?])[] = [
  [/^authenticated sender/i, 'Postfix'],
  [/^authenticated as /i, 'CriticalPath'],
  [/^authenticated/i, 'Sendmail'],
  [/^account /i, 'CommuniGate'],
  [/^auth[:=]\s*([\w-]{1,20})/i],
  [/^\S+@\S+ with (login|plain|cram-md5)$/i],
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
    const text = comment.trimStart()
    if (text.startsWith('via HTTP') || isUserOfWebMail(text)) return 'HTTP'
    const proof = proofs.find(([pattern]) => pattern.test(text))
    if (proof) return proof[1] ?? proof[0].exec(text)?.[1]?.toUpperCase()
  }
  return /^httpu?(?= |$)/i.test(protocol) || /^http$/i.test(via) ? 'HTTP' : undefined
}

function isUserOfWebMail(text: string): boolean {
  return /^(?:SquirrelMail|NaSMail) authenticated user /.test(text)
}
