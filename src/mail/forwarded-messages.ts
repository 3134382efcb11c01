import { looksCompound } from './containers/compound-file.ts'
import { looksMbox, splitMbox } from './containers/mailbox-file.ts'
import type { AttachedMessage, OutlookMessage } from './containers/outlook-message.ts'
import { looksTnef } from './containers/tnef.ts'
import { messageAtStart } from './message.ts'
import { leafBytes, type MimeLeaf } from './mime-leaves.ts'
import { isMarkedOriginal, isMessage, isNamedMessage, openedLeaves, wrapperOf } from './wrapper.ts'

export type ForwardedMessages = {
  /** The attached messages in their order, with the exact bytes that were attached. */
  messages: Buffer[]
  /** The number of further messages, beyond the maximum for one mail. */
  beyond: number
  /**
   * The number of attachments that may contain messages but cannot be read: archives, files of
   * Outlook without a header, and wrappers that may come from an untrusted sender.
   */
  unreadable: number
  /** Those of the messages that were rebuilt from a file of Outlook; absent if there are none. */
  rebuilt?: ReadonlySet<Buffer>
}

/** The reporter who forwards, and the maximum number of messages. */
export type ForwardLimits = {
  /** The address of the reporter's account. */
  reporter: string
  messagesMax: number
  /** Read files of Outlook; without them, such files are not opened. */
  outlook?: {
    readOutlookMessage: (bytes: Buffer) => OutlookMessage
    messagesInTnef: (bytes: Buffer) => AttachedMessage[]
  }
}

const wrappersMax = 5
const archiveType = /^application\/(?:x-)?(?:zip|gzip|7z|rar|tar|zip-compressed|rar-compressed)/
const unreadableType =
  /^application\/(?:vnd\.ms-outlook|ms-tnef|vnd\.ms-tnef|x-7z-compressed|vnd\.rar|mbox)$/
const unreadableName = /\.(?:zip|gz|tgz|7z|rar|tar|msg|mbox|pst)$|^winmail\.dat$/i

/**
 * Extracts the attached messages of a mail: `message/rfc822` parts and files named `.eml`, with any
 * type and transfer encoding, other files with the bytes of a message, Outlook's files, mailboxes,
 * and what is inside an opaque signature. A message attached to one of these messages is part of
 * its content and is not extracted. Exception: if an attached message is a wrapper that is proven
 * to be of the reporter's side, the messages in it are extracted. Pure, linear in the mail's size,
 * and never throws.
 */
export function forwardedMessages(raw: Buffer, limits: ForwardLimits): ForwardedMessages {
  const found: Found = { messages: [], beyond: 0, unreadable: 0, rebuilt: new Set() }
  collect(openedLeaves(raw), 0, limits, found)
  const { rebuilt, ...plain } = found
  return rebuilt.size > 0 ? found : plain
}

type Found = ForwardedMessages & { rebuilt: Set<Buffer> }

function collect(
  leaves: readonly MimeLeaf[],
  depth: number,
  limits: ForwardLimits,
  found: Found,
): void {
  for (const leaf of leaves) {
    const inside = insideOf(leaf, limits)
    if (inside === 'unreadable') found.unreadable += 1
    if (typeof inside === 'string') continue
    for (const { raw, isRebuilt } of inside) {
      if (found.messages.length >= limits.messagesMax) found.beyond += 1
      else take(raw, isRebuilt, { depth, limits, found })
    }
  }
}

type Place = { depth: number; limits: ForwardLimits; found: Found }

function take(raw: Buffer, isRebuilt: boolean, { depth, limits, found }: Place): void {
  const wrapper = depth < wrappersMax ? wrapperOf(raw, limits) : undefined
  if (!wrapper) {
    found.messages.push(raw)
    if (isRebuilt) found.rebuilt.add(raw)
  } else if (wrapper.isProven) collect(openedLeaves(raw), depth + 1, limits, found)
  else found.unreadable += 1
}

type Inside = readonly { raw: Buffer; isRebuilt: boolean }[]

/** The messages of a part; `other` for a part that can have none. */
function insideOf(
  leaf: MimeLeaf,
  { messagesMax, outlook }: ForwardLimits,
): Inside | 'unreadable' | 'other' {
  if (isUnreadable(leaf) ? isNamedMessage(leaf) : isMessage(leaf)) {
    const bytes = leafBytes(leaf)
    return bytes ? [{ raw: messageAtStart(bytes) ?? bytes, isRebuilt: false }] : 'unreadable'
  }
  if (isMarkedOriginal(leaf)) {
    const bytes = leafBytes(leaf)
    return bytes ? [{ raw: bytes, isRebuilt: false }] : 'unreadable'
  }
  if (!isUnreadable(leaf)) return 'other'
  const bytes = leafBytes(leaf) ?? Buffer.alloc(0)
  if (outlook && looksCompound(bytes)) {
    const read = outlook.readOutlookMessage(bytes)
    return 'raw' in read ? [{ raw: read.raw, isRebuilt: true }] : 'unreadable'
  }
  if (outlook && looksTnef(bytes)) {
    const attached = outlook.messagesInTnef(bytes)
    const read = attached.flatMap(({ raw, isRebuilt }) => (raw ? [{ raw, isRebuilt }] : []))
    return read.length > 0 ? read : 'unreadable'
  }
  const messages = looksMbox(bytes) ? splitMbox(bytes, messagesMax).messages : []
  return messages.length > 0 ? messages.map((raw) => ({ raw, isRebuilt: false })) : 'unreadable'
}

function isUnreadable({ type, name }: MimeLeaf): boolean {
  return (
    archiveType.test(type) || unreadableType.test(type) || unreadableName.test(name?.trim() ?? '')
  )
}
