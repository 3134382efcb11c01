import { hash } from 'node:crypto'
import type { BodyAttachment } from '../mail/message-body.ts'
import { storableText } from '../mail/text.ts'

/** An attachment, identified by its checksum; its content is not stored. */
export type Attachment = {
  name: string | null
  /** The declared media type, in lower case. */
  type: string
  bytes: number
  /** The SHA-256 of the decoded content, in hexadecimal. */
  sha256: string
}

const attachmentsMax = 100
const nameCharsMax = 255

/** Returns names, sizes and checksums of at most 100 attachments, in order. */
export function describeAttachments(attachments: readonly BodyAttachment[]): Attachment[] {
  return attachments.slice(0, attachmentsMax).map(({ name, type, content }) => ({
    name: name === undefined ? null : storableText(name, nameCharsMax),
    type: storableText(type.toLowerCase(), nameCharsMax),
    bytes: content.length,
    sha256: hash('sha256', content, 'hex'),
  }))
}

/**
 * Why an attached file was not read, or not to its end: it is damaged or locked, it exceeds the
 * limits on memory or on pixels, it takes too long, or the readers had no time for it.
 */
export type FileFault = 'unreadable' | 'too-large' | 'too-slow' | 'unread'
