/**
 * Splits SQL into its statements, without the semicolons that end them. A comment stays with the
 * statement that follows it; a text without a statement gives none. Bodies of functions must be
 * texts: `begin atomic … end` is not supported.
 */
export function splitStatements(text: string): string[] {
  const statements: string[] = []
  let from = 0
  let isEmpty = true
  const end = (at: number) => {
    if (!isEmpty) statements.push(text.slice(from, at).trim())
    from = at + 1
    isEmpty = true
  }
  for (let at = 0; at < text.length;) {
    const until = at + lengthAt(text, at)
    if (text[at] === ';') end(at)
    else if (!/^(?:\s|--|\/\*)/.test(text.slice(at, at + 2))) isEmpty = false
    at = until
  }
  end(text.length)
  return statements
}

/**
 * What may contain a semicolon that ends no statement (comments, texts with and without escapes,
 * quoted names), and names, in which a dollar sign begins no text.
 */
const part =
  /--[^\n]*|e'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*/isuy

/** The length of the part of SQL that begins at a position. Without an end, it is the rest. */
function lengthAt(text: string, at: number): number {
  if (text.startsWith('/*', at)) return lengthOfComment(text, at)
  const tag = /^\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/u.exec(text.slice(at, at + NAME_CHARS_MAX + 2))?.[0]
  if (tag !== undefined) {
    const last = text.indexOf(tag, at + tag.length)
    return (last === -1 ? text.length : last + tag.length) - at
  }
  part.lastIndex = at
  const found = part.exec(text)?.[0]
  if (found !== undefined) return found.length
  return text[at] === "'" || text[at] === '"' ? text.length - at : 1
}

/** Names in PostgreSQL have at most 63 characters. */
const NAME_CHARS_MAX = 63

/** The length of a comment, which may contain others. */
function lengthOfComment(text: string, from: number): number {
  let depth = 0
  for (const { 0: mark, index } of text.slice(from).matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1
    if (depth === 0) return index + 2
  }
  return text.length - from
}
