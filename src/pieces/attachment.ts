import { hash } from 'node:crypto'
import type { BodyAttachment } from '../mail/message-body.ts'
import { storableText } from '../mail/text.ts'
import { type FileContents, joinedContents } from './file-contents.ts'

/** An attachment, identified by its checksum; its content is not stored. */
export type Attachment = {
  name: string | null
  /** The declared media type, in lower case. */
  type: string
  bytes: number
  /** The SHA-256 of the decoded content, in hexadecimal. */
  sha256: string
  /** What is inside; absent if nothing is, and in analyses stored before this field existed. */
  contents?: FileContents
}

/** What was found inside a file when it was unpacked. */
export type UnpackedContents = FileContents & { sha256: string }

const attachmentsMax = 100
const nameCharsMax = 255

/**
 * Returns names, sizes, checksums and contents of at most 100 attachments, in order: what was found
 * in each of them without unpacking, and what was found in unpacked files.
 */
export function describeAttachments(
  attachments: readonly BodyAttachment[],
  contents: readonly (FileContents | undefined)[] = [],
  unpacked: readonly UnpackedContents[] = [],
): Attachment[] {
  return attachments.slice(0, attachmentsMax).map(({ name, type, content }, at) => {
    const sha256 = hash('sha256', content, 'hex')
    const { sha256: _, ...inside } = unpacked.find((one) => one.sha256 === sha256) ?? {}
    const all = joinedContents(contents[at], inside)
    return {
      name: name === undefined ? null : storableText(name, nameCharsMax),
      type: storableText(type.toLowerCase(), nameCharsMax),
      bytes: content.length,
      sha256,
      ...(all && Object.keys(all).length > 0 && { contents: all }),
    }
  })
}

/**
 * Why an attached file was not read, or not to its end: it is damaged or locked, it exceeds the
 * limits on memory or on pixels, it takes too long, or the readers had no time for it.
 */
export type FileFault = 'unreadable' | 'too-large' | 'too-slow' | 'unread'
