/** Where a tag or a comment stands in a text. */
export type Tag = { start: number; end: number }

const tagCharsMax = 10_000

/**
 * The tags and comments of a text, in order. A `>` in a quoted value does not end a tag, unless the
 * quote is still open after 10,000 characters: then the first one does. Linear time.
 */
export function tagsIn(text: string): Tag[] {
  const tags: Tag[] = []
  let firstEnd = 0
  let commentEnd = 0
  for (let start = text.indexOf('<'); start >= 0; start = text.indexOf('<', start)) {
    if (firstEnd <= start) firstEnd = text.indexOf('>', start)
    if (firstEnd < 0) break
    let end = start
    if (text.startsWith('<!--', start)) {
      // `<!-->` is a whole one.
      const from = start + 2
      if (commentEnd >= 0 && commentEnd < from) commentEnd = text.indexOf('-->', from)
      end = commentEnd < 0 ? firstEnd + 1 : commentEnd + 3
    } else if (isTagStart(text, start + 1)) {
      end = tagEnd(text, start, firstEnd)
    }
    if (end > start) tags.push({ start, end })
    start = Math.max(end, start + 1)
  }
  return tags
}

/** A letter, `/`, `!` or `?`: all else after a `<` is a sign that stands for itself. */
function isTagStart(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  const lower = code | 0x20
  return (lower >= 0x61 && lower <= 0x7a) || code === 0x2f || code === 0x21 || code === 0x3f
}

/** After the `>` that ends a tag; the start itself where another one begins before. */
function tagEnd(text: string, start: number, firstEnd: number): number {
  const most = Math.min(firstEnd, start + tagCharsMax)
  for (let at = start + 1; at < most; at++) {
    const code = text.charCodeAt(at)
    if (isQuote(code)) return quotedEnd(text, start) ?? firstEnd + 1
    if (code === 0x3c) return start
  }
  return firstEnd + 1
}

function quotedEnd(text: string, start: number): number | undefined {
  const most = Math.min(text.length, start + tagCharsMax)
  let quote = 0
  for (let at = start + 1; at < most; at++) {
    const code = text.charCodeAt(at)
    if (quote !== 0) {
      if (code === quote) quote = 0
    } else if (isQuote(code) && isAfterEqualsSign(text, at)) quote = code
    else if (code === 0x3e) return at + 1
  }
  return undefined
}

function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x27
}

function isAfterEqualsSign(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  return before === 0x3d || (before === 0x20 && text.charCodeAt(at - 2) === 0x3d)
}
