import { readLiteral, readPeerRemark, type ReceivedClause } from './received-peer.ts'

/**
 * The kind of a token of a Received field: a word, a comment with its parentheses, or a semicolon.
 */
type TokenKind = (typeof tokenKinds)[keyof typeof tokenKinds]

/**
 * Token kinds are numbers for speed: a field has dozens of tokens, and a message dozens of fields.
 */
const tokenKinds = { word: 0, comment: 1, semicolon: 2 } as const

/** The tokens of one field, by their start and end positions in it. */
type ReceivedTokens = {
  count: number
  readonly kinds: Uint8Array
  readonly starts: Uint16Array
  readonly ends: Uint16Array
}

/** Maximum length of a value in characters: positions in it must fit into 16 bits. */
export const valueCharsMax = 64 * 1024 - 1

const tokensMax = 400
const lastTokensMax = 100
const tokenCharsMax = 1000

/** Reused for every field, because creating the arrays costs more than filling them. */
const tokens: ReceivedTokens = {
  count: 0,
  kinds: new Uint8Array(tokensMax + lastTokensMax),
  starts: new Uint16Array(tokensMax + lastTokensMax),
  ends: new Uint16Array(tokensMax + lastTokensMax),
}

/**
 * Splits the value of a Received field into its words, comments and semicolons (RFC 5322 §3.2.2,
 * §3.6.7). Comments may be nested; a parenthesis that never closes counts as a blank. Words in
 * angle or square brackets may contain blanks. Linear: of a longer field only the first 400 tokens
 * are read, and then the text after its last semicolon. The result is valid until the next call.
 */
function receivedTokens(value: string): ReceivedTokens {
  tokens.count = 0
  const at = split(value, 0, tokensMax)
  if (at < value.length) {
    const semicolon = value.lastIndexOf(';')
    const isNear = semicolon >= at && value.length - semicolon <= tokenCharsMax
    if (isNear) split(value, semicolon, tokensMax + lastTokensMax)
  }
  return tokens
}

/** The text of a token, at most 1,000 characters; of a comment, the text in its parentheses. */
function tokenText(value: string, token: number): string {
  const inset = tokens.kinds[token] === tokenKinds.comment ? 1 : 0
  const start = (tokens.starts[token] ?? 0) + inset
  return value.slice(start, Math.min((tokens.ends[token] ?? 0) - inset, start + tokenCharsMax))
}

/** Adds tokens up to a limit. Returns the position where it stopped. */
function split(value: string, from: number, limit: number): number {
  let comments = true
  let at = from
  while (at < value.length && tokens.count < limit) {
    const code = value.charCodeAt(at)
    if (isBlank(code) || code === 0x29) at++
    else if (code === 0x28) {
      const end = comments ? commentEnd(value, at) : undefined
      if (end === undefined) {
        comments = false
        at++
      } else at = add(tokenKinds.comment, at, end + 1)
    } else if (code === 0x3b) at = add(tokenKinds.semicolon, at, at + 1)
    else at = add(tokenKinds.word, at, wordEnd(value, at, code))
  }
  return at
}

function add(kind: TokenKind, start: number, end: number): number {
  tokens.kinds[tokens.count] = kind
  tokens.starts[tokens.count] = start
  tokens.ends[tokens.count] = end
  tokens.count++
  return end
}

function commentEnd(value: string, open: number): number | undefined {
  let depth = 0
  for (let at = open; at < value.length; at++) {
    const code = value.charCodeAt(at)
    if (code === 0x5c) at++
    else if (code === 0x28) depth++
    else if (code === 0x29 && --depth === 0) return at
  }
  return undefined
}

function wordEnd(value: string, start: number, first: number): number {
  if (first === 0x3c || first === 0x5b) {
    const closing = bracketEnd(value, start, first === 0x3c ? 0x3e : 0x5d)
    if (closing !== undefined) return plainEnd(value, closing + 1)
  }
  return plainEnd(value, start)
}

/**
 * Where a bracket closes; undefined if not within 400 characters, which are enough for an address.
 */
function bracketEnd(value: string, start: number, closing: number): number | undefined {
  const limit = Math.min(value.length, start + 400)
  for (let at = start + 1; at < limit; at++) {
    const code = value.charCodeAt(at)
    if (code === closing) return at
    if (code === 0x3b || code === 0x28) return undefined
  }
  return undefined
}

function plainEnd(value: string, start: number): number {
  let at = start
  while (at < value.length) {
    const code = value.charCodeAt(at)
    if (isBlank(code) || code === 0x28 || code === 0x29 || code === 0x3b) break
    at++
  }
  return at
}

function isBlank(code: number): boolean {
  return code <= 0x20 || code === 0x7f
}

type ClauseName = (typeof clauseNames)[number]

/** A Received field, split at its keywords. */
export type ReceivedClauses = Record<ClauseName, ReceivedClause | undefined> & {
  /** The text after the last semicolon, up to the first comment there; empty when there is none. */
  date: string
  /** All comments, in the order of the field. */
  comments: string[]
  /** The comment with which the field begins, if it begins with one. */
  opening: string | undefined
}

const clauseNames = ['from', 'by', 'via', 'with', 'id', 'for', 'envelope-from'] as const

/** The number of words from the end within which a date without a semicolon may begin. */
const datelessTail = 12

/**
 * Splits the value of a Received field into clauses. The word after a keyword is always its value,
 * so that a HELO of `by` is not taken for a clause; a comment right after `from` or `by` means that
 * the name is missing. Of two `by`, the last one counts: the text that untrusted clients can choose
 * is before it.
 */
export function receivedClauses(value: string): ReceivedClauses {
  const tokens = receivedTokens(value)
  const clauses = noClauses()
  const peer = { clauses, words: 0, comments: 0, isFound: false }
  const semicolon = lastSemicolon(tokens)
  const end = semicolon < 0 ? datelessEnd(value, tokens) : semicolon
  let current: ReceivedClause | undefined
  let isValueDue = false
  for (let at = 0; at < end; at++) {
    const kind = tokens.kinds[at]
    if (kind === tokenKinds.semicolon) isValueDue = false
    else if (kind === tokenKinds.comment) {
      const comment = tokenText(value, at)
      clauses.comments.push(comment)
      if (at === 0) clauses.opening = comment
      current?.comments.push(comment)
      isValueDue &&= current !== clauses.from && current !== clauses.by
    } else {
      const name: ClauseName | undefined = isValueDue
        ? undefined
        : keywordAt(value, tokens, at, peer)
      isValueDue = name !== undefined
      if (name === undefined) current?.words.push(tokenText(value, at))
      else current = openClause(name, clauses)
    }
  }
  if (end < tokens.count) readDate(value, tokens, semicolon < 0 ? end : end + 1, clauses)
  return clauses
}

function noClauses(): ReceivedClauses {
  return {
    from: undefined,
    by: undefined,
    via: undefined,
    with: undefined,
    id: undefined,
    for: undefined,
    'envelope-from': undefined,
    date: '',
    comments: [],
    opening: undefined,
  }
}

function lastSemicolon({ count, kinds }: ReceivedTokens): number {
  for (let at = count - 1; at >= 0; at--) if (kinds[at] === tokenKinds.semicolon) return at
  return -1
}

/** Where the date begins, for mailers that omit the semicolon before it. */
function datelessEnd(value: string, { count, kinds }: ReceivedTokens): number {
  for (let at = Math.max(0, count - datelessTail); at < count; at++) {
    if (kinds[at] !== tokenKinds.word) continue
    const word = tokenText(value, at)
    if (/^(?:\d{4}-\d\d-\d\d|(?:mon|tue|wed|thu|fri|sat|sun),)$/i.test(word)) return at
  }
  return count
}

/**
 * Reads the date and the text after it: Courier writes its identifier there, others the recipient,
 * or the return path in a comment.
 */
function readDate(value: string, tokens: ReceivedTokens, from: number, clauses: ReceivedClauses) {
  let end = from
  for (let at = from; at < tokens.count; at++) {
    if (tokens.kinds[at] === tokenKinds.comment) clauses.comments.push(tokenText(value, at))
    else {
      const name = trailingClause(value, tokens, at)
      if (name && !clauses[name]) {
        const words = at + 1 < tokens.count ? [tokenText(value, at + 1)] : []
        clauses[name] = { words, comments: [] }
      } else if (end === at) end++
    }
  }
  if (end > from) clauses.date = value.slice(tokens.starts[from], tokens.ends[end - 1])
}

function trailingClause(
  value: string,
  tokens: ReceivedTokens,
  at: number,
): 'id' | 'for' | undefined {
  if (isText(value, tokens, at, 'id')) return 'id'
  return isText(value, tokens, at, 'for') ? 'for' : undefined
}

function openClause(name: ClauseName, clauses: ReceivedClauses): ReceivedClause {
  if (name === 'by' && clauses.by && clauses.from) foldBack(clauses.from, clauses)
  const clause = { words: [], comments: [] }
  clauses[name] = clause
  return clause
}

/**
 * Moves text that was mistaken for clauses, but was written by the peer, back to the from clause.
 */
function foldBack(from: ReceivedClause, clauses: ReceivedClauses): void {
  for (const name of clauseNames) {
    const clause = name === 'from' ? undefined : clauses[name]
    if (!clause) continue
    from.words.push(...clause.words)
    from.comments.push(...clause.comments)
    clauses[name] = undefined
  }
}

function keywordAt(
  value: string,
  tokens: ReceivedTokens,
  at: number,
  peer: PeerSearch,
): ClauseName | undefined {
  const { clauses } = peer
  const name = keywordOf(value, tokens.starts[at] ?? 0, tokens.ends[at] ?? 0)
  if (name === undefined) return undefined
  const { from, by } = clauses
  if (name === 'from') {
    if (!by) return from ? undefined : name
    // XMail and IBM's gateways write the return path as a second `from`, in angle brackets.
    const isPath = at + 1 < tokens.count && value.charCodeAt(tokens.starts[at + 1] ?? 0) === 0x3c
    return isPath && !clauses['envelope-from'] ? 'envelope-from' : undefined
  }
  if (name === 'by') return !by || isByOfPeer(value, tokens, at, peer) ? name : undefined
  if (clauses[name]) return undefined
  return from || by || (name === 'with' && at === 0) ? name : undefined
}

/**
 * Whether a second `by` ends the from clause. The text before it that looked like clauses was then
 * part of the HELO.
 */
function isByOfPeer(value: string, tokens: ReceivedTokens, at: number, peer: PeerSearch): boolean {
  if (!peer.clauses.from || isText(value, tokens, at + 1, 'uid')) return false
  for (let before = at - 1; tokens.kinds[before] === tokenKinds.comment; before--) {
    if (readPeerRemark(tokenText(value, before)).ip !== undefined) return true
  }
  if (value.charCodeAt(tokens.starts[at - 1] ?? 0) === 0x5b && isLiteral(value, at - 1)) return true
  return !hasAddress(peer)
}

function isLiteral(value: string, token: number): boolean {
  return readLiteral(tokenText(value, token)) !== undefined
}

/**
 * The state of the search for the peer's address in a from clause. It is kept while the clause
 * grows, so that nothing is read twice.
 */
type PeerSearch = { clauses: ReceivedClauses; words: number; comments: number; isFound: boolean }

function hasAddress(peer: PeerSearch): boolean {
  const { words = [], comments = [] } = peer.clauses.from ?? {}
  while (!peer.isFound && peer.comments < comments.length) {
    peer.isFound = readPeerRemark(comments[peer.comments++] ?? '').ip !== undefined
  }
  while (!peer.isFound && peer.words < words.length) {
    peer.isFound = readLiteral(words[peer.words++] ?? '') !== undefined
  }
  return peer.isFound
}

function isText(value: string, tokens: ReceivedTokens, at: number, text: string): boolean {
  if (at >= tokens.count) return false
  const start = tokens.starts[at] ?? 0
  return (tokens.ends[at] ?? 0) - start === text.length && value.startsWith(text, start)
}

function keywordOf(value: string, start: number, end: number): ClauseName | undefined {
  const length = end - start
  if (length < 2 || (length > 4 && length !== 13)) return undefined
  const first = value.charCodeAt(start) | 0x20
  for (const name of clauseNames) {
    if (name.length !== length || name.charCodeAt(0) !== first) continue
    if (value.slice(start, end).toLowerCase() === name) return name
  }
  return undefined
}
