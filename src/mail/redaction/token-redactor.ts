import { replaceMailboxes } from '../address.ts'
import type { HeaderField } from '../header.ts'
import { remembered } from '../text.ts'
import { type CodeOf, codeShape, createTokenCodes } from './reporter-names.ts'

/**
 * The place of a text, which decides how much it may reveal: a path identifies a page, a query its
 * parameters.
 */
export type TokenPlace = 'path' | 'query' | 'mailbox' | 'field'

/** The minimum number of characters from which mixed letters and digits count as a token. */
const mixedMin = { path: 10, query: 6, mailbox: 8, field: 10 } as const
const digitsMin = { path: 5, query: 5, mailbox: 5, field: 7 } as const
const hexMin = 8
const lettersMin = 16
const wholeMax = 40
/** Shorter texts are never tokens. */
const tokenCharsMin = 5

/**
 * Whether a piece of a link, an address or a field looks machine-made, so that it may identify one
 * recipient: a long number that is not a date, hexadecimal digits, mixed letters and digits, or
 * letters in an order that no word has. Words, words with a number (`winter2026`), dates and short
 * names do not. To protect the reporter, a text that may be either counts as machine-made. Short
 * paths, such as those of link shorteners, do not count, because the abuse desk could not act
 * without them.
 */
export function looksOpaque(text: string, place: TokenPlace): boolean {
  if (place === 'query' && text.length > wholeMax && !/[\s+]|%20/.test(text)) return true
  return opaqueEnd(text, 0, place) >= 0
}

/** Returns the end of the first run of letters and digits that looks machine-made, or -1. */
function opaqueEnd(text: string, from: number, place: TokenPlace): number {
  const { length } = text
  let start = from
  let kinds = 0
  for (let at = from; at <= length; at++) {
    const kind = at < length ? (kindOf[text.charCodeAt(at)] ?? 0) : 0
    kinds |= kind
    if (kind !== 0) continue
    if (at - start >= tokenCharsMin && isDrawn(text, { start, end: at, kinds }, place)) return at
    start = at + 1
    kinds = 0
  }
  return -1
}

/** Kinds of letters and digits, as bits; 0 for all other characters. */
const DIGIT = 1
const LOWER_HEX = 2
const UPPER_HEX = 4
const OTHER = 8
const kindOf = new Uint8Array(256)
for (let code = 0; code < 256; code++) {
  const character = String.fromCharCode(code)
  if (/[0-9]/.test(character)) kindOf[code] = DIGIT
  else if (/[a-f]/.test(character)) kindOf[code] = LOWER_HEX
  else if (/[A-F]/.test(character)) kindOf[code] = UPPER_HEX
  else if (/[A-Za-z]/.test(character)) kindOf[code] = OTHER
}

/** A run of letters and digits in a text, and the kinds of its characters. */
type Run = { start: number; end: number; kinds: number }

function isDrawn(text: string, { start, end, kinds }: Run, place: TokenPlace): boolean {
  const length = end - start
  if ((kinds & DIGIT) === 0) {
    return length >= lettersMin && isUnpronounceable(text.slice(start, end))
  }
  if (kinds === DIGIT) {
    return length >= digitsMin[place] && !/^(?:19|20)\d{6}$/.test(text.slice(start, end))
  }
  if (length >= hexMin && (kinds === (DIGIT | LOWER_HEX) || kinds === (DIGIT | UPPER_HEX))) {
    return true
  }
  return length >= mixedMin[place] && !isNumberedWord(text.slice(start, end))
}

/**
 * Whether a run is a word with at most one short number: `winter2026`, `3rd`, `page12`, `mp4video`.
 */
function isNumberedWord(run: string): boolean {
  return run.length < 20 && /^[A-Za-z]*\d{1,4}[A-Za-z]*$/.test(run) && !hasMixedCase(run)
}

function isUnpronounceable(run: string): boolean {
  const vowels = run.match(/[aeiouyAEIOUY]/g)?.length ?? 0
  return hasMixedCase(run) || vowels < run.length / 6
}

/** Whether upper and lower case alternate as in random text; `aNewPageOfOurShop` does not. */
function hasMixedCase(run: string): boolean {
  const changes = run.match(/[a-z](?=[A-Z])|[A-Z](?=[A-Z][a-z])|[A-Z]{2}/g)?.length ?? 0
  return changes > run.length / 4
}

/**
 * Replaces opaque pieces by which the author may identify a recipient without an address (RFC
 * 6590): in links, return paths, Message-IDs and fields. Scheme, host and words of a path are kept,
 * so that a desk can see the destination of a link. The same token always has the same code for one
 * consumer.
 */
export type TokenRedactor = {
  /** Redacts the tokens in links and addresses, except the author's addresses. */
  redact(text: string): string
  /** Like `redact`, in the body of a message, where only links count. */
  redactLinks(text: string): string
  /** Whether fields with the name of the given field are left unchanged. */
  leaves(field: HeaderField): boolean
  /** Redacts the value of a field according to its purpose; lines may be folded. */
  redactField(field: HeaderField): string
}

/**
 * Creates a redactor of tokens. `key` is the consumer's key. `authors` are the claimed authors of a
 * message: accounts that an abuse desk can act on, so they are kept. `locals` are the local parts
 * of the recipient's addresses in lower case: a local part that is a whole value in a link
 * (`?u=jane`) is a token.
 */
export function createTokenRedactor(
  key: Buffer,
  authors: readonly string[],
  locals: ReadonlySet<string> = new Set(),
): TokenRedactor {
  const codeOf = createTokenCodes(key)
  const kept = new Set(authors.map((address) => address.toLowerCase()))
  // A message repeats most of its links, and so does the text about it.
  const links = new Map<string, string>()
  const redactKnownLink = (link: string) => {
    const redacted = links.get(link) ?? redactLocals(redactLink(link, codeOf), locals, codeOf)
    if (links.size < LINKS_MAX) links.set(link, redacted)
    return redacted
  }
  const redactLinks = (text: string) =>
    mayLink.test(text) ? text.replace(linkShape, redactKnownLink) : text
  const redactMailboxes = (text: string) =>
    replaceMailboxes(text, (local, domain) =>
      kept.has(`${local}@${domain}`.toLowerCase()) ? local : redactLocal(local, codeOf),
    )
  const redact = (text: string) => redactMailboxes(redactLinks(text))
  return {
    redact,
    redactLinks,
    leaves: ({ key }) => kindOfField(key) === 'spoken',
    redactField({ key, raw }) {
      const value = raw.slice(raw.indexOf(':') + 1)
      const kind = kindOfField(key)
      if (kind === 'spoken') return value
      if (kind === 'message-id') return redactMessageIds(value, codeOf)
      if (kind === 'signature') return redactMailboxes(redactSignature(value, codeOf))
      if (kind === 'tracing') return redactMailboxes(value)
      return redactRuns(redact(value), codeOf)
    },
  }
}

const LINKS_MAX = 5_000
const linkShape = new RegExp(
  [
    /(?:\bhttps?:\/\/|(?<=["'(=])\/\/(?=[\w.-]+\.[a-z]{2}))[^\s"'<>()\\^`{|}\x80-\xff]+/.source,
    /\bmailto:[^\s"'<>()]+/.source,
  ].join('|'),
  'gi',
)
const mayLink = /\/\/|mailto:/i
const localLetter = "[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]"

function named(...patterns: readonly string[]): RegExp {
  return new RegExp(`^(?:${patterns.join('|')})$`)
}

/**
 * Fields that are not changed, because people read them, or because MIME parsers or feedback loops
 * (RFC 9477) need them.
 */
const spokenFields = named(
  ...['subject', 'date', 'from', 'to', 'cc', 'mime-version', 'content-.*', 'cfbl-.*'],
  ...['organization', 'user-agent', 'x-mailer', 'list-id'],
)
const messageIdFields = named('(?:.*-)?message-?id', 'references', 'in-reply-to')
const signatureFields = named(
  ...['(?:x-google-)?dkim-signature', 'domainkey-signature', 'arc-seal', 'arc-message-signature'],
)
/**
 * These fields are written by the servers that relayed the message; a desk searches for their queue
 * ids.
 */
const tracingFields = named(
  ...['received', 'x-received', 'received-spf', '(?:arc-|x-)?authentication-results'],
  ...['reply-to', 'sender', 'resent-.*'],
)

type FieldKind = 'spoken' | 'message-id' | 'signature' | 'tracing' | 'other'

const kindOfField = remembered(readKind, { max: 500, charsMax: 128 })

function readKind(key: string): FieldKind {
  if (spokenFields.test(key)) return 'spoken'
  if (messageIdFields.test(key)) return 'message-id'
  if (signatureFields.test(key)) return 'signature'
  return tracingFields.test(key) ? 'tracing' : 'other'
}

const linkValue = /(?<==)[^?&;#=]{2,128}(?=$|[?&;#])/g

function redactLocals(link: string, locals: ReadonlySet<string>, codeOf: CodeOf): string {
  if (locals.size === 0 || !link.includes('=')) return link
  return link.replace(linkValue, (value) => {
    const local = plain(value).toLowerCase()
    return locals.has(local) ? codeOf(local) : value
  })
}

function redactLink(link: string, codeOf: CodeOf): string {
  if (/^mailto:/i.test(link)) return redactMailto(link, codeOf)
  const [, origin = '', path = '', query = '', fragment = ''] =
    /^((?:https?:)?\/\/[^/?#]*)([^?#]*)((?:\?[^#]*)?)((?:#.*)?)$/is.exec(link) ?? []
  if (origin === '') return link
  return [
    redactUser(origin, codeOf),
    redactPath(path, codeOf),
    redactQuery(query, codeOf),
    redactQuery(fragment, codeOf),
  ].join('')
}

/** Redacts the user name before the host (`https://user@host/`): it does not identify the page. */
function redactUser(origin: string, codeOf: CodeOf): string {
  const [, scheme = '', user = '', host = ''] = /^([^/]*\/\/)(.*)(@[^@]*)$/s.exec(origin) ?? []
  return host === '' ? origin : scheme + redactLocal(user, codeOf) + host
}

function redactMailto(link: string, codeOf: CodeOf): string {
  const [, scheme = '', address = '', query = ''] = /^(mailto:)([^?]*)(.*)$/is.exec(link) ?? []
  const at = address.lastIndexOf('@')
  const local = redactLocal(at < 0 ? address : address.slice(0, at), codeOf)
  return scheme + local + (at < 0 ? '' : address.slice(at)) + redactQuery(query, codeOf)
}

const endingShape = /^\.[A-Za-z][A-Za-z0-9]{1,4}$/

function redactPath(path: string, codeOf: CodeOf): string {
  return path
    .split('/')
    .map((segment) => {
      if (segment.length < tokenCharsMin) return segment
      const dot = segment.lastIndexOf('.')
      const ending = dot >= 0 && endingShape.test(segment.slice(dot)) ? segment.slice(dot) : ''
      const stem = segment.slice(0, segment.length - ending.length)
      return isToken(stem, 'path') ? codeOf(plain(stem)) + ending : segment
    })
    .join('/')
}

/** Redacts `?name=value&…`, also behind a `#`. */
function redactQuery(query: string, codeOf: CodeOf): string {
  if (query === '') return query
  return query.replace(/[^?#&;=]+/g, (piece, at: number) => {
    const isName = query[at + piece.length] === '='
    if (isName && query[at - 1] !== '=')
      return isToken(piece, 'path') ? codeOf(plain(piece)) : piece
    return redactValue(piece, codeOf)
  })
}

function redactValue(value: string, codeOf: CodeOf): string {
  if (/^https?%3A%2F%2F/i.test(value)) return redactNested(value, codeOf)
  return isToken(value, 'query') ? codeOf(plain(value)) : value
}

const nestedSigns = /(%(?:2F|3F|26|3D|23|3B))/i

/** Redacts a link inside a link, split at its encoded separators: scheme, host and words stay. */
function redactNested(link: string, codeOf: CodeOf): string {
  const pieces = link.split(nestedSigns)
  const queryAt = pieces.findIndex((piece) => /^%3F$/i.test(piece))
  return pieces
    .map((piece, index) => {
      // `https%3A`, the empty piece between two slashes, and the host come first.
      if (index <= 4 || nestedSigns.test(piece)) return piece
      const place = queryAt >= 0 && index > queryAt ? 'query' : 'path'
      return isToken(piece, place) ? codeOf(plain(piece)) : piece
    })
    .join('')
}

const uuid = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'
const localPiece = new RegExp(`(${codeShape.source})|${uuid}|[A-Za-z0-9]+`, 'g')

/** Redacts a local part piece by piece: `bounce+4711-…` keeps the word `bounce`. */
function redactLocal(local: string, codeOf: CodeOf): string {
  if (!isToken(local, 'mailbox')) return local
  return local.replace(localPiece, (piece, code?: string) =>
    code === undefined && looksOpaque(piece, 'mailbox') ? codeOf(piece) : piece,
  )
}

function redactMessageIds(value: string, codeOf: CodeOf): string {
  return value.replace(/<([^<>@]{1,900})(@[^<>\s]*)?>/g, (_, local: string, domain = '') =>
    codeShape.test(local)
      ? `<${local}${String(domain)}>`
      : `<${codeOf(plain(local))}${String(domain)}>`,
  )
}

/**
 * Redacts the hashes (`bh=`), the signature (`b=`) and the copied fields (`z=`) of a signature
 * field. They are unique to one copy of the message and can no longer be verified.
 */
function redactSignature(value: string, codeOf: CodeOf): string {
  return value.replace(/(\b(?:bh?|z)\s*=)([^;]*)/g, (_, tag: string, digits: string) => {
    const bare = digits.replace(/\s+/g, '')
    return bare === '' ? tag + digits : `${tag}${codeOf(bare)}`
  })
}

const codePart = `(${codeShape.source}(?:@redacted\\.invalid)?)`
const hostPart = /(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,18}\b/.source
const addressPart = `(?<!${localLetter})${localLetter}{1,256}@[A-Za-z0-9.-]+|@[A-Za-z0-9.-]+`
const linkPart = 'https?:\\/\\/[^\\s<>"]+|mailto:[^\\s<>"]+'
const runPart = '[A-Za-z0-9][A-Za-z0-9+/_=-]{5,}'
const runShape = runsBut(addressPart, linkPart, hostPart)
/**
 * Like `runShape`, for words without addresses and links, and for those without a dot: searching
 * for these takes most of the time.
 */
const hostRunShape = runsBut(hostPart)
const plainRunShape = runsBut('[]')

function runsBut(...named: readonly string[]): RegExp {
  return new RegExp(`${codePart}|(${named.join('|')})|${runPart}`, 'g')
}

/**
 * Redacts machine-made words of a field that people do not read; links, hosts and addresses stay.
 */
function redactRuns(value: string, codeOf: CodeOf): string {
  let result = ''
  let done = 0
  let code = value.indexOf(codeStart)
  for (;;) {
    if (code >= 0 && code < done) code = value.indexOf(codeStart, done)
    const opaque = opaqueEnd(value, done, 'field')
    if (opaque < 0 && code < 0) return done === 0 ? value : result + value.slice(done)
    // None of the shapes contains white space.
    let start = opaque < 0 || (code >= 0 && code < opaque) ? code : opaque - 1
    let end = start + 1
    while (start > done && !isSpace(value, start - 1)) start--
    while (end < value.length && !isSpace(value, end)) end++
    const word = value.slice(start, end)
    result += value.slice(done, start)
    result += word.replace(shapeOf(word), (run, made?: string, named?: string) =>
      made === undefined && named === undefined && looksOpaque(run, 'field') ? codeOf(run) : run,
    )
    done = end
  }
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code > 0x20 && code < 0x80) return false
  return code <= 0x20 ? code === 0x20 || (code >= 0x09 && code <= 0x0d) : /\s/.test(text.charAt(at))
}

function shapeOf(word: string): RegExp {
  if (/@|:\/\/|mailto:/.test(word)) return runShape
  return word.includes('.') ? hostRunShape : plainRunShape
}

const codeStart = 'redacted-'
const codes = new RegExp(codeShape, 'g')

function isToken(text: string, place: TokenPlace): boolean {
  if (text.length < tokenCharsMin) return false
  return looksOpaque(text.includes(codeStart) ? text.replace(codes, '') : text, place)
}

/** Percent-decodes a text if possible, so that a token is the same however it is written. */
function plain(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
