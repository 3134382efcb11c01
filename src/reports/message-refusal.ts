import { looksLikeMessage, type ReadMessage } from '../mail/message.ts'
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
export type Refusal = {
  status: 400 | 413 | 422
  reason: 'not-a-message' | 'too-big' | 'too-many-headers' | 'too-many-parts' | 'nested-too-deep'
  detail: string
}

/**
 * Returns why a message is refused; undefined if it is accepted. Takes linear time, and runs once
 * for each message, before anything is stored.
 */
export function messageRefusal(
  { raw, header }: ReadMessage,
  limits: MessageLimits,
): Refusal | undefined {
  if (raw.length > limits.bytesMax) {
    return {
      status: 413,
      reason: 'too-big',
      detail: `The message has ${raw.length} bytes. At most ${limits.bytesMax} are allowed.`,
    }
  }
  if (!looksLikeMessage(header)) {
    return {
      status: 400,
      reason: 'not-a-message',
      detail:
        'This is not a mail message with its header. Send the complete source, ' +
        'beginning with lines such as "Received:" or "From:".',
    }
  }
  return refusals[exceedsLimits(raw, limits) ?? 'none']
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
