import type { Attachment } from './analyze.ts'
import type { BodyView } from './body-view.ts'
import { hexOf, textHash } from './shingles/hash.ts'
import type { ShingleList } from './shingles/shingle-list.ts'

/** Of a whole text: the share is then right to within four hundredths in two of three cases. */
const signatureBytes = 120

/** Words in a run: single words say what a text is about, three what it says. */
const runWords = 3

/**
 * The min-hash signature (Broder 1997) of the runs of three words in a text: one byte for each of
 * `bytes` samples, eight bits of the least or the greatest hash (b-bit min-wise hashing, Li and
 * König 2010; both ends of an order are samples, so a function gives two). Two texts agree in
 * about as many bytes as they share runs. `hashes` are those of the words, three at least;
 * `bytes` is a multiple of four.
 */
function minHash(hashes: Int32Array, bytes: number): Uint8Array {
  const runs = runHashes(hashes)
  const signature = new Uint8Array(bytes)
  for (let index = 0; index < bytes; index += 4) {
    const one = multipliers[index >> 1] ?? 1
    const other = multipliers[(index >> 1) + 1] ?? 1
    let least1 = largest
    let greatest1 = smallest
    let least2 = largest
    let greatest2 = smallest
    // Two functions at a time, by index and without branches: three times as fast as it reads.
    let at = runs.length
    while (--at >= 0) {
      const run = runs[at] ?? 0
      const hash1 = Math.imul(run, one)
      const hash2 = Math.imul(run, other)
      least1 = Math.min(least1, hash1)
      greatest1 = Math.max(greatest1, hash1)
      least2 = Math.min(least2, hash2)
      greatest2 = Math.max(greatest2, hash2)
    }
    signature[index] = eightBits(least1)
    signature[index + 1] = eightBits(greatest1)
    signature[index + 2] = eightBits(least2)
    signature[index + 3] = eightBits(greatest2)
  }
  return signature
}

const largest = 0x7fffffff
const smallest = -0x80000000

function eightBits(hash: number): number {
  return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 24
}

/** The share of bytes in which two signatures in hexadecimal agree, 0 to 1. */
function agreement(a: string, b: string): number {
  let same = 0
  for (let at = 0; at < a.length; at += 2) {
    if (a.charCodeAt(at) === b.charCodeAt(at) && a.charCodeAt(at + 1) === b.charCodeAt(at + 1))
      same++
  }
  return a.length === 0 ? 0 : (same * 2) / a.length
}

function runHashes(hashes: Int32Array): Int32Array {
  const runs = new Int32Array(Math.max(0, hashes.length - runWords + 1))
  for (let at = 0; at < runs.length; at++) {
    let run = 0
    for (let next = at; next < at + runWords; next++) {
      run = Math.imul(run ^ (hashes[next] ?? 0), 0x9e3779b1)
      run ^= run >>> 15
    }
    runs[at] = Math.imul(run, 0xc2b2ae35) ^ (run >>> 13)
  }
  return runs
}

/** Odd numbers from a fixed generator (xorshift): part of what is stored. */
const multipliers = makeMultipliers()

function makeMultipliers(): Int32Array {
  const numbers = new Int32Array(signatureBytes / 2)
  let state = 0x2545f491
  for (let at = 0; at < numbers.length; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    numbers[at] = state | 1
  }
  return numbers
}

const bands = 8
const bandBytes = 5

/**
 * So much of the runs of words two texts share, at least. Measured: texts of one campaign share
 * 0.9 and more, sister campaigns of the same author up to 0.72.
 */
const agreementMin = 0.84
/** Greetings, names and amounts stand at the beginning. */
const headAgreementMin = 0.25
/** The shorter text has at least this share of the words of the longer. */
const lengthRatioMin = 0.6
/** Shorter texts (`Please see attached.`) are the same in many campaigns. */
const telltaleWordsMin = 8

/**
 * Under which keys a message is found by its like, and finds them: messages of one campaign share
 * at least one (of texts that share 0.95 of their runs of words, all but one of 100,000 do; of
 * those that share 0.84, 99 of 100). 16 hexadecimal digits each, at most 8. None for messages
 * that have nothing of their own: no text to speak of, and no file or picture.
 */
export function campaignKeys(fingerprints: Fingerprints): string[] {
  const { near } = fingerprints
  if (near === undefined) {
    const key = wholeKey(fingerprints)
    return key === undefined ? [] : [key]
  }
  return Array.from({ length: bands }, (_, band) => {
    const start = band * bandBytes * 2
    const number = (band + 1).toString(16).padStart(6, '0')
    return number + near.slice(start, start + bandBytes * 2)
  })
}

/**
 * Whether two messages are of one campaign. Decided between a message and the one that began the
 * campaign, so that a campaign does not wander. Symmetrical.
 */
export function isSameCampaign(a: Fingerprints, b: Fingerprints): boolean {
  if (a.near === undefined || b.near === undefined) {
    const key = wholeKey(a)
    return a.near === b.near && key !== undefined && key === wholeKey(b)
  }
  const [shorter = 0, longer = 0] = [Number(a.words), Number(b.words)].sort((x, y) => x - y)
  return (
    shorter >= longer * lengthRatioMin &&
    agreement(a.near, b.near) >= agreementMin &&
    agreement(a.head ?? '', b.head ?? '') >= headAgreementMin
  )
}

/** Short messages are of one campaign only if they are the same. */
function wholeKey({ words, text, files }: Fingerprints): string | undefined {
  const isTelling = Number(words) >= telltaleWordsMin
  if (text !== undefined && isTelling) return hexOf(textHash(`text ${text}`))
  return files === undefined ? undefined : hexOf(textHash(`files ${text ?? ''} ${files}`))
}

/** Hashes that stand for a message. What it has not, it has no fingerprint of. */
export type Fingerprints = {
  /** The number of words that are shown, in decimal. */
  words: string
  /** Of the normalized text: the hash of the shingle `text`. */
  text?: string
  /** A min-hash signature of the text, in hexadecimal; of texts of twenty words or more. */
  near?: string
  /** The same of its first words: texts that share a long footer differ here. */
  head?: string
  /** Of the HTML structure: the hash of the shingle `html-structure`. */
  html?: string
  /** Of all link domains: the hash of the shingle `link-set`. */
  links?: string
  /** Of what is attached or embedded, else of the pictures that are fetched. */
  files?: string
}

/** Of fewer words nothing can be said but whether they are the same. */
const nearWordsMin = 20
const nearWordsMax = 400
const headWords = 40
const headBytes = 16
/** Smaller files are pixels, dots and empty parts. */
const fileBytesMin = 1000

/** The fingerprints of a message: of its body, its files and the shingles made of them. */
export function fingerprintsOf(
  { shown }: BodyView,
  attachments: readonly Attachment[],
  list: ShingleList,
): Fingerprints {
  const { hashes } = shown
  const fingerprints: Fingerprints = { words: String(hashes.length) }
  const add = (name: keyof Fingerprints, value: string | undefined) => {
    if (value !== undefined) fingerprints[name] = value
  }
  add('text', list.hashesOf('text')[0])
  if (hashes.length >= nearWordsMin) {
    add('near', hexOfBytes(minHash(hashes.subarray(0, nearWordsMax), signatureBytes)))
    add('head', hexOfBytes(minHash(hashes.subarray(0, headWords), headBytes)))
  }
  add('html', list.hashesOf('html-structure')[0])
  add('links', list.hashesOf('link-set')[0])
  add('files', filesOf(attachments, list))
  return fingerprints
}

function filesOf(attachments: readonly Attachment[], list: ShingleList): string | undefined {
  const files = attachments.filter(({ bytes }) => bytes >= fileBytesMin)
  const found = files.length > 0 ? files.map(({ sha256 }) => sha256) : list.hashesOf('image-link')
  return found.length === 0 ? undefined : hexOf(textHash(found.toSorted().join(' ')))
}

function hexOfBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
