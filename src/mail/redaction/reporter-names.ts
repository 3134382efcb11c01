import { createHmac, hash } from 'node:crypto'
import { parseMailboxes } from '../address.ts'
import { decodeHeaderText, writtenForms } from '../encoded-word.ts'
import type { HeaderField } from '../header.ts'
import { blankBytes } from '../invisible-characters.ts'
import { remembered } from '../text.ts'
import { base32 } from '../verp.ts'
import { CUT } from './text-views.ts'

/** Returns the code for an address or a token; the same for the same text. */
export type CodeOf = (text: string) => string

/** A code as written in a text; existing codes are not replaced again. */
export const codeShape = /redacted-[a-z2-7]{16}/

const codeBytes = 10

/**
 * Creates codes for one consumer's addresses, keyed by `key`. Each is computed once and is the same
 * however the address is written. The codes cannot be reversed.
 */
export function createCodes(key: Buffer): CodeOf {
  const sign = hmacOf(key)
  return boundedCodes((address) => codeOfHash(sign(address.toLowerCase())))
}

/**
 * Creates codes for tokens, which are case-sensitive; no token has the code of an address. Hashes
 * twice with a separate key. That is an HMAC except for its padding, and takes a quarter of the
 * time, which matters because a newsletter has a hundred tokens.
 */
export function createTokenCodes(key: Buffer): CodeOf {
  const secret = tokenSecret(key.toString('latin1'))
  return boundedCodes((token) => {
    const inner = hash('sha256', `${secret}${token}`)
    return codeOfHash(hash('sha256', `${secret}${inner}`, 'latin1'))
  })
}

const hmacBlockBytes = 64

/** The secret of a consumer's tokens; most consumers get many reports. */
const tokenSecret = remembered(
  (key) => Buffer.from(hmacOf(Buffer.from(key, 'latin1'))('tokens'), 'latin1').toString('hex'),
  { max: 200, charsMax: hmacBlockBytes },
)

/**
 * Returns HMAC-SHA256 (RFC 2104) as a Latin-1 view, for a key of at most 64 bytes. Two hashes
 * take a fifth of the time of creating a key for an HMAC.
 */
function hmacOf(key: Buffer): (text: string) => string {
  if (key.length > hmacBlockBytes) {
    return (text) => createHmac('sha256', key).update(text).digest('latin1')
  }
  const padded = Buffer.concat([key], hmacBlockBytes)
  const [inner, outer] = [Buffer.from(padded), padded]
  for (let at = 0; at < hmacBlockBytes; at++) {
    inner[at] = (padded[at] ?? 0) ^ 0x36
    outer[at] = (padded[at] ?? 0) ^ 0x5c
  }
  return (text) => {
    const read = hash('sha256', Buffer.concat([inner, Buffer.from(text)]), 'buffer')
    return hash('sha256', Buffer.concat([outer, read]), 'latin1')
  }
}

/** Returns the code of a hash, given as a Latin-1 view: its first bytes in base 32. */
function codeOfHash(bytes: string): string {
  let code = 'redacted-'
  let held = 0
  let bits = 0
  for (let at = 0; at < codeBytes; at++) {
    held = (held << 8) | bytes.charCodeAt(at)
    bits += 8
    if (bits < 10) continue
    bits -= 10
    code += codePairs[(held >> bits) & 0x3ff] ?? ''
  }
  return code
}

/** Two digits of base 32 (see `base32`) for each value of ten bits. */
const codePairs = Array.from({ length: 1 << 10 }, (_, bits) =>
  base32(Buffer.from([bits >> 2, (bits & 3) << 6])).slice(0, 2),
)

/** Maximum number of texts with separate codes; all further ones share one code. */
const CODES_MAX = 5_000

function boundedCodes(make: CodeOf): CodeOf {
  const codes = new Map<string, string>()
  return (text) => {
    const known = codes.get(text)
    if (known !== undefined) return known
    if (codes.size >= CODES_MAX) return codes.get('') ?? ''
    if (codes.size === CODES_MAX - 1) codes.set('', make(''))
    const code = make(text)
    codes.set(text, code)
    return code
  }
}

/** A name by which a text refers to a recipient, besides the address. */
export type ReporterName = {
  /** In lower case, as a Latin-1 view of the bytes of one charset. */
  text: string
  /** Whether the name counts only after a salutation, because it may be an ordinary word. */
  isGreeted: boolean
  /** The address of the named person; its code also replaces the name. */
  address: string
}

// Names of shared mailboxes, and words used in mail syntax.
const commonWords = new Set(
  [
    'abuse account accounts admin administrator alerts alternative billing bounce',
    'bounces boundary business careers charset client company compliance contact',
    'content content-type customer customers delivered delivery digest email emails',
    'enquiries example facturation feedback finance hello helpdesk hostmaster hotline',
    'hr-team inbox info information invoice invoices jobs kontakt legal list mailbox',
    'mailer-daemon mailing mails manager marketing media member members message',
    'message-id messages mime-version multipart network newsletter newsletters no-',
    'reply noreply notification notifications office online operations orders partner',
    'partners phishing postmaster press privacy promo promotion question questions',
    'received recipient redacted registration reply reply-to report reports return-',
    'path root sales security sender server service services shop signature spamtrap',
    'staff statement store subject subscribe subscriber support system team testing',
    'undisclosed unsubscribe update updates user user-agent username users version',
    'webmaster website welcome',
  ].flatMap((line) => line.split(' ')),
)

const nameCharsMax = 60
const namesMax = 60
const formsMax = 300
const localCharsMin = 5
const distinctCharsMin = 8
const greetedCharsMin = 3

/**
 * Returns the names of the owners of the addresses `own`: their display names in the header, and
 * the local parts of their addresses. A full name of two to four words counts everywhere, with
 * spaces between its words, in either order. A local part counts as a word if it is unlikely to be
 * another word: five letters with a digit or sign among them, or eight letters, and not a common
 * mailbox name. Shorter local parts and first names count only after a salutation. This prevents a
 * sender from hiding a host name by writing it as a display name.
 */
export function reporterNames(
  fields: readonly HeaderField[],
  own: readonly string[],
): ReporterName[] {
  const names = new Map<string, ReporterName>()
  const add = (text: string, address: string, isGreeted: boolean) => {
    for (const form of formsOf(text)) {
      const known = names.get(form)
      if (known && !known.isGreeted) continue
      names.set(form, { text: form, address, isGreeted })
    }
  }
  const addresses = new Set(own.map((address) => address.toLowerCase()))
  for (const address of addresses) {
    for (const local of localsOf(address)) {
      if (commonWords.has(local)) continue
      const isDistinct = local.length >= distinctCharsMin || /[^a-z]/.test(local)
      if (local.length >= localCharsMin && isDistinct) add(local, address, false)
      else if (local.length >= greetedCharsMin) add(local, address, true)
    }
  }
  for (const { name, address } of recipientsOf(fields, addresses).slice(0, namesMax)) {
    const words = wordsOf(name)
    if (words.length >= 2) {
      add(words.join(' '), address, false)
      add([...words.slice(1), words[0]].join(' '), address, false)
      add([words.at(-1), ...words.slice(0, -1)].join(' '), address, false)
    }
    for (const word of words) {
      if (word.length >= greetedCharsMin && !commonWords.has(word)) add(word, address, true)
    }
  }
  return [...names.values()].slice(0, formsMax)
}

/** Returns the recipients in To and Cc that are in `own`. */
function recipientsOf(fields: readonly HeaderField[], own: ReadonlySet<string>) {
  const listed = fields
    .filter(({ key }) => key === 'to' || key === 'cc')
    .flatMap(({ value }) => parseMailboxes(decodeHeaderText(value.slice(0, 16 * 1024))))
    .map(({ name, address }) => ({ name, address: address.toLowerCase() }))
  return listed.filter(({ address }) => own.has(address))
}

/** Returns the words of a full name in lower case; empty if it is not a personal name. */
function wordsOf(name: string): string[] {
  const plain = name.normalize('NFC').trim().toLowerCase()
  if (plain.length > nameCharsMax || /[@/:<>=\d]/.test(plain)) return []
  const words = plain.split(/[\s,"()]+/).filter((word) => /\p{L}{2}/u.test(word))
  return words.length <= 4 && !words.every((word) => commonWords.has(word)) ? words : []
}

/**
 * Returns the local parts of addresses in lower case, without common mailbox names. By themselves
 * they reveal little, but as a value in a link they identify the recipient.
 */
export function localParts(addresses: readonly string[]): Set<string> {
  const locals = addresses.flatMap((address) => localsOf(address.toLowerCase()))
  return new Set(locals.filter((local) => local.length >= 2 && !commonWords.has(local)))
}

function localsOf(address: string): string[] {
  const local = address.slice(0, address.lastIndexOf('@'))
  const untagged = local.replace(/\+.*$/, '')
  return [...new Set([local, untagged])]
}

/**
 * Returns the byte forms of a name in its possible charsets, lowercased as a search does. A search
 * only lowercases Latin-1, so other cases of a name are separate forms.
 */
function formsOf(text: string): Set<string> {
  const titled = text.replace(/(?<![\p{L}\p{M}'’])\p{L}/gu, (letter) => letter.toUpperCase())
  const apart = text.normalize('NFD')
  const folded = apart.replace(/\p{M}+/gu, '')
  const written = [text, titled, text.toUpperCase(), apart]
  const forms = new Set(/^[\0-\xff]+$/.test(folded) ? [text, folded] : [text])
  for (const one of written) for (const form of writtenForms(one)) forms.add(form.toLowerCase())
  return forms
}

const greetings =
  'dear|hi|hello|hey|hallo|hola|bonjour|bonsoir|salut|cher|ch\\S{1,8}re|ciao|caro|cara|' +
  'liebe|lieber|estimado|estimada|greetings|welcome|attn|attention|mr|mrs|ms|mme|herr|frau'

/** Finds names in a lower-case text. */
export type NameFinder = {
  /** The longest word of each name: no name occurs in a text without its word. */
  words: readonly string[]
  /** Whether a word of a name occurs in a text without cuts; ten times as fast as `find`. */
  mayOccurIn(text: string): boolean
  /** Finds the names in a text in which a `CUT` marks removed invisible content. */
  find(text: string): Iterable<{ start: number; end: number; address: string }>
}

/**
 * Creates a finder of names as whole words; linear in the text. Between two words there may be
 * white space and a comma, or only invisible content, which may also be inside a word.
 */
export function createNameFinder(names: readonly ReporterName[]): NameFinder | undefined {
  if (names.length === 0) return undefined
  const sorted = names.toSorted((one, other) => other.text.length - one.text.length)
  const addressOf = new Map(sorted.map(({ text, address }) => [bare(text), address]))
  let patterns: RegExp[] | undefined
  // A search for a word takes a tenth of the time of a regular expression.
  const lastWords = [...new Set(sorted.map(({ text }) => text.split(' ').at(-1) ?? text))]
  return {
    words: [...new Set(sorted.map(({ text }) => longestWord(text)))],
    mayOccurIn: (text) => lastWords.some((word) => text.includes(word)),
    *find(text) {
      patterns ??= patternsOf(sorted)
      for (const pattern of patterns) {
        for (const { 1: found = '', index } of text.matchAll(pattern)) {
          const address = addressOf.get(bare(found))
          if (address !== undefined) yield { start: index, end: index + found.length, address }
        }
      }
    },
  }
}

/** Returns the patterns of names, of which the longest are given first. */
function patternsOf(sorted: readonly ReporterName[]): RegExp[] {
  const sources = (isGreeted: boolean) =>
    sorted
      .filter((name) => name.isGreeted === isGreeted)
      .map(({ text }) => text.split(' ').map(cuttable).join(between))
      .join('|')
  const [free, greeted] = [sources(false), sources(true)]
  // Tests the first letter before the look-behind, which is much slower.
  const initials = [...new Set(sorted.map(({ text }) => escaped(text.charAt(0))))].join('')
  const first = `(?=[${initials}])`
  return [
    ...(free === '' ? [] : [`${first}${wordStart}(${free})${wordEnd}`]),
    ...(greeted === ''
      ? []
      : [
          `${first}(?<=(?<![a-z])(?:${greetings})(?:[ ,.]|${gap}){1,4})(${greeted})${wordEnd}`,
          // `Jane, your parcel`: a name at the beginning of a line or subject is a salutation.
          `${first}(?<=^|\\n|subject: ?)(${greeted})(?=[,!])`,
        ]),
  ].map((source) => new RegExp(source, 'g'))
}

function longestWord(name: string): string {
  return name.split(' ').reduce((one, other) => (other.length > one.length ? other : one))
}

const gapsMax = 16
const gap = `(?:[ \t\r\n\v\f${CUT}]|\xe2?\xa0|${blankBytes})`
const between = `,?${gap}{1,${String(gapsMax)}}`
const blanksRun = new RegExp(`,?${gap}+`, 'g')
/**
 * Matches a symbol beyond ASCII that is not a letter of a word. In UTF-8: U+0080 to U+00BF, U+2000
 * to U+207F, and U+3000 to U+303F; lowercasing turns C2, the first byte of the first range, into
 * E2. In single-byte charsets: a byte from 80 to BF after an ASCII character.
 */
const signBefore =
  '\xe2[\x80-\xbf]|\xe2[\x80\x81][\x80-\xbf]|\xe3\x80[\x80-\xbf]|[^\x80-\xff][\x80-\xbf]'
const wordStart = `(?<![a-z0-9\xc0-\xff]|[\x80-\xbf](?<!${signBefore}|^[\x80-\xbf]))`
const wordEnd = '(?![a-z0-9]|(?!\xe2|\xe3\x80[\x80-\xbf])[\xc0-\xff])'

/** Returns a pattern of a word that may be cut; cuts are few in readable text. */
function cuttable(word: string): string {
  return [...word].map(escaped).join(`${CUT}{0,${String(gapsMax)}}`)
}

/**
 * Removes the blanks and commas from a name, to compare a name in a text with a known one. A blank
 * may also be one half of a letter in UTF-8: then both names lose the same bytes.
 */
function bare(text: string): string {
  return text.replace(blanksRun, '')
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
