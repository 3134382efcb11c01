import { openSaved, type SavedMessage } from '../mail/containers/saved-message.ts'
import type { ReadMessage } from '../mail/message.ts'
import { exceedsLimits } from '../mail/mime-leaves.ts'

/** Limits for the size and structure of a message. */
export type MessageLimits = {
  bytesMax: number
  headersMax: number
  partsMax: number
  nestingMax: number
}

/** Limits well above real mail: the corpus has at most 250 header fields, 40 parts and 6 levels. */
export const structureLimits = { headersMax: 2_000, partsMax: 1_000, nestingMax: 30 }

/** The reason why a message is rejected; `status` is an HTTP status. */
type Refusal = {
  status: 400 | 413 | 422
  reason:
    | 'not-a-message'
    | 'several-messages'
    | 'too-big'
    | 'too-many-headers'
    | 'too-many-parts'
    | 'nested-too-deep'
  detail: string
  /** The line of the input that is wrong, from one. */
  line?: number
}

/** A message within the limits, or the reason for its refusal. */
export type Fit = { message: ReadMessage } | { refusal: Refusal }

/**
 * Finds the message in the given bytes, and checks it. Takes linear time, and runs once for each
 * message, before anything is stored.
 */
export function readReported(bytes: Buffer, limits: MessageLimits): Fit {
  if (bytes.length > limits.bytesMax) {
    return {
      refusal: {
        status: 413,
        reason: 'too-big',
        detail: `The message has ${bytes.length} bytes. At most ${limits.bytesMax} are allowed.`,
      },
    }
  }
  const saved = openSaved(bytes)
  if (!('message' in saved)) return { refusal: faultOf(saved) }
  const refusal = refusals[exceedsLimits(saved.message.raw, limits) ?? 'none']
  return refusal ? { refusal } : saved
}

function faultOf(fault: Exclude<SavedMessage, { message: unknown }>): Refusal {
  if (fault.refusal === 'several-messages') {
    return {
      status: 422,
      reason: 'several-messages',
      detail:
        'This is a mailbox with several messages. Send each message by itself, or send the ' +
        'mailbox as a file (application/mbox).',
    }
  }
  const { line, text } = fault
  const where =
    line === undefined ? '' : `Line ${line} (${JSON.stringify(text)}) is not part of a header. `
  return {
    status: 400,
    reason: 'not-a-message',
    detail:
      `This is not a mail message with its header. ${where}Send the complete source, ` +
      'beginning with lines such as "Received:" or "From:".',
    ...(line !== undefined && { line }),
  }
}

const refusals: Record<'headers' | 'parts' | 'nesting' | 'none', Refusal | undefined> = {
  none: undefined,
  headers: {
    status: 422,
    reason: 'too-many-headers',
    detail: `The message has more than ${structureLimits.headersMax} header fields.`,
  },
  parts: {
    status: 422,
    reason: 'too-many-parts',
    detail: `The message has more than ${structureLimits.partsMax} parts.`,
  },
  nesting: {
    status: 422,
    reason: 'nested-too-deep',
    detail: `The message is nested more than ${structureLimits.nestingMax} levels deep.`,
  },
}
