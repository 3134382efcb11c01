/** A refusal, as SMTP says it: a code, and a text that begins with an enhanced code (RFC 3463). */
export type SmtpReply = Error & { responseCode: number }

/** Makes a refusal. */
export function smtpReply(responseCode: number, text: string, cause?: unknown): SmtpReply {
  return Object.assign(new Error(text, { cause }), { responseCode })
}

/** Whether something that was thrown is a refusal that a peer is to hear. */
export function isSmtpReply(error: unknown): error is SmtpReply {
  return error instanceof Error && 'responseCode' in error
}
