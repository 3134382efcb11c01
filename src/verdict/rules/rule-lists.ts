import { domainToASCII } from 'node:url'
import { parseIp } from '../../mail/ip.ts'
import { plainLine } from '../../pieces/disguise/plain-text.ts'

/** The value of a fact: a text, or a list of texts of which any counts. */
export type Searched = string | readonly string[]

/** Kinds of lists, by what their entries are. */
export const ruleListKinds = ['words', 'hosts', 'addresses', 'hashes'] as const

export type RuleListKind = (typeof ruleListKinds)[number]

/** The kind of list with which each fact can be compared. */
export const listableFacts: Readonly<Record<string, RuleListKind>> = {
  'content.subject_words': 'words',
  'content.author_name_words': 'words',
  'content.text_words': 'words',
  'content.link_hosts': 'hosts',
  'content.addresses': 'addresses',
  'content.file_hashes': 'hashes',
}

/** Upper limits for lists. All processes that judge keep all entries in memory. */
export const ruleListBounds = {
  listsMax: 50,
  /** Entries of all lists together. */
  entriesMax: 100_000,
  entryCharsMax: 255,
  /** Words of an entry. */
  wordsMax: 5,
  importBytesMax: 4 * 1024 * 1024,
  nameCharsMax: 40,
} as const

/** Whether a text can be the name of a list: `casino-words`. */
export function isRuleListName(text: string): boolean {
  return text.length <= ruleListBounds.nameCharsMax && /^[a-z\d]+(?:-[a-z\d]+)*$/.test(text)
}

/**
 * Returns an entry in the form in which it is stored and compared; undefined if it is not valid.
 * Words are normalized like those of messages. A host stands for itself and its subdomains; an
 * address may be `@domain`, for all addresses of that domain; a hash is a SHA-256.
 */
export function readRuleListEntry(kind: RuleListKind, text: string): string | undefined {
  const { entryCharsMax } = ruleListBounds
  const given = text.trim()
  if (given === '' || given.length > entryCharsMax) return undefined
  const entry = readers[kind](given)
  return entry !== undefined && entry.length <= entryCharsMax ? entry : undefined
}

const readers: Readonly<Record<RuleListKind, (text: string) => string | undefined>> = {
  words: readWords,
  hosts: readHost,
  addresses: readAddress,
  hashes: (text) => (/^[\da-f]{64}$/i.test(text) ? text.toLowerCase() : undefined),
}

/** A single letter or number occurs in almost every message. */
const WORDS_CHARS_MIN = 3

function readWords(text: string): string | undefined {
  const { wordsMax } = ruleListBounds
  const words = plainLine(text, wordsMax + 1)
  const isIdeographic = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u.test(words)
  if (!/\p{L}/u.test(words)) return undefined
  if (words.length < WORDS_CHARS_MIN && !isIdeographic) return undefined
  return words.split(' ').length > wordsMax ? undefined : words
}

function readHost(text: string): string | undefined {
  const host = text.replace(/\.$/, '').toLowerCase()
  if (parseIp(host)) return host
  // A name without a dot would stand for a whole top-level domain.
  const name = domainToASCII(host)
  return /^[a-z\d_-]{1,63}(?:\.[a-z\d_-]{1,63})+$/.test(name) ? name : undefined
}

function readAddress(text: string): string | undefined {
  const [, local = '', domain = ''] = /^([^\s@<>]{0,64})@([^\s@<>]+)$/.exec(text) ?? []
  const host = readHost(domain)
  return host === undefined ? undefined : `${local.toLowerCase()}@${host}`
}

export type RuleListEntry = { list: string; value: string }

/** How often an entry was found. */
export type RuleListHits = RuleListEntry & { hits: number }

/** The entries of one value, in one or several lists of a kind. */
type Entry = { value: string; lists: string[] }

/**
 * The entries of all lists, to be compared with messages in time that depends on the message alone.
 * Counts the messages in which each entry is found. Call `begin` before each message.
 */
export class RuleLists {
  readonly #kinds: ReadonlyMap<string, RuleListKind>
  readonly #entries: Readonly<Record<RuleListKind, Map<string, Entry>>> = {
    ...{ words: new Map<string, Entry>(), hosts: new Map<string, Entry>() },
    ...{ addresses: new Map<string, Entry>(), hashes: new Map<string, Entry>() },
  }
  readonly #phrases: Phrases
  /** What was found in the values of the current message, by kind. */
  #found: { kind: RuleListKind; value: Searched; entries: ReadonlySet<Entry> }[] = []
  /** The entries and lists that count for the current message. */
  #counted = new Set<string>()
  readonly #hits = new Map<string, RuleListHits>()

  constructor(lists: ReadonlyMap<string, RuleListKind>, entries: Iterable<RuleListEntry>) {
    this.#kinds = lists
    for (const { list, value } of entries) {
      const kind = lists.get(list)
      if (kind === undefined) continue
      const entry = this.#entries[kind].getOrInsertComputed(value, () => ({ value, lists: [] }))
      entry.lists.push(list)
    }
    this.#phrases = new Phrases(this.#entries.words.values())
  }

  /** Forgets the previous message. */
  begin(): void {
    this.#found = []
    this.#counted.clear()
  }

  /**
   * Whether an entry of a list occurs in a text or in any of several; false without such a list.
   */
  isListed(list: string, value: Searched): boolean {
    const kind = this.#kinds.get(list)
    if (kind === undefined || this.#entries[kind].size === 0) return false
    let isFound = false
    for (const entry of this.#findAll(kind, value)) {
      if (!entry.lists.includes(list)) continue
      isFound = true
      this.#count(list, entry.value)
    }
    return isFound
  }

  /** Returns the hits since the last call. */
  takeHits(): RuleListHits[] {
    const hits = [...this.#hits.values()]
    this.#hits.clear()
    return hits
  }

  #count(list: string, value: string): void {
    const key = `${list} ${value}`
    if (this.#counted.has(key)) return
    this.#counted.add(key)
    this.#hits.getOrInsertComputed(key, () => ({ list, value, hits: 0 })).hits++
  }

  #findAll(kind: RuleListKind, value: Searched): ReadonlySet<Entry> {
    const known = this.#found.find((one) => one.kind === kind && one.value === value)
    if (known) return known.entries
    const entries = new Set<Entry>()
    const texts = typeof value === 'string' ? [value] : value
    for (const text of texts) {
      if (kind === 'words') this.#phrases.find(text, entries)
      else for (const name of namesFor(kind, text)) addTo(entries, this.#entries[kind].get(name))
    }
    this.#found.push({ kind, value, entries })
    return entries
  }
}

function addTo(entries: Set<Entry>, entry: Entry | undefined): void {
  if (entry) entries.add(entry)
}

/** The entries that would match a text. */
function namesFor(kind: 'hosts' | 'addresses' | 'hashes', text: string): string[] {
  if (kind === 'hashes') return [text]
  if (kind === 'hosts') return parseIp(text) ? [text] : withParents(text)
  const at = text.lastIndexOf('@')
  return [text, text.slice(at)]
}

const LABELS_MAX = 12

/** A host and the domains above it, without the top-level domain. */
function withParents(host: string): string[] {
  const labels = host.split('.')
  return labels
    .slice(0, -1)
    .map((_, at) => labels.slice(at).join('.'))
    .slice(-LABELS_MAX)
}

const WORD_HASH_STEP = 0x01000193
const PHRASE_HASH_STEP = 0x9e3779b1

/** Finds phrases of up to five words on a line of words separated by blanks, in one pass. */
class Phrases {
  readonly #byHash = new Map<number, Entry[]>()
  /** Whether a phrase may have a hash; a small table, to look up few hashes in the map. */
  readonly #mayHave: Uint8Array
  readonly #mask: number
  /** Numbers of words of the phrases. */
  readonly #lengths: readonly number[]

  constructor(entries: Iterable<Entry>) {
    const all = [...entries]
    this.#mayHave = new Uint8Array(2 ** Math.ceil(Math.log2(Math.max(all.length, 2 ** 9) * 8)))
    this.#mask = this.#mayHave.length - 1
    const lengths = new Set<number>()
    for (const entry of all) {
      const words = entry.value.split(' ')
      lengths.add(words.length)
      const hash = words.reduce((sum, word) => phraseStep(sum, hashOf(word)), 0)
      this.#mayHave[hash & this.#mask] = 1
      this.#byHash.getOrInsertComputed(hash, () => []).push(entry)
    }
    this.#lengths = [...lengths].sort((a, b) => a - b)
  }

  find(line: string, found: Set<Entry>): void {
    const longest = this.#lengths.at(-1) ?? 0
    if (longest === 0) return
    const hashes = new Int32Array(longest)
    const starts = new Int32Array(longest)
    let [words, hash, start] = [0, 0, 0]
    for (let at = 0; at <= line.length; at++) {
      const code = at < line.length ? line.charCodeAt(at) : 0x20
      if (code !== 0x20) {
        hash = Math.imul(hash ^ code, WORD_HASH_STEP)
        continue
      }
      hashes[words % longest] = hash
      starts[words % longest] = start
      words++
      for (const length of this.#lengths) {
        if (length > words) break
        let phrase = 0
        for (let word = words - length; word < words; word++) {
          phrase = phraseStep(phrase, hashes[word % longest] ?? 0)
        }
        if (this.#mayHave[phrase & this.#mask] === 0) continue
        const from = starts[(words - length) % longest] ?? 0
        for (const entry of this.#byHash.get(phrase) ?? []) {
          if (entry.value.length === at - from && line.startsWith(entry.value, from))
            found.add(entry)
        }
      }
      hash = 0
      start = at + 1
    }
  }
}

function hashOf(word: string): number {
  let hash = 0
  for (let at = 0; at < word.length; at++) {
    hash = Math.imul(hash ^ word.charCodeAt(at), WORD_HASH_STEP)
  }
  return hash
}

function phraseStep(sum: number, word: number): number {
  return Math.imul(sum ^ word, PHRASE_HASH_STEP) ^ (sum >>> 15)
}
