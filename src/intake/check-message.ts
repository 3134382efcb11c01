import { looksLikeMessage, type ReadMessage } from '../mail/message.ts'
import { exceedsLimits } from '../mail/structure.ts'

/** What a message may be at most. */
export type MessageLimits = {
  bytesMax: number
  headersMax: number
  partsMax: number
  nestingMax: number
}

/** Generous to real mail: the corpus holds none above 250 header fields, 40 parts, 6 levels. */
export const structureLimits = { headersMax: 2_000, partsMax: 1_000, nestingMax: 30 }

/** Why a message is not taken in; `status` as HTTP has it. */
export type Refusal = {
  status: 400 | 413 | 422
  reason: 'not-a-message' | 'too-big' | 'too-many-headers' | 'too-many-parts' | 'nested-too-deep'
  detail: string
}

/** Looks at the bytes once, in linear time, before anything is stored. */
export function refusalOf(
  { raw, header }: ReadMessage,
  limits: MessageLimits,
): Refusal | undefined {
  if (raw.length > limits.bytesMax) {
    return {
      status: 413,
      reason: 'too-big',
      detail: `The message has ${raw.length} bytes; at most ${limits.bytesMax} are taken.`,
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
