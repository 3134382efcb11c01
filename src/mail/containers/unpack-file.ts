import { looksCompound } from './compound-file.ts'
import { looksEmlx, readEmlx } from './emlx.ts'
import { looksMbox, splitMbox } from './mbox.ts'
import { readOutlookMessage } from './outlook-message.ts'
import { type EntryRefusal, looksZip, readZip } from './zip.ts'

/** Of what a message was put together anew, where nobody has its own bytes. */
export type RebuiltFrom = 'msg'

/** Why a file, or a file inside it, gives no message. */
export type UnpackRefusal =
  EntryRefusal | 'no-header' | 'not-a-message' | 'too-many-messages' | 'nested-archive'

/** One message of a file, or why there is none; `name` leads to it: `spam.zip › 3.eml`. */
export type Unpacked = { name: string } & (
  { raw: Buffer; rebuiltFrom?: RebuiltFrom } | { refusal: UnpackRefusal }
)

/** A file as somebody gave it. The name is shown, and nothing else. */
export type GivenFile = { name: string; bytes: Buffer }

/** What one file may come to, with all that is inside it. */
export type UnpackLimits = { messagesMax: number; entriesMax: number; unpackedBytesMax: number }

type Container = 'zip' | 'msg' | 'mbox' | 'emlx'

/**
 * What holds messages, told by its first bytes and never by its name; undefined for what can only
 * be a message itself. Cheap, however large the file.
 */
export function containerOf(bytes: Buffer): Container | undefined {
  if (looksZip(bytes)) return 'zip'
  if (looksCompound(bytes)) return 'msg'
  if (looksEmlx(bytes)) return 'emlx'
  return looksMbox(bytes) ? 'mbox' : undefined
}

/**
 * The messages of a file: of a zip archive of mails, of a mailbox file, of what Outlook or Apple
 * Mail saved; any other file is given back as the one message it may be. What is inside an archive
 * may be any of these but another archive. At most `messagesMax` are given; who gave more is told.
 * Bounded in time and memory by the limits and the bytes given, and never throws.
 */
export async function unpackFile(file: GivenFile, limits: UnpackLimits): Promise<Unpacked[]> {
  if (containerOf(file.bytes) !== 'zip') return capped(opened(file, limits), file.name, limits)
  const zip = await readZip(file.bytes, limits)
  if ('refusal' in zip) return [{ name: file.name, refusal: zip.refusal }]
  if (zip.entries.length === 0) return [{ name: file.name, refusal: 'not-a-message' }]
  const found: Unpacked[] = []
  for (const entry of zip.entries) {
    if (found.length > limits.messagesMax) break
    const name = `${file.name} › ${entry.name}`
    if ('refusal' in entry) found.push({ name, refusal: entry.refusal })
    else found.push(...inside({ name, bytes: entry.content }, limits))
  }
  return capped(found, file.name, limits)
}

function inside(file: GivenFile, limits: UnpackLimits): Unpacked[] {
  const isArchive = containerOf(file.bytes) === 'zip'
  return isArchive ? [{ name: file.name, refusal: 'nested-archive' }] : opened(file, limits)
}

function opened({ name, bytes }: GivenFile, limits: UnpackLimits): Unpacked[] {
  switch (containerOf(bytes)) {
    case 'msg': {
      const read = readOutlookMessage(bytes)
      return [{ name, ...('raw' in read ? { ...read, rebuiltFrom: 'msg' } : read) }]
    }
    case 'emlx':
      return [{ name, raw: readEmlx(bytes) }]
    case 'mbox': {
      const { messages, isCut } = splitMbox(bytes, limits.messagesMax)
      // One message with the line `From ` before it, as mail servers keep it.
      if (messages.length === 1 && !isCut) return [{ name, raw: bytes }]
      const found = messages.map((raw, at): Unpacked => ({ name: `${name} › ${at + 1}`, raw }))
      return isCut ? [...found, { name, refusal: 'too-many-messages' }] : found
    }
    default:
      return [{ name, raw: bytes }]
  }
}

function capped(found: Unpacked[], name: string, { messagesMax }: UnpackLimits): Unpacked[] {
  if (found.length <= messagesMax) return found
  return [...found.slice(0, messagesMax), { name, refusal: 'too-many-messages' }]
}
