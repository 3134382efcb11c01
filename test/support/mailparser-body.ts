import { simpleParser } from 'mailparser'
import type { Header } from '../../src/mail/header.ts'
import type { MessageBody } from '../../src/mail/message-body.ts'
import { withShortBlankRuns } from '../../src/mail/seven-bit.ts'

/** Reads a body by mailparser, for comparison. The header must end its lines in LF or CRLF. */
export async function mailparserBody(raw: Buffer, header: Header): Promise<MessageBody> {
  const fields = header.fields.filter(({ key }) => key.startsWith('content-'))
  const lines = fields.map((field) => `${field.raw}\r\n`).join('')
  const body = withShortBlankRuns(raw.subarray(header.bodyOffset))
  const mail = await simpleParser(Buffer.concat([Buffer.from(`${lines}\r\n`, 'latin1'), body]), {
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipImageLinks: true,
    skipTextLinks: true,
  })
  return {
    text: mail.text ?? '',
    html: typeof mail.html === 'string' ? mail.html : '',
    attachments: mail.attachments.map(({ filename, contentType, content }) => {
      return { name: filename, type: contentType, content }
    }),
  }
}
