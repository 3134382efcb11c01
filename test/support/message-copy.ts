import type { MessageCopy } from '../../src/mail/arf.ts'
import { parseHeader } from '../../src/mail/header.ts'

/** A message written by hand, as the copy that a feedback report contains. */
export function messageCopy(text: string, form: MessageCopy['form'] = 'whole'): MessageCopy {
  const content = Buffer.from(text).toString('latin1')
  const { fields } = parseHeader(Buffer.from(text))
  if (form === 'whole') return { fields, content, form }
  return { fields, content: content.slice(0, content.indexOf('\r\n\r\n') + 2), form }
}
