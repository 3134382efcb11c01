import { receivedTokens } from './received-tokens.ts'
import type { ReceivedToken } from './received-tokens.ts'

/** The words and comments that follow one keyword of a Received field. */
export type ReceivedClause = { words: string[]; comments: string[] }

/** A Received field, taken apart at its keywords. `date` is what follows the last semicolon. */
export type ReceivedClauses = Partial<Record<ClauseName, ReceivedClause | undefined>>

const keywords = ['from', 'by', 'via', 'with', 'id', 'for', 'envelope-from'] as const
type ClauseName = (typeof keywords)[number] | 'date'

/** How many words from the end a date without a semicolon may begin. */
const datelessTail = 12

/**
 * Takes the value of a Received field apart. The word after a keyword is its value whatever it
 * says, so a HELO of `by` cannot pass for a clause; a comment right after `from` stands for a HELO
 * that was empty. Of two `by` the last one counts: what strangers may choose stands before it.
 */
export function receivedClauses(value: string): {
  clauses: ReceivedClauses
  first: ReceivedToken | undefined
} {
  const tokens = receivedTokens(value)
  const clauses: ReceivedClauses = {}
  const semicolon = lastSemicolon(tokens)
  const end = semicolon < 0 ? datelessEnd(tokens) : semicolon
  let current: ReceivedClause | undefined
  let isValueDue = false
  for (let index = 0; index < end; index++) {
    const { kind, text } = tokens[index] as ReceivedToken
    if (kind === 'semicolon') isValueDue = false
    else if (kind === 'comment') {
      current?.comments.push(text)
      isValueDue &&= current !== clauses.from
    } else {
      const name: ClauseName | undefined = isValueDue
        ? undefined
        : keywordAt(tokens, index, clauses)
      isValueDue = name !== undefined
      if (name === undefined) current?.words.push(text)
      else current = openClause(name, clauses)
    }
  }
  if (end < tokens.length) readDate(tokens, semicolon < 0 ? end : end + 1, clauses)
  return { clauses, first: tokens[0] }
}

function lastSemicolon(tokens: readonly ReceivedToken[]): number {
  for (let at = tokens.length - 1; at >= 0; at--) if (tokens[at]?.kind === 'semicolon') return at
  return -1
}

/** Some mailers forget the semicolon before the date. */
function datelessEnd(tokens: readonly ReceivedToken[]): number {
  for (let at = Math.max(0, tokens.length - datelessTail); at < tokens.length; at++) {
    const { kind, text } = tokens[at] as ReceivedToken
    if (kind === 'word' && /^(?:\d{4}-\d\d-\d\d|(?:mon|tue|wed|thu|fri|sat|sun),)$/i.test(text)) {
      return at
    }
  }
  return tokens.length
}

/** Courier writes its identifier behind the date. */
function readDate(tokens: readonly ReceivedToken[], from: number, clauses: ReceivedClauses): void {
  const date = openClause('date', clauses)
  let clause = date
  for (let at = from; at < tokens.length; at++) {
    const { kind, text } = tokens[at] as ReceivedToken
    if (kind === 'comment') date.comments.push(text)
    else if (text === 'id' && !clauses.id) clause = openClause('id', clauses)
    else clause.words.push(text)
  }
}

function openClause(name: ClauseName, clauses: ReceivedClauses): ReceivedClause {
  if (name === 'by' && clauses.by && clauses.from) foldBack(clauses.from, clauses)
  const clause = { words: [], comments: [] }
  clauses[name] = clause
  return clause
}

/** What was taken for clauses was the text of the peer. */
function foldBack(from: ReceivedClause, clauses: ReceivedClauses): void {
  for (const name of keywords) {
    const clause = name === 'from' ? undefined : clauses[name]
    if (!clause) continue
    from.words.push(...clause.words)
    from.comments.push(...clause.comments)
    clauses[name] = undefined
  }
}

function keywordAt(
  tokens: readonly ReceivedToken[],
  index: number,
  clauses: ReceivedClauses,
): ClauseName | undefined {
  const name = keywordOf((tokens[index] as ReceivedToken).text)
  if (name === undefined) return undefined
  const { from, by } = clauses
  if (name === 'from') {
    if (!by) return from ? undefined : name
    // XMail and IBM's gateways write the return path like this.
    const next = tokens[index + 1]?.text
    return next?.startsWith('<') && !clauses['envelope-from'] ? 'envelope-from' : undefined
  }
  if (name === 'by') return !by || (from && tokens[index + 1]?.text !== 'uid') ? name : undefined
  if (clauses[name]) return undefined
  return from || by || (name === 'with' && index === 0) ? name : undefined
}

function keywordOf(word: string): (typeof keywords)[number] | undefined {
  if (word.length > 4 && word.length !== 13) return undefined
  for (const keyword of keywords) {
    if (word.length !== keyword.length) continue
    if ((word.charCodeAt(0) | 0x20) !== keyword.charCodeAt(0)) continue
    if (word.toLowerCase() === keyword) return keyword
  }
  return undefined
}
