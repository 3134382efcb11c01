import { openSaved, type SavedMessage } from '../mail/containers/saved-message.ts'
import { looksLikeMessage } from '../mail/header.ts'
import { fieldsOf, readMessage, type ReadMessage } from '../mail/message.ts'
import { networkSet } from '../mail/ip.ts'
import { exceedsLimits } from '../mail/mime-leaves.ts'
import { wrapperOf } from '../mail/wrapper.ts'

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
  reason:
    | 'not-a-message'
    | 'several-messages'
    | 'choose-message'
    | 'too-big'
    | 'too-many-headers'
    | 'too-many-parts'
    | 'nested-too-deep'
  detail: string
  /** The line of the input that is wrong, from one. */
  line?: number
  /** The messages between which the reporter has to choose. */
  choices?: readonly Choice[]
}

/** What a reporter may report of a message that carries another one. */
export const choices = ['attached', 'whole'] as const
export type ChoiceName = (typeof choices)[number]

/** One of the messages between which a reporter chooses. */
export type Choice = {
  report: ChoiceName
  from: string | null
  subject: string | null
  date: string | null
}

/** Who reports: what proves that a message was wrapped on their side, and what they chose. */
export type ReportedBy = {
  /** The address of the account. */
  reporter: string
  /** CIDR blocks of the relays that the reporter trusts. */
  relays?: readonly string[]
  choice?: ChoiceName | undefined
  /** Whether nobody can be asked: then a message is reported whole if nothing is proven. */
  isUnasked?: boolean
}

/** A message within the limits, or the reason for its refusal. */
export type Fit = { message: ReadMessage } | { refusal: Refusal }

/**
 * Finds the message in the given bytes, and checks it. If it only carries another message, and `by`
 * is given, returns that one, or asks which of them is reported. Bytes `as-received` from its
 * sender are the message. Takes linear time, and runs once for each message, before anything is
 * stored.
 */
export function readReported(
  bytes: Buffer,
  limits: MessageLimits,
  by?: ReportedBy | 'as-received',
): Fit {
  if (bytes.length > limits.bytesMax) {
    return {
      refusal: {
        status: 413,
        reason: 'too-big',
        detail: `The message has ${bytes.length} bytes. At most ${limits.bytesMax} are allowed.`,
      },
    }
  }
  const saved = by === 'as-received' ? asReceived(bytes) : openSaved(bytes)
  if (!('message' in saved)) return { refusal: faultOf(saved) }
  const whole = withinLimits(saved.message, limits)
  if ('refusal' in whole || !by || by === 'as-received' || by.choice === 'whole') return whole
  const fit = unwrapped(whole.message, by)
  return 'refusal' in fit || fit.message === whole.message ? fit : withinLimits(fit.message, limits)
}

/** A sender must not choose how its message is read, or escape by something to be removed. */
function asReceived(bytes: Buffer): SavedMessage {
  const message = readMessage(bytes)
  return looksLikeMessage(message.header) ? { message } : { refusal: 'not-a-message' }
}

/** Also for a message that was carried: its transfer encoding hid its structure. */
function withinLimits(message: ReadMessage, limits: MessageLimits): Fit {
  const refusal = refusals[exceedsLimits(message.raw, limits) ?? 'none']
  return refusal ? { refusal } : { message }
}

const WRAPPERS_MAX = 5

/** Finds the message in a message that only carries it, and in that one again. */
function unwrapped(given: ReadMessage, by: ReportedBy): Fit {
  const { reporter, relays = [], choice, isUnasked } = by
  const side = { reporter, relays: networkSet(relays) }
  let message = given
  for (let depth = 0; depth < WRAPPERS_MAX; depth++) {
    const wrapper = wrapperOf(message.raw, side)
    if (!wrapper) break
    const [first, ...others] = wrapper.messages.map(openSaved)
    const isChosen = depth === 0 && choice === 'attached'
    if (!first || !('message' in first)) break
    if (!wrapper.isProven && !isChosen) {
      // What the reporter chose is reported, whatever it carries.
      if (choice === 'attached' || isUnasked) break
      return { refusal: askFor(given, first.message) }
    }
    if (others.length > 0 && isUnasked) break
    if (others.length > 0) return { refusal: severalAttached(others.length + 1) }
    message = first.message
  }
  return { message }
}

function askFor(whole: ReadMessage, attached: ReadMessage): Refusal {
  const shown = (report: ChoiceName, { header }: ReadMessage): Choice => {
    const { from, subject, date } = fieldsOf(header.fields)
    return { report, from, subject, date }
  }
  return {
    status: 422,
    reason: 'choose-message',
    detail:
      'This message carries another one. Send it again with report=attached to report the ' +
      'attached message, or with report=whole to report the message that you sent.',
    choices: [shown('attached', attached), shown('whole', whole)],
  }
}

function severalAttached(count: number): Refusal {
  return {
    status: 422,
    reason: 'several-messages',
    detail: `This mail carries ${count} messages. Send each of them by itself.`,
  }
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
