import type { Reporter } from '../../db/reporters.ts'
import type { Channel } from '../../db/reports.ts'
import {
  containerOf,
  type RebuiltFrom,
  type Unpacked,
  type UnpackLimits,
} from '../../mail/containers/unpack-file.ts'
import {
  createUnpackUpload,
  type Unpacker,
  type UnpackUpload,
  UPLOAD_MESSAGES_MAX,
  uploadLimits,
} from '../../reports/accept-report.ts'
import { systemElapsed } from '../../world.ts'
import { createTurns } from '../bodies/body-pool.ts'
import { AbortedError } from '../bodies/read-body.ts'
import { ProblemError } from '../problem.ts'
import type { SubmitOutcome, Remarks, Submit } from '../submit.ts'

/** A file of a request; `isCut` if it was truncated at the size limit. */
export type UploadedFile = { name: string; bytes: Buffer; isCut: boolean }

/** The result of one message of an upload; `name` is its path, such as `spam.zip › 3.eml`. */
export type UploadLine = {
  name: string
  outcome: SubmitOutcome
  rebuiltFrom?: RebuiltFrom | undefined
  /** The bytes of the message, if its reporter has to choose what to report of it. */
  raw?: Buffer
}

export type Upload = {
  reporter: Reporter
  channel: Channel
  remarks: Remarks
  /** The result of `admit` for the first message, before any file is opened. */
  entry: Admission
  /** Admits the other messages when their number is known. */
  admitMore: (messages: number) => Promise<Admission>
  /** Aborted when the client disconnects; pending work is then skipped. */
  gone: AbortSignal
}

type Admission = 'admitted' | 'shadowed'

/**
 * Extracts the messages from files of any supported format and submits each separately: a refused
 * one does not affect the others. Returns one line per message, in order.
 */
export type TakeUpload = (files: readonly UploadedFile[], upload: Upload) => Promise<UploadLine[]>

/**
 * Maximum number of uploads whose unpacked messages are in memory at the same time; others wait.
 */
const UNPACKED_UPLOADS_MAX = 2
/** Time limit in milliseconds for unpacking an upload; the remaining files stay unopened. */
const UNPACKING_MS_MAX = 15_000
/** Maximum number of messages of one upload that are submitted concurrently. */
const TOGETHER_MAX = 64
/** Number of damaged files after which the rest of an upload stays unopened. */
const DAMAGED_MAX = 10

const reasons = {
  'no-header':
    'This Outlook file does not contain the header with which the message was received ' +
    '(PR_TRANSPORT_MESSAGE_HEADERS). ' +
    'Save the message as .eml, or send its source.',
  'not-a-message': 'There is no mail message in this file.',
  'outlook-data-file':
    'This is a data file of Outlook (.pst or .ost), which holds whole mailboxes. Drag the ' +
    'messages from Outlook to a folder, and send the .msg files, together in a .zip if you like.',
  'damaged-archive': 'The file is damaged, takes too long to unpack, or has an unsupported format.',
  'encrypted-archive': 'The archive is encrypted. Pack it without a password.',
  'nested-archive': 'An archive inside an archive is not opened. Send it separately.',
  'too-many-messages': `An upload may contain at most ${UPLOAD_MESSAGES_MAX} messages.`,
  'unpacks-too-big': 'The unpacked archive is too large for one upload.',
  'too-big': 'The file is too large.',
} as const

/** Returns the problem of a file that cannot be opened, or of a message that cannot be read. */
export function refusalOf(refusal: keyof typeof reasons): ProblemError {
  return new ProblemError(refusal, reasons[refusal])
}

type Needs = { submit: Submit; unpack: Unpacker; messageBytesMax: number }

/** The owner of files that are only looked into. */
type Looker = { reporterId: string; gone: AbortSignal }

/** Extracts the messages from files like `TakeUpload`, without submitting them. */
export type LookInto = (files: readonly UploadedFile[], looker: Looker) => Promise<Found[]>

/** Creates the handlers of uploads of one web process. Both share the limits of unpacking. */
export function createUploads({ submit, unpack, messageBytesMax }: Needs): {
  takeUpload: TakeUpload
  lookInto: LookInto
} {
  const limits = uploadLimits(messageBytesMax)
  const unpackUpload = createUnpackUpload(unpack, limits)
  const inTurn = createTurns(UNPACKED_UPLOADS_MAX, messageBytesMax)
  const inOwnTurn = <T>(
    files: readonly UploadedFile[],
    { reporterId, gone }: Looker,
    use: (found: Found[]) => Promise<T>,
  ): Promise<T> => {
    const work = async () => use(await unpackAll(files, { unpackUpload, gone, limits }))
    if (files.every(({ bytes }) => containerOf(bytes) === undefined)) return work()
    const bytes = files.reduce((sum, one) => sum + one.bytes.length, 0)
    return inTurn({ reporterId, bytes, gone }, work)
  }
  return {
    lookInto: (files, looker) => inOwnTurn(files, looker, (found) => Promise.resolve(found)),
    takeUpload: (files, upload) =>
      inOwnTurn(files, { ...upload, reporterId: upload.reporter.id }, async (found) => {
        const entry = await admitAll(found.length, upload)
        return submitAll(found, { ...upload, entry }, submit)
      }),
  }
}

async function admitAll(messages: number, { entry, admitMore }: Upload): Promise<Admission> {
  const rest = messages > 1 ? await admitMore(messages - 1) : entry
  return [entry, rest].includes('shadowed') ? 'shadowed' : 'admitted'
}

type Found = Unpacked | { name: string; refusal: 'too-big' }

type Opening = { unpackUpload: UnpackUpload; gone: AbortSignal; limits: UnpackLimits }

/** Unpacks all files of an upload; the size and time limits apply to all of them together. */
async function unpackAll(
  files: readonly UploadedFile[],
  { unpackUpload, gone, limits }: Opening,
): Promise<Found[]> {
  const found: Found[] = []
  let { messagesMax, unpackedBytesMax } = limits
  let damaged = 0
  const endsAt = systemElapsed() + UNPACKING_MS_MAX
  for (const { name, bytes, isCut } of files) {
    if (gone.aborted) throw new AbortedError('the client went away')
    if (isCut || messagesMax <= 0) {
      found.push({ name, refusal: isCut ? 'too-big' : 'too-many-messages' })
      continue
    }
    const msMax = Math.floor(endsAt - systemElapsed())
    if ((damaged >= DAMAGED_MAX || msMax <= 0) && containerOf(bytes) !== undefined) {
      found.push({ name, refusal: 'damaged-archive' })
      continue
    }
    const inside = await unpackUpload(bytes, name, { messagesMax, unpackedBytesMax, msMax })
    messagesMax -= inside.length
    if (inside.some((one) => 'refusal' in one && one.refusal === 'damaged-archive')) damaged++
    for (const one of inside) if ('raw' in one) unpackedBytesMax -= one.raw.length
    found.push(...inside)
  }
  return found
}

async function submitAll(
  found: readonly Found[],
  { reporter, channel, remarks, entry }: Upload,
  submit: Submit,
): Promise<UploadLine[]> {
  const lineOf = async (one: Found): Promise<UploadLine> => {
    const { name } = one
    if ('refusal' in one) {
      return { name, outcome: { taken: false, refusal: refusalOf(one.refusal) } }
    }
    const { rebuiltFrom } = one
    const all = rebuiltFrom ? { ...remarks, rebuiltFrom } : remarks
    const outcome = await submit(reporter, channel, one.raw, all, entry)
    const isAsked = !outcome.taken && outcome.refusal.problem === 'choose-message'
    return { name, outcome, rebuiltFrom, ...(isAsked && { raw: one.raw }) }
  }
  const lines: UploadLine[] = []
  for (let at = 0; at < found.length; at += TOGETHER_MAX) {
    lines.push(...(await Promise.all(found.slice(at, at + TOGETHER_MAX).map(lineOf))))
  }
  return lines
}
