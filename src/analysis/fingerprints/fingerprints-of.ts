import type { Attachment } from '../attachments.ts'
import type { BodyView } from '../pieces/body-view.ts'
import { hexOf, textHash } from '../shingles/hash.ts'
import type { ShingleList } from '../shingles/shingle-list.ts'
import { minHash, signatureBytes } from './min-hash.ts'

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
