import { isLookAlike } from '../disguise/plain-word.ts'
import { isPairType, PAIR_BYTES, PIECE_BYTES } from '../shingles/packed-shingles.ts'
import { type PieceName, pieceTypes } from '../shingles/piece-types.ts'
import type { Material } from './material.ts'
import { countWords } from './word-lists.ts'

/** Counts of characters that hide the words of a text from programs but not from people. */
export type Disguise = {
  /** Number of invisible characters and direction marks. */
  hidden: number
  /** Number of letters of other scripts that look Latin, next to Latin letters. */
  lookAlikes: number
}

const none: Disguise = { hidden: 0, lookAlikes: 0 }
/** First code point of letters of other scripts; accented Latin letters are below. */
const FOREIGN_MIN = 0x250

/** Counts signs of disguise in a text, in one pass. */
export function disguiseOf(text: string): Disguise {
  if (Buffer.byteLength(text) === text.length) return none
  let hidden = 0
  let lookAlikes = 0
  let isBesideLatin = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < FOREIGN_MIN) {
      isBesideLatin = isLatin(code)
      if (code === 0xad) hidden++
      continue
    }
    if (isUnseen(code)) {
      hidden++
      continue
    }
    const point = text.codePointAt(at) ?? code
    if (point > 0xffff) at++
    const isLatinLookAlike: boolean =
      isLookAlike(point) && (isBesideLatin || isLatin(text.charCodeAt(at + 1)))
    if (isLatinLookAlike) lookAlikes++
    isBesideLatin = isLatinLookAlike
  }
  return { hidden, lookAlikes }
}

function isLatin(code: number): boolean {
  const small = code | 0x20
  return small >= 0x61 && small <= 0x7a
}

/**
 * Whether a character is invisible. Excludes joiners (U+200C, U+200D), which other scripts and
 * emoji need.
 */
function isUnseen(code: number): boolean {
  if (code === 0x200b || code === 0xfeff || code === 0x34f || code === 0x180e) return true
  const isDirection = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)
  return isDirection || (code >= 0x2060 && code <= 0x2064)
}

const sampleChars = 1_024
const disguiseCharsMax = 2_048
const lineCharsMax = 6_144
const htmlCharsMax = 12 * 1024
const imageWordsMax = 20

/** Computes features of the visible text; of long texts, from the beginning. */
export function textFeatures({ body, view, shingles }: Material) {
  const { html, written, shown, hidden } = view
  const words = shown.wordEnds.length
  const { kinds, language } = countWords(shown.line.slice(0, lineCharsMax))
  const { hidden: unseen, lookAlikes } = disguiseOf(written.slice(0, disguiseCharsMax))
  const hasHtml = body.html !== ''
  const images = html.images.length
  return {
    words,
    is_empty: words === 0 && images === 0,
    html_only: hasHtml && body.text.trim() === '',
    html_kilobytes: Math.round(body.html.length / 102.4) / 10,
    html_per_character: hasHtml ? Math.round(body.html.length / (written.length + 1)) : 0,
    hidden_styles: hasHtml ? countHiding(body.html.slice(0, htmlCharsMax)) : 0,
    plain_part_differs: hidden !== '' && isOther(hidden, shown.line),
    images,
    images_only: images > 0 && words < imageWordsMax,
    ...builtOf(html.tags),
    comments: html.comments.length,
    ...letterFeatures(written.slice(0, sampleChars)),
    hidden_characters: unseen,
    look_alikes: lookAlikes,
    language,
    money_words: kinds.money,
    urgency_words: kinds.urgency,
    credential_words: kinds.credential,
    threat_words: kinds.threat,
    prize_words: kinds.prize,
    generic_greeting: kinds.greeting > 0,
    opt_out_words: kinds.opt_out,
    receipt_words: kinds.receipt,
    ...countPieces(shingles),
  }
}

/** Common spellings of CSS that hides an element: each property with its values. */
const hiddenStyles: readonly (readonly [property: string, values: readonly string[]])[] = [
  ['display', ['none', ' none']],
  ['visibility', ['hidden']],
  ['font-size', ['0', ' 0', '1px']],
  ['opacity', ['0']],
]

/** Counts the spellings that occur. Looks only at colons, of which there are few. */
function countHiding(html: string): number {
  let found: Set<string> | undefined
  for (let at = html.indexOf(':'); at >= 0; at = html.indexOf(':', at + 1)) {
    const last = html.charCodeAt(at - 1)
    if (last !== 0x79 && last !== 0x65) continue
    for (const [property, values] of hiddenStyles) {
      if (!html.startsWith(property, at - property.length)) continue
      for (const value of values) {
        if (html.startsWith(value, at + 1)) (found ??= new Set()).add(`${property}:${value}`)
      }
    }
  }
  return found?.size ?? 0
}

/** Returns which kinds of interactive and embedded elements occur. */
function builtOf(tags: readonly string[]) {
  const found = { forms: false, scripts: false, frames: false }
  for (const tag of tags) {
    if (tag === 'form' || tag === 'input') found.forms = true
    else if (tag === 'script') found.scripts = true
    else if (tag === 'iframe' || tag === 'object' || tag === 'embed') found.frames = true
  }
  return found
}

const comparedWords = 12
const comparedMin = 4

/** Whether most of the first words of the plain part are missing from the visible part. */
function isOther(hidden: string, shown: string): boolean {
  const words = hidden.split(' ', 60).filter((word) => word.length > 3 && !/\d/.test(word))
  const compared = words.slice(0, comparedWords)
  if (compared.length < comparedMin) return false
  const there = shown.slice(0, lineCharsMax)
  const missing = compared.filter((word) => !there.includes(word)).length
  return missing > compared.length / 2
}

/** Unicode ranges of scripts. */
const scripts: readonly (readonly [from: number, to: number, name: string])[] = [
  [0x370, 0x3ff, 'greek'],
  [0x400, 0x52f, 'cyrillic'],
  [0x590, 0x5ff, 'hebrew'],
  [0x600, 0x77f, 'arabic'],
  [0x900, 0xdff, 'indic'],
  [0xe00, 0xe7f, 'thai'],
  [0x3040, 0x30ff, 'japanese'],
  [0x3400, 0x9fff, 'chinese'],
  [0xac00, 0xd7af, 'korean'],
]

function letterFeatures(text: string) {
  const others = new Int32Array(scripts.length)
  let upper = 0
  let latin = 0
  let exclamations = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80) {
      if (code >= 0x61 && code <= 0x7a) latin++
      else if (code >= 0x41 && code <= 0x5a) upper++
      else if (code === 0x21) exclamations++
    } else if (code >= 0x370 && (code < 0x2000 || code > 0x2fff)) {
      const block = scripts.findIndex(([from, to]) => code >= from && code <= to)
      if (block >= 0) others[block] = (others[block] ?? 0) + 1
    }
  }
  const most = Math.max(...others)
  const letters = upper + latin
  const other = scripts[others.indexOf(most)]?.[2] ?? ''
  return {
    upper_share: letters < 40 ? 0 : Math.round((upper / letters) * 100) / 100,
    exclamations,
    script: most > letters ? other : letters > 0 ? 'latin' : '',
  }
}

const counted = new Map<
  number,
  'telephones' | 'payment_addresses' | 'bank_accounts' | 'mail_addresses'
>(
  (
    [
      ['telephone', 'telephones'],
      ['cryptocurrency-address', 'payment_addresses'],
      ['bank-account', 'bank_accounts'],
      ['body-address', 'mail_addresses'],
    ] as const satisfies readonly (readonly [PieceName, string])[]
  ).map(([name, fact]) => [pieceTypes[name].number, fact]),
)

/**
 * Counts the telephone numbers, payment addresses, bank accounts and mail addresses of a message.
 */
function countPieces(packed: Material['shingles']) {
  const counts = { telephones: 0, payment_addresses: 0, bank_accounts: 0, mail_addresses: 0 }
  for (let at = 0; at < packed.length;) {
    const type = packed[at] ?? 0
    const fact = counted.get(type)
    if (fact !== undefined) counts[fact]++
    at += isPairType[type] === 1 ? PAIR_BYTES : PIECE_BYTES
  }
  return counts
}
