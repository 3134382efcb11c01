import { simpleParser } from 'mailparser'
import { withShortBlankRuns } from './blank-runs.ts'
import type { Header } from './header.ts'

/** The readable parts of a message and what is attached to it. */
export type MessageBody = {
  /** All text/plain parts, decoded; empty when there are none. */
  text: string
  /** All text/html parts, decoded; empty when there are none. */
  html: string
  attachments: BodyAttachment[]
}

/** A part that is not shown as text. */
export type BodyAttachment = { name: string | undefined; type: string; content: Buffer }

/**
 * Reads the MIME body of a message (RFC 2045-2047). Only the Content fields of the header are
 * given to the parser: the others cost time and say nothing about the body. Undefined when the
 * parser gives up. Its cost grows with the structure: refuse bombs first (`exceedsLimits`).
 */
export async function parseBody(raw: Buffer, header: Header): Promise<MessageBody | undefined> {
  try {
    const mail = await simpleParser(mimeOnly(raw, header), {
      skipHtmlToText: true,
      skipTextToHtml: true,
      skipImageLinks: true,
      skipTextLinks: true,
    })
    return {
      text: mail.text ?? '',
      html: typeof mail.html === 'string' ? mail.html : '',
      attachments: mail.attachments.map(({ filename, contentType, content }) => ({
        name: filename,
        type: contentType,
        content,
      })),
    }
  } catch {
    return undefined
  }
}

function mimeOnly(raw: Buffer, header: Header): Buffer {
  const fields = header.fields.filter(
    ({ key }) => key.startsWith('content-') || key === 'mime-version',
  )
  const lines = fields.map((field) => `${field.raw}\r\n`).join('')
  const body = withShortBlankRuns(raw.subarray(header.bodyOffset))
  const head = header.lineEnd === 'cr' ? lines.replace(/\r\n?/g, '\r\n') : lines
  return Buffer.concat([
    Buffer.from(`${head}\r\n`, 'latin1'),
    header.lineEnd === 'cr' && !body.includes(0x0a) ? withLineFeeds(body) : body,
  ])
}

function withLineFeeds(body: Buffer): Buffer {
  return Buffer.from(body.toString('latin1').replaceAll('\r', '\n'), 'latin1')
}
