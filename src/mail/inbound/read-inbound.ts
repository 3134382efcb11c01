import type { AnswerKind } from '../answer-links.ts'
import { bounceIn, type BounceResult } from '../bounces/parse-bounce.ts'
import { decodeHeaderText } from '../encoded-word.ts'
import { authorAddress } from '../extract-fields.ts'
import { feedbackReportIn, type FeedbackFields } from '../feedback-report.ts'
import { fieldValue, parseHeader, type HeaderField } from '../header.ts'
import { parseMimeTree } from '../mime-tree.ts'
import { storableText } from '../storable-text.ts'
import { isAcknowledgment } from './acknowledgment.ts'
import { answerIn } from './answer-words.ts'
import { isAutomaticReply, isAwayNote, isFromMachine } from './automatic.ts'
import { ownTextOf } from './own-text.ts'
import { readableText } from './readable-text.ts'
import { idsIn, returnedIn } from './returned.ts'

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

const textCharsMax = 8000
const subjectCharsMax = 1000
const idCharsMax = 998
const referencesMax = 100
const answerCharsMax = 4000

/**
 * Reads a mail that came to an address of ours; `mailFrom` is the sender of its envelope, empty
 * for the null one. Pure, linear in the size of the mail, and never throws. Of mail that nests
 * deeper than 30 levels only the header is read.
 */
export function readInbound(raw: Buffer, mailFrom: string): InboundReading {
  const tree = parseMimeTree(raw)
  const fields = tree?.fields ?? parseHeader(raw).fields
  const text = tree ? readableText(tree) : ''
  const { words, signature } = ownTextOf(text)
  const isAutomatic = isFromMachine(fields, mailFrom)
  const feedback = tree && feedbackReportIn(tree)
  const bounce = tree && !feedback ? bounceIn(tree) : undefined
  const kind = kindOf({ feedback, bounce, fields, text, isAutomatic })
  const subject = fieldValue(fields, 'subject')
  return {
    kind,
    results: bounce?.results ?? [],
    feedback,
    returned: tree ? returnedIn(tree, text) : { messageIds: [], envelopeIds: [], returnPaths: [] },
    references: referencesOf(fields),
    answer: kind === 'reply' ? answerIn(words.slice(0, answerCharsMax)) : undefined,
    messageId: storable(idsIn(fieldValue(fields, 'message-id') ?? '')[0], idCharsMax),
    author: authorAddress((fieldValue(fields, 'from') ?? '').slice(0, 8 * 1024)),
    subject: storable(subject && decodeHeaderText(subject.slice(0, 8 * 1024)), subjectCharsMax),
    text: storableText(signature === '' ? words : `${words}\n-- \n${signature}`, textCharsMax),
    isAutomatic: isAutomatic || kind !== 'reply',
  }
}

type Clues = {
  feedback: FeedbackFields | undefined
  bounce: object | undefined
  fields: readonly HeaderField[]
  text: string
  isAutomatic: boolean
}

function kindOf({ feedback, bounce, fields, text, isAutomatic }: Clues): InboundKind {
  if (feedback) return 'complaint'
  if (bounce) return 'bounce'
  if (isAcknowledgment(fields, text, { isAutomatic, isAway: isAwayNote(fields) }))
    return 'acknowledgment'
  return isAutomaticReply(fields) ? 'auto-reply' : 'reply'
}

function referencesOf(fields: readonly HeaderField[]): string[] {
  const values = ['in-reply-to', 'references'].map((key) => fieldValue(fields, key) ?? '')
  const ids = values.flatMap(idsIn).map((id) => storableText(id, idCharsMax))
  return [...new Set(ids)].slice(0, referencesMax)
}

function storable(text: string | undefined, charsMax: number): string | null {
  return text === undefined ? null : storableText(text, charsMax)
}
