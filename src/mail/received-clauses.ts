import { readLiteral, readPeerRemark } from './received-comment.ts'
import { receivedTokens, tokenKinds, tokenText } from './received-tokens.ts'
import type { ReceivedTokens } from './received-tokens.ts'

/** The words and comments that follow one keyword of a Received field. */
export type ReceivedClause = { words: string[]; comments: string[] }

type ClauseName = (typeof clauseNames)[number]

/** A Received field, taken apart at its keywords. */
export type ReceivedClauses = Record<ClauseName, ReceivedClause | undefined> & {
  /** What follows the last semicolon, up to the first comment there; empty when there is none. */
  date: string
  /** All comments, in the order of the field. */
  comments: string[]
  /** The comment that the field begins with, if it does. */
  opening: string | undefined
}

const clauseNames = ['from', 'by', 'via', 'with', 'id', 'for', 'envelope-from'] as const

/** How many words from the end a date without a semicolon may begin. */
const datelessTail = 12

/**
 * Takes the value of a Received field apart. The word after a keyword is its value whatever it
 * says, so a HELO of `by` cannot pass for a clause; a comment right after `from` stands for a HELO
 * that was empty. Of two `by` the last one counts: what strangers may choose stands before it.
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
      isValueDue &&= current !== clauses.from
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

/** Some mailers forget the semicolon before the date. */
function datelessEnd(value: string, { count, kinds }: ReceivedTokens): number {
  for (let at = Math.max(0, count - datelessTail); at < count; at++) {
    if (kinds[at] !== tokenKinds.word) continue
    const word = tokenText(value, at)
    if (/^(?:\d{4}-\d\d-\d\d|(?:mon|tue|wed|thu|fri|sat|sun),)$/i.test(word)) return at
  }
  return count
}

/** Courier writes its identifier behind the date, others the return path in a comment. */
function readDate(value: string, tokens: ReceivedTokens, from: number, clauses: ReceivedClauses) {
  let end = from
  for (let at = from; at < tokens.count; at++) {
    if (tokens.kinds[at] === tokenKinds.comment) clauses.comments.push(tokenText(value, at))
    else if (!clauses.id && isText(value, tokens, at, 'id')) {
      clauses.id = { words: at + 1 < tokens.count ? [tokenText(value, at + 1)] : [], comments: [] }
    } else if (end === at) end++
  }
  if (end > from) clauses.date = value.slice(tokens.starts[from], tokens.ends[end - 1])
}

function openClause(name: ClauseName, clauses: ReceivedClauses): ReceivedClause {
  if (name === 'by' && clauses.by && clauses.from) foldBack(clauses.from, clauses)
  const clause = { words: [], comments: [] }
  clauses[name] = clause
  return clause
}

/** What was taken for clauses was the text of the peer. */
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
    // XMail and IBM's gateways write the return path like this.
    const isPath = at + 1 < tokens.count && value.charCodeAt(tokens.starts[at + 1] ?? 0) === 0x3c
    return isPath && !clauses['envelope-from'] ? 'envelope-from' : undefined
  }
  if (name === 'by') return !by || isByOfPeer(value, tokens, at, peer) ? name : undefined
  if (clauses[name]) return undefined
  return from || by || (name === 'with' && at === 0) ? name : undefined
}

/** Whether a second `by` ends the from clause, so that what seemed to be clauses was a HELO. */
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

/** Where the search for the peer's address goes on in a from clause that grows: no part twice. */
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
