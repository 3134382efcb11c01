import { decodeHeaderText } from '../mail/encoded-word.ts'
import type { HeaderField } from '../mail/header.ts'
import type { BodyView } from './body-view.ts'
import { type PlainText, withoutMarks, wordsOf } from './disguise/plain-text.ts'
import { indexHeader, peopleOf, type Person } from './features/material.ts'

export type MessageTexts = {
  subject: string
  author: string
  /** The words of the visible text. */
  shown: PlainText
  /** The person to whom the message is addressed. */
  recipient: Pick<Person, 'name' | 'local' | 'address'> | undefined
}

export function textsOf(fields: readonly HeaderField[], { shown }: BodyView): MessageTexts {
  const header = indexHeader(fields)
  const { author, recipient } = peopleOf(header)
  const subject = decodeHeaderText((header.value('subject') ?? '').slice(0, FIELD_CHARS_MAX))
  return { subject, author: author?.name ?? '', shown, recipient }
}

/** Number of rows in the table of a model; each piece is hashed to one of them. */
export const TEXT_ROWS = 2 ** 19

/** Maximum numbers of words that are read. */
const SHOWN_WORDS_MAX = 1_000
const SUBJECT_WORDS_MAX = 60
const AUTHOR_WORDS_MAX = 20
const FIELD_CHARS_MAX = 1_000
/** Length of the character pieces, in UTF-16 units, including the ends of the word. */
const LETTERS = 4
const RECIPIENT_WORDS_MAX = 10
const RECIPIENT_CHARS_MIN = 3

/** Hash keys of the kinds of pieces. Stored models depend on them. */
const SHOWN_KEY = 0x2545f491
const SUBJECT_KEY = 0x6c8e9cf5
const AUTHOR_KEY = 0x1b873593
const PAIR_KEY = 0x3c6ef372
const LETTERS_KEY = 0x7f4a7c15

/** The part of a message in which words are read: its name for people, and its hash key. */
type Part = { name: string; key: number; isShort: boolean }

/** Called with the row of a piece, and with its start and end in the words of its part. */
type Found = (row: number, part: Part, line: string, start: number, end: number) => void

/**
 * Returns the pieces of a message's text as rows of the table, each once: words and pairs of words
 * of the subject, the author's name and the visible text, and sequences of four characters of those
 * words whose endings or boundaries matter more: the words of the subject and the name, and the
 * words in other scripts than Latin. The words of the recipient's name and address are left out,
 * because they are personal data and reveal to whom a message was sent. At most 1,000 words of the
 * visible text are read; linear time.
 */
export function textPieces(texts: MessageTexts): Uint32Array<ArrayBuffer> {
  let count = 0
  visit(texts, (row) => {
    const bit = 1 << (row & 31)
    const at = row >>> 5
    if (((seen[at] ?? 0) & bit) !== 0 || count === rows.length) return
    seen[at] = (seen[at] ?? 0) | bit
    rows[count++] = row
  })
  const found = rows.slice(0, count)
  for (const row of found) seen[row >>> 5] = 0
  return found
}

/**
 * Returns the spelling of each of the given pieces that occurs in a text, after the name of the
 * field for those that are not of the visible text.
 */
export function spellPieces(texts: MessageTexts, wanted: ReadonlySet<number>): Map<number, string> {
  const spelled = new Map<number, string>()
  visit(texts, (row, { name }, line, start, end) => {
    if (wanted.has(row) && !spelled.has(row)) spelled.set(row, name + line.slice(start, end))
  })
  return spelled
}

/** Memory for one text, used again for each. */
const seen = new Int32Array(TEXT_ROWS / 32)
const rows = new Uint32Array(40_000)

function visit({ subject, author, shown, recipient }: MessageTexts, found: Found): void {
  const own = ownWords(recipient)
  const read = (text: string, wordsMax: number) =>
    wordsOf(withoutMarks(text.slice(0, FIELD_CHARS_MAX)), wordsMax)
  visitWords(read(subject, SUBJECT_WORDS_MAX), subjectPart, own, found)
  visitWords(read(author, AUTHOR_WORDS_MAX), authorPart, own, found)
  visitWords(shown, shownPart, own, found)
}

const subjectPart: Part = { name: 'subject: ', key: SUBJECT_KEY, isShort: true }
const authorPart: Part = { name: 'author: ', key: AUTHOR_KEY, isShort: true }
const shownPart: Part = { name: '', key: SHOWN_KEY, isShort: false }

function visitWords(
  { line, wordEnds, hashes }: PlainText,
  part: Part,
  own: ReadonlySet<number>,
  found: Found,
): void {
  const { key, isShort } = part
  const count = Math.min(wordEnds.length, SHOWN_WORDS_MAX)
  let [start, before, beforeStart] = [0, 0, 0]
  for (let word = 0; word < count; word++) {
    const end = wordEnds[word] ?? 0
    const hash = hashes[word] ?? 0
    if (!own.has(hash)) {
      found(rowOf(hash, key), part, line, start, end)
      found(rowOf(Math.imul(before, 31) + hash, key ^ PAIR_KEY), part, line, beforeStart, end)
      if (isShort || line.charCodeAt(start) > 0x24f) {
        visitLetters(line, start, end, (row, from, to) => found(row, part, line, from, to))
      }
      before = hash
      beforeStart = start
    }
    start = end + 1
  }
}

/** Visits the sequences of characters of one word, with a blank before and after it. */
function visitLetters(
  line: string,
  start: number,
  end: number,
  found: (row: number, start: number, end: number) => void,
): void {
  for (let from = start - 1; from + LETTERS <= end + 1; from++) {
    let hash = 0
    for (let at = from; at < from + LETTERS; at++) {
      const unit = at < start || at >= end ? 0x20 : line.charCodeAt(at)
      hash = Math.imul(hash ^ unit, 0x01000193)
    }
    found(rowOf(hash, LETTERS_KEY), Math.max(from, 0), from + LETTERS)
  }
}

/** Mixes all bits of a hash (the finalizer of MurmurHash3) and returns its row. */
function rowOf(hash: number, key: number): number {
  let mixed = hash ^ key
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) & (TEXT_ROWS - 1)
}

/** Returns the hashes of the words of the recipient's name and address. */
function ownWords(recipient: MessageTexts['recipient']): ReadonlySet<number> {
  const own = new Set<number>()
  if (!recipient) return own
  // An address without a dot in its domain is read as a word.
  const parts = `${recipient.name} ${recipient.local}`.replace(/[@._+-]+/g, ' ')
  const name = `${parts} ${recipient.address}`
  const { wordEnds, hashes } = wordsOf(withoutMarks(name.slice(0, 200)), RECIPIENT_WORDS_MAX)
  let start = 0
  for (const [word, end] of wordEnds.entries()) {
    if (end - start >= RECIPIENT_CHARS_MIN) own.add(hashes[word] ?? 0)
    start = end + 1
  }
  return own
}
