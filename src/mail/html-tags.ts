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
  const quotedEnd = createQuotedEnd(text)
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
      end = tagEnd(text, { start, firstEnd, quotedEnd })
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

type TagSearch = {
  start: number
  firstEnd: number
  quotedEnd: (start: number) => number | undefined
}

/** After the `>` that ends a tag; the start itself where another one begins before. */
function tagEnd(text: string, { start, firstEnd, quotedEnd }: TagSearch): number {
  const most = Math.min(firstEnd, start + tagCharsMax)
  for (let at = start + 1; at < most; at++) {
    const code = text.charCodeAt(at)
    if (isQuote(code)) return quotedEnd(start) ?? firstEnd + 1
    if (code === 0x3c) return start
  }
  return firstEnd + 1
}

/**
 * Finds where a tag with quoted values ends; undefined where that is more than 10,000 characters
 * away. What a search that failed has read is not read again: it is kept where the tags end that
 * hold the values it came through.
 */
function createQuotedEnd(text: string): (start: number) => number | undefined {
  const ends = new Map<number, number>()
  let last = { start: 0, sign: 0 }
  return (start) => {
    const isKnown = last.start <= start && start < last.sign
    last = { start, sign: isKnown ? last.sign : nextSign(text, start + 1) }
    const values: number[] = []
    let sign = last.sign
    let end = ends.get(sign)
    while (end === undefined) {
      if (text.charCodeAt(sign) === 0x3e) end = sign + 1
      else if (sign === text.length) end = Infinity
      else {
        values.push(sign)
        const close = text.indexOf(text.charAt(sign), sign + 1)
        sign = close < 0 ? text.length : nextSign(text, close + 1)
        end = ends.get(sign)
      }
    }
    if (end - start <= tagCharsMax) return end
    for (const value of values) ends.set(value, end)
    return undefined
  }
}

/** Where a tag ends or a quoted value begins next; the length of the text where neither does. */
function nextSign(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x3e || (isQuote(code) && isAfterEqualsSign(text, at))) return at
  }
  return text.length
}

function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x27
}

function isAfterEqualsSign(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  return before === 0x3d || (before === 0x20 && text.charCodeAt(at - 2) === 0x3d)
}
