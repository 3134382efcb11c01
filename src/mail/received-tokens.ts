/** A piece of a Received field: a word, a comment (without its parentheses) or a semicolon. */
export type ReceivedToken = { kind: 'word' | 'comment' | 'semicolon'; text: string }

const tokensMax = 400
const tokenCharsMax = 1000

/**
 * Splits the value of a Received field into its words, comments and semicolons (RFC 5322 §3.2.2,
 * §3.6.7). Comments may nest; a parenthesis that never closes is taken for a blank. Words in angle
 * or square brackets may hold blanks. Linear: of a longer field the first 400 tokens are read,
 * and then whatever follows its last semicolon.
 */
export function receivedTokens(value: string): ReceivedToken[] {
  const tokens: ReceivedToken[] = []
  let comments = true
  let at = 0
  while (at < value.length && tokens.length < tokensMax) {
    const code = value.charCodeAt(at)
    if (isBlank(code) || code === 0x29) at++
    else if (code === 0x28) {
      const end = comments ? commentEnd(value, at) : undefined
      if (end === undefined) {
        comments = false
        at++
      } else {
        tokens.push({ kind: 'comment', text: clip(value, at + 1, end) })
        at = end + 1
      }
    } else if (code === 0x3b) {
      tokens.push({ kind: 'semicolon', text: ';' })
      at++
    } else {
      const end = wordEnd(value, at)
      tokens.push({ kind: 'word', text: clip(value, at, end) })
      at = end
    }
  }
  if (at < value.length) tokens.push(...lastTokens(value, at))
  return tokens
}

/** What stands behind the last semicolon: the date survives a flood of comments before it. */
function lastTokens(value: string, from: number): ReceivedToken[] {
  const semicolon = value.lastIndexOf(';')
  if (semicolon < from || value.length - semicolon > tokenCharsMax) return []
  const words = value.slice(semicolon + 1).split(/[\s()]+/)
  return [
    { kind: 'semicolon', text: ';' },
    ...words.filter((text) => text !== '').map((text) => ({ kind: 'word', text }) as const),
  ]
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

function wordEnd(value: string, start: number): number {
  const first = value.charCodeAt(start)
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

function clip(value: string, start: number, end: number): string {
  return value.slice(start, Math.min(end, start + tokenCharsMax))
}
