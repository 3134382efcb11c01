import { plainLine } from '../disguise/plain-text.ts'
import table from './word-lists.json' with { type: 'json' }

/**
 * `kinds`: words and word pairs in English, French, German, Spanish, Italian, Portuguese and Dutch,
 * and some in Russian; 0 stands for any number. Deliberately short: general knowledge, not derived
 * from a mail collection. `languages` are distinguished by their most common words.
 */
type WordKind = keyof typeof table.kinds
const wordKinds = Object.keys(table.kinds) as WordKind[]
const languages = Object.keys(table.languages)
const commonWords = Object.values(table.languages).map((words) => words.split(' '))

/**
 * Hash table of words and pairs: one bit for each kind; from bit 16 on, the number of the language
 * plus one.
 */
const slots = 2_048
const hashes = new Int32Array(slots)
const meanings = new Int32Array(slots)

for (const [bit, kind] of wordKinds.entries()) {
  for (const phrase of table.kinds[kind]) mean(phrase, 1 << bit)
}
const ambiguous = ambiguousWords()
for (const [index, words] of commonWords.entries()) {
  for (const word of words) {
    if (!ambiguous.has(plainLine(word))) mean(word, (index + 1) << 16)
  }
}

/** Results of counting words in a text. */
export type WordCounts = {
  kinds: Record<WordKind, number>
  /** The language with the most common words; empty with fewer than three of them. */
  language: string
}

const languageWordsMin = 3

/**
 * Counts words on a line of normalized words separated by blanks, in one pass. Words are identified
 * by 32-bit hashes, so that no substrings are created; two words have the same hash with a
 * probability of one in four billion.
 */
export function countWords(line: string): WordCounts {
  const kinds = {
    money: 0,
    urgency: 0,
    credential: 0,
    threat: 0,
    prize: 0,
    greeting: 0,
    opt_out: 0,
    receipt: 0,
  }
  const wordCounts = new Int32Array(languages.length + 1)
  let before = 0
  let word = 0
  for (let at = 0; at <= line.length; at++) {
    const code = at < line.length ? line.charCodeAt(at) : 0x20
    if (code !== 0x20) {
      word = Math.imul(word ^ code, 0x01000193)
      continue
    }
    const alone = meaningOf(word)
    const paired = before === 0 ? 0 : meaningOf(pairOf(before, word))
    if ((alone | paired) !== 0) {
      add(kinds, alone | paired)
      wordCounts[alone >>> 16] = (wordCounts[alone >>> 16] ?? 0) + 1
    }
    before = word
    word = 0
  }
  wordCounts[0] = 0
  const most = wordCounts.indexOf(Math.max(...wordCounts))
  const isKnown = (wordCounts[most] ?? 0) >= languageWordsMin
  return { kinds, language: isKnown ? (languages[most - 1] ?? '') : '' }
}

function add(kinds: Record<WordKind, number>, meaning: number): void {
  for (const [bit, kind] of wordKinds.entries()) if ((meaning >>> bit) & 1) kinds[kind]++
}

function mean(phrase: string, meaning: number): void {
  const [first = '', second] = plainLine(phrase).split(' ')
  const hash = second === undefined ? hashOf(first) : pairOf(hashOf(first), hashOf(second))
  if (hash === 0) return
  let slot = hash & (slots - 1)
  while (hashes[slot] !== 0 && hashes[slot] !== hash) slot = (slot + 1) & (slots - 1)
  hashes[slot] = hash
  meanings[slot] = (meanings[slot] ?? 0) | meaning
}

function meaningOf(hash: number): number {
  if (hash === 0) return 0
  let slot = hash & (slots - 1)
  while (hashes[slot] !== 0) {
    if (hashes[slot] === hash) return meanings[slot] ?? 0
    slot = (slot + 1) & (slots - 1)
  }
  return 0
}

function hashOf(word: string): number {
  let hash = 0
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193)
  return hash
}

function pairOf(first: number, second: number): number {
  return Math.imul(first, 0x9e3779b1) ^ second
}

function ambiguousWords(): Set<string> {
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (const words of commonWords) {
    for (const word of new Set(words.map((one) => plainLine(one)))) {
      if (seen.has(word)) twice.add(word)
      seen.add(word)
    }
  }
  return twice
}
