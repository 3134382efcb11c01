import type { Reporter } from '../../db/reporters.ts'
import type { Channel } from '../../db/reports.ts'
import {
  createUnpackUpload,
  UPLOAD_MESSAGES_MAX,
  uploadLimits,
  type UnpackUpload,
  type Unpacker,
} from '../../intake/unpack-upload.ts'
import { containerOf, type RebuiltFrom, type Unpacked } from '../../mail/containers/unpack-file.ts'
import { ProblemError } from '../problem.ts'
import type { Outcome, Remarks, Submit } from '../submit.ts'

/** A file of a request; `isCut` when it had more bytes than a file may have. */
export type UploadedFile = { name: string; bytes: Buffer; isCut: boolean }

/** What became of one message of an upload; `name` leads to it: `spam.zip › 3.eml`. */
export type UploadLine = { name: string; outcome: Outcome; rebuiltFrom?: RebuiltFrom | undefined }

/** What goes with the files of one upload. */
export type Upload = { reporter: Reporter; channel: Channel; remarks: Remarks }

/** What is asked before an upload is opened, of one message; then of how many more there are. */
export type AdmitMessages = (messages: number) => Promise<'admitted' | 'shadowed'>

/**
 * Takes the messages out of files of any form and submits them, each by itself: one that is
 * refused holds up no other. A line for each message, in their order.
 */
export type TakeUpload = (
  files: readonly UploadedFile[],
  upload: Upload,
  admit?: AdmitMessages,
) => Promise<UploadLine[]>

/** What unpacked messages are in memory at once, as uploads; others wait. */
const UNPACKED_UPLOADS_MAX = 2
/** So many messages of one upload are submitted at once. */
const TOGETHER_MAX = 64
/** Who sends more of them wears us out; the rest of the upload is left closed. */
const DAMAGED_MAX = 10

const reasons = {
  'no-header':
    'This Outlook file holds no header as the message was received ' +
    '(PR_TRANSPORT_MESSAGE_HEADERS). ' +
    'Save the message as .eml, or send its source.',
  'not-a-message': 'There is no mail message in this file.',
  'damaged-archive': 'The file is damaged, took too long, or is packed in a way not read here.',
  'encrypted-archive': 'The archive is encrypted. Pack it without a password.',
  'nested-archive': 'An archive inside an archive is not opened. Send it by itself.',
  'too-many-messages': `One upload may hold at most ${UPLOAD_MESSAGES_MAX} messages.`,
  'unpacks-too-big': 'What is in the archive is bigger than one upload may be.',
  'too-big': 'The file has more bytes than one file may have.',
} as const

type Needs = { submit: Submit; unpack: Unpacker; messageBytesMax: number }

/** The upload station of one web process. */
export function createTakeUpload({ submit, unpack, messageBytesMax }: Needs): TakeUpload {
  const limits = uploadLimits(messageBytesMax)
  const unpackUpload = createUnpackUpload(unpack, limits)
  const inTurn = createTurns(UNPACKED_UPLOADS_MAX)
  return async (files, upload, admit) => {
    // Before anything is opened: for who is refused nothing need be.
    const entry = await admit?.(1)
    const take = async () => {
      const found = await unpackAll(files, unpackUpload, limits.unpackedBytesMax)
      const more = found.length - 1
      const rest = more > 0 ? await admit?.(more) : entry
      const admission = [entry, rest].includes('shadowed') ? 'shadowed' : 'admitted'
      return submitAll(found, { ...upload, admission }, submit)
    }
    const isBare = files.every(({ bytes }) => containerOf(bytes) === undefined)
    return isBare ? take() : inTurn(take)
  }
}

type Found = Unpacked | { name: string; refusal: 'too-big' }

/** The limits are of all files together. */
async function unpackAll(
  files: readonly UploadedFile[],
  unpackUpload: UnpackUpload,
  unpackedBytesMax: number,
): Promise<Found[]> {
  const found: Found[] = []
  let messages = UPLOAD_MESSAGES_MAX
  let bytesLeft = unpackedBytesMax
  let damaged = 0
  for (const { name, bytes, isCut } of files) {
    if (isCut || messages <= 0) {
      found.push({ name, refusal: isCut ? 'too-big' : 'too-many-messages' })
      continue
    }
    if (damaged >= DAMAGED_MAX && containerOf(bytes) !== undefined) {
      found.push({ name, refusal: 'damaged-archive' })
      continue
    }
    const left = { messagesMax: messages, unpackedBytesMax: bytesLeft }
    const inside = await unpackUpload(bytes, name, left)
    messages -= inside.length
    if (inside.some((one) => 'refusal' in one && one.refusal === 'damaged-archive')) damaged++
    for (const one of inside) if ('raw' in one) bytesLeft -= one.raw.length
    found.push(...inside)
  }
  return found
}

type Admitted = Upload & { admission: 'admitted' | 'shadowed' }

async function submitAll(
  found: readonly Found[],
  { reporter, channel, remarks, admission }: Admitted,
  submit: Submit,
): Promise<UploadLine[]> {
  const lineOf = async (one: Found): Promise<UploadLine> => {
    const { name } = one
    if ('refusal' in one) {
      const refusal = new ProblemError(one.refusal, reasons[one.refusal])
      return { name, outcome: { taken: false, refusal } }
    }
    const { rebuiltFrom } = one
    const all = rebuiltFrom ? { ...remarks, rebuiltFrom } : remarks
    return { name, outcome: await submit(reporter, channel, one.raw, all, admission), rebuiltFrom }
  }
  const lines: UploadLine[] = []
  for (let at = 0; at < found.length; at += TOGETHER_MAX) {
    lines.push(...(await Promise.all(found.slice(at, at + TOGETHER_MAX).map(lineOf))))
  }
  return lines
}

/** Runs as many pieces of work at once as there are `places`; the others in their order. */
function createTurns(places: number) {
  const waiting: (() => void)[] = []
  let free = places
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
