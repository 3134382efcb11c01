import { composeMimeTree } from '../../src/mail/mime-tree.ts'
import { redactMessage, type RedactionOptions } from '../../src/mail/redaction/redact.ts'

/** Redacts a message, and composes the result: `raw`. */
export function redactToBytes(message: Buffer, options: RedactionOptions) {
  const redaction = redactMessage(message, options)
  return { ...redaction, raw: composeMimeTree(redaction.tree) }
}
