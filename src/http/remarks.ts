import type { ReportKind } from '../db/reports.ts'
import { parseRelayBlock } from '../mail/relay-block.ts'
import { storableText } from '../mail/storable-text.ts'
import { ProblemError } from './problem.ts'
import { refusalWords } from './relay-refusals.ts'
import { shownLine } from './shown-text.ts'
import type { Remarks } from './submit.ts'

const COMMENT_CHARS_MAX = 2_000
const RECEIVED_VIA_MAX = 100
const ENTRY_CHARS_SHOWN = 50

const kinds = new Map<string, ReportKind>([
  ['spam', 'spam'],
  ['phishing', 'phishing'],
  ['not-spam', 'not-spam'],
  ['not_spam', 'not-spam'],
])

/** The remarks of a request as its client wrote them; what is absent or empty is not said. */
export type GivenRemarks = {
  kind?: string | undefined
  comment?: string | undefined
  /** Each an address, a CIDR block, or several with commas or blanks between them. */
  receivedVia?: readonly string[] | undefined
}

/** @throws ProblemError 422 naming the field and what it may hold */
export function parseRemarks(given: GivenRemarks): Remarks {
  return {
    kind: parseKind(given.kind),
    comment: parseComment(given.comment),
    receivedVia: parseRelays(given.receivedVia ?? []),
  }
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
