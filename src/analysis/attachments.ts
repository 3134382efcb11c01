import { hash } from 'node:crypto'
import type { BodyAttachment } from '../mail/body.ts'
import { storableText } from '../mail/storable-text.ts'

/** A file that came with the message, known by its checksum; its content is not kept. */
export type Attachment = {
  name: string | null
  /** The media type it claims, in lower case. */
  type: string
  bytes: number
  /** Of the decoded content, in hexadecimal. */
  sha256: string
}

const attachmentsMax = 100
const nameCharsMax = 255

/** Names, sizes and checksums of at most 100 attachments, in order. */
export function describeAttachments(attachments: readonly BodyAttachment[]): Attachment[] {
  return attachments.slice(0, attachmentsMax).map(({ name, type, content }) => ({
    name: name === undefined ? null : storableText(name, nameCharsMax),
    type: storableText(type.toLowerCase(), nameCharsMax),
    bytes: content.length,
    sha256: hash('sha256', content, 'hex'),
  }))
}
