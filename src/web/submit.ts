import type { Reporter } from '../db/reporters.ts'
import type { Channel, ReportKind } from '../db/reports.ts'
import type { RebuiltFrom } from '../mail/containers/unpack-file.ts'
import { parseRelayBlock, type RelayRefusal } from '../mail/ip-blocks.ts'
import { shownLine, storableText } from '../mail/text.ts'
import type { AcceptedReport, Intake } from '../reports/accept-report.ts'
import { type ChoiceName, choices } from '../reports/message-refusal.ts'
import type { BodyPool } from './bodies/body-pool.ts'
import type { IntakeMetrics } from './metrics.ts'
import { ProblemError } from './problem.ts'

/** Why a block is not accepted as relays: the end of a sentence that starts with the block. */
export const refusalWords: Readonly<Record<RelayRefusal, string>> = {
  unreadable: 'is neither an IP address nor a CIDR block, such as 192.0.2.0/24.',
  'too-wide': 'is too wide: at most a /16, or a /32 for IPv6.',
  'link-local': 'is a link-local address, which is not unique.',
  reserved: 'is reserved and cannot be the address of a machine.',
}

const COMMENT_CHARS_MAX = 2_000
const RECEIVED_VIA_MAX = 100
const ENTRY_CHARS_SHOWN = 50

const kinds = new Map<string, ReportKind>([
  ['spam', 'spam'],
  ['phishing', 'phishing'],
  ['not-spam', 'not-spam'],
  ['not_spam', 'not-spam'],
])

/** The remarks of a request as sent by the client; absent or empty means no statement. */
export type GivenRemarks = {
  kind?: string | undefined
  comment?: string | undefined
  /** Each text contains an address or a CIDR block, or several, separated by commas or spaces. */
  receivedVia?: readonly string[] | undefined
  /** Which message is reported if one carries another. */
  report?: string | undefined
}

/**
 * Parses remarks.
 *
 * @throws ProblemError 422 naming the field and its valid values
 */
export function parseRemarks(given: GivenRemarks): Remarks {
  return {
    kind: parseKind(given.kind),
    comment: parseComment(given.comment),
    receivedVia: parseRelays(given.receivedVia ?? []),
    ...parseChoice(given.report),
  }
}

function parseChoice(text = ''): Pick<Remarks, 'choice'> {
  if (text === '') return {}
  const choice = choices.find((one) => one === text)
  if (choice) return { choice }
  throw new ProblemError('bad-field', `report must be ${choices.join(' or ')}.`)
}

function parseKind(text: string | undefined): ReportKind {
  const kind = kinds.get(text?.trim().toLowerCase() || 'spam')
  if (kind) return kind
  throw new ProblemError('bad-field', 'kind must be spam, phishing or not-spam.')
}

function parseComment(text: string | undefined): string | null {
  const comment = text?.trim() ?? ''
  if (comment.length > COMMENT_CHARS_MAX) {
    throw new ProblemError('bad-field', `comment may have at most ${COMMENT_CHARS_MAX} characters.`)
  }
  return comment === '' ? null : storableText(comment, COMMENT_CHARS_MAX)
}

function parseRelays(given: readonly string[]): string[] {
  const texts = given.flatMap((text) => text.slice(0, 10_000).split(/[\s,]+/)).filter(Boolean)
  if (texts.length > RECEIVED_VIA_MAX) {
    throw new ProblemError('bad-field', `received_via may name at most ${RECEIVED_VIA_MAX} relays.`)
  }
  return texts.map((text) => {
    const parsed = parseRelayBlock(text)
    if ('block' in parsed) return parsed.block
    const entry = shownLine(text, ENTRY_CHARS_SHOWN)
    throw new ProblemError('bad-field', `received_via: ${entry} ${refusalWords[parsed.refusal]}`)
  })
}

/** A reporter's statements about the messages of one request. */
export type Remarks = {
  kind: ReportKind
  comment: string | null
  /** CIDR blocks with their host bits cleared. */
  receivedVia: readonly string[]
  /** Set if the message was reconstructed from the submitted data. */
  rebuiltFrom?: RebuiltFrom
  /** Which message is reported if one carries another; absent if nothing is said. */
  choice?: ChoiceName
}

export type SubmitOutcome =
  | ({ taken: true } & AcceptedReport)
  | { taken: false; refusal: ProblemError }

/** Submits one message of a request to the intake. */
export type Submit = (
  reporter: Reporter,
  channel: Channel,
  raw: Buffer,
  remarks: Remarks,
  /** The result of `admit`; a shadowed reporter gets the usual response. */
  admission?: 'admitted' | 'shadowed',
) => Promise<SubmitOutcome>

const countedAs = { new: 'accepted', changed: 'changed', repeated: 'repeat' } as const

/**
 * Creates the function that submits messages, with limits and metrics. It rejects if a message
 * cannot be stored.
 */
export function createSubmit(app: {
  intake: Intake
  bodies: BodyPool
  metrics: IntakeMetrics
}): Submit {
  return async (reporter, channel, raw, { choice, ...remarks }, admission = 'admitted') => {
    const by = {
      ...{ reporter: reporter.email, relays: remarks.receivedVia, choice },
      // The protocol of the plug-ins has no place for a choice.
      isUnasked: channel === 'signaler',
    }
    const fit = await app.bodies.read('message', raw, { ownerId: reporter.id, by })
    if ('refusal' in fit) {
      app.metrics.count(channel, 'refused')
      const { reason, detail, status: _, ...about } = fit.refusal
      return { taken: false, refusal: new ProblemError(reason, detail, {}, about) }
    }
    const became = await app.intake.accept({
      reporterId: reporter.id,
      channel,
      message: fit.message,
      isShadowed: admission === 'shadowed',
      ...remarks,
    })
    app.metrics.count(channel, countedAs[became.is])
    return { taken: true, ...became }
  }
}
