import { parseMailboxes } from '../address.ts'
import type { AnswerKind } from '../answer-links.ts'
import { parseBounce, type BounceResult } from '../bounces/parse-bounce.ts'
import { decodeHeaderText } from '../encoded-word.ts'
import { parseFeedbackReport, type FeedbackFields } from '../feedback-report.ts'
import { fieldValue, parseHeader, type HeaderField } from '../header.ts'
import { messageKind } from '../message-kind.ts'
import { storableText } from '../storable-text.ts'

/**
 * What sort of mail came to an address of ours: one that came back, a complaint about our own mail
 * (RFC 5965), what a machine answers for a person who is away, what a ticket system answers, and
 * what a person wrote.
 */
export type InboundKind = 'bounce' | 'complaint' | 'auto-reply' | 'acknowledgment' | 'reply'

/** A mail that came to an address of ours, read. Everything in it is what a stranger claims. */
export type InboundReading = {
  kind: InboundKind
  /** What became of a mail of ours, recipient by recipient; empty unless it is a bounce. */
  results: BounceResult[]
  /** What a complaint states; undefined unless it is one. */
  feedback: FeedbackFields | undefined
  /** What it says of the mail of ours that it returns or is about. */
  returned: {
    /** Its Message-IDs, without angle brackets. */
    messageIds: string[]
    /** The ENVIDs it was sent with (RFC 3461), decoded. */
    envelopeIds: string[]
    /** The addresses it was sent under, in lower case. */
    returnPaths: string[]
  }
  /** The Message-IDs of In-Reply-To, then of References, without angle brackets. */
  references: string[]
  /** The answer in the person's own words; undefined unless it is unmistakable. */
  answer: AnswerKind | undefined
  /** Without angle brackets. */
  messageId: string | null
  /** The address of its author, the domain in lower case. */
  author: string | null
  subject: string | null
  /** What its author wrote, without what is quoted; at most 8,000 characters. */
  text: string
  /** Whether a machine seems to have sent it: no machine may answer it. */
  isAutomatic: boolean
}

const textCharsMax = 1000
const idCharsMax = 998

/**
 * Reads a mail that came to an address of ours; `mailFrom` is the sender of its envelope, empty
 * for the null one. Pure, linear in the size of the mail, and never throws.
 */
export function readInbound(raw: Buffer, mailFrom: string): InboundReading {
  const { fields } = parseHeader(raw)
  const feedback = parseFeedbackReport(raw)
  const bounce = feedback ? undefined : parseBounce(raw)
  const isAnswered = messageKind(fields) === 'auto-reply'
  const kind = feedback ? 'complaint' : bounce ? 'bounce' : isAnswered ? 'auto-reply' : 'reply'
  const subject = fieldValue(fields, 'subject')
  return {
    kind,
    results: bounce?.results ?? [],
    feedback,
    returned: { messageIds: [], envelopeIds: [], returnPaths: [] },
    references: [],
    answer: undefined,
    messageId: idsOf(fields, 'message-id')[0] ?? null,
    author: parseMailboxes(fieldValue(fields, 'from') ?? '')[0]?.address ?? null,
    subject: subject === undefined ? null : storableText(decodeHeaderText(subject), textCharsMax),
    text: '',
    isAutomatic: mailFrom === '' || kind !== 'reply',
  }
}

function idsOf(fields: readonly HeaderField[], key: string): string[] {
  const value = (fieldValue(fields, key) ?? '').slice(0, 16 * 1024)
  return [...value.matchAll(/<([^<>\s]{1,998})>/g)].map(([, id = '']) =>
    storableText(id, idCharsMax),
  )
}
