/** A piece of a Received field: a word, a comment with its parentheses, or a semicolon. */
export type TokenKind = (typeof tokenKinds)[keyof typeof tokenKinds]

/** The kinds, as numbers, since a field has dozens of pieces and a message dozens of fields. */
export const tokenKinds = { word: 0, comment: 1, semicolon: 2 } as const

/** The pieces of one field, by where they start and end in it. */
export type ReceivedTokens = {
  count: number
  readonly kinds: Uint8Array
  readonly starts: Uint16Array
  readonly ends: Uint16Array
}

/** Longer values cannot be split: places in them must fit 16 bits. */
export const valueCharsMax = 64 * 1024 - 1

const tokensMax = 400
const lastTokensMax = 100
const tokenCharsMax = 1000

/** Used again for every field: making such arrays costs more than filling them. */
const tokens: ReceivedTokens = {
  count: 0,
  kinds: new Uint8Array(tokensMax + lastTokensMax),
  starts: new Uint16Array(tokensMax + lastTokensMax),
  ends: new Uint16Array(tokensMax + lastTokensMax),
}

/**
 * Splits the value of a Received field into its words, comments and semicolons (RFC 5322 §3.2.2,
 * §3.6.7). Comments may nest; a parenthesis that never closes is taken for a blank. Words in angle
 * or square brackets may hold blanks. Linear: of a longer field the first 400 tokens are read,
 * and then whatever follows its last semicolon. What is given back holds until the next call.
 */
export function receivedTokens(value: string): ReceivedTokens {
  tokens.count = 0
  const at = split(value, 0, tokensMax)
  if (at < value.length) {
    const semicolon = value.lastIndexOf(';')
    const isNear = semicolon >= at && value.length - semicolon <= tokenCharsMax
    if (isNear) split(value, semicolon, tokensMax + lastTokensMax)
  }
  return tokens
}

/** The text of a token, at most 1,000 characters; of a comment, what its parentheses hold. */
export function tokenText(value: string, token: number): string {
  const inset = tokens.kinds[token] === tokenKinds.comment ? 1 : 0
  const start = (tokens.starts[token] ?? 0) + inset
  return value.slice(start, Math.min((tokens.ends[token] ?? 0) - inset, start + tokenCharsMax))
}

/** Adds tokens up to a limit. Gives where it stopped. */
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

/** Where a bracket closes, within what is reasonable for an address, or undefined. */
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
