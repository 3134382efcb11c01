import { invisibleAt, invisibleLeads, namedCharacter, shownAs } from '../invisible-characters.ts'

/** The position of a tag or comment in a text. */
type Tag = { start: number; end: number }

const tagCharsMax = 10_000

/**
 * The tags and comments of a text, in order. A `>` in a quoted value does not end a tag. If the
 * quote is still open after 10,000 characters, the first `>` ends the tag. Linear time.
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
      // `<!-->` is a complete comment.
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

/** Whether a `<` begins a tag: only before a letter, `/`, `!` or `?`. */
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

/** Returns the position after the `>` of a tag; the start itself if another tag begins before. */
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
 * Creates a search for the end of a tag with quoted values. The search returns undefined if the end
 * is more than 10,000 characters away. Stores the ends found by failed searches, so that no text is
 * searched twice.
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

/**
 * Returns the next end of a tag or beginning of a quoted value; the length of the text if there is
 * neither.
 */
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

/** A decoded text, with the positions in the written text. */
export type TextView = {
  /** In lower case, with one character in place of each encoded character. */
  text: string
  /** Returns the start in the written text of the character at `at`. */
  startOf(at: number): number
  /** Returns the end in the written text of the character at `at`. */
  endOf(at: number): number
  /**
   * Returns the same view with a `CUT` in place of everything that was removed between two
   * characters: folds, soft line breaks, invisible characters, tags. A sender can use these to
   * split a name or a word.
   */
  withCuts(): TextView
}

/** The character that replaces removed content in a view with cuts. */
export const CUT = '\x01'

/**
 * Returns views of the text: without soft line breaks, folds, NULs and invisible characters; then
 * also percent-, HTML- and `\u`-decoded; then also quoted-printable-decoded; then without tags, as
 * a page shows it. There are several views because `%` and `=` are also ordinary characters; equal
 * views are omitted. Linear time.
 */
export function textViews(written: string): TextView[] {
  const marks = marksIn(written)
  const views = [marks.length === 0 ? plainView(written) : viewOf(written, marks, 'filler')]
  if (marks.some(({ kind }) => kind === 'escape')) views.push(viewOf(written, marks, 'escape'))
  if (marks.some(({ kind }) => kind === 'quote')) views.push(viewOf(written, marks, 'quote'))
  const tags = tagsIn(written)
  if (tags.length > 0) views.push(viewOf(written, betweenTags(tags, marks), 'tag'))
  return views
}

/** Returns the marks outside tags; tags and their content are invisible. */
function betweenTags(tags: readonly Tag[], marks: readonly Mark[]): Mark[] {
  const shown: Mark[] = []
  let next = 0
  let done = 0
  const takeUntil = (end: number) => {
    for (; (marks[next]?.start ?? Infinity) < end; next += 1) {
      const mark = marks[next]
      if (mark && mark.start >= done && mark.end <= end && mark.kind !== 'quote') shown.push(mark)
    }
  }
  for (const { start, end } of tags) {
    takeUntil(start)
    done = end
    shown.push({ start, end, kind: 'tag', character: '' })
  }
  takeUntil(Infinity)
  return shown
}

type Kind = 'filler' | 'escape' | 'quote' | 'tag'
type Mark = { start: number; end: number; kind: Kind; character: string }

const depth = { filler: 0, escape: 1, quote: 2, tag: 3 } as const
const filler = /=\r?\n|\r?\n[ \t]|\0+|<wbr ?\/?>/iy
type Escape = { shape: RegExp; characterOf: (group: string) => string | undefined }
const hexadecimal = (digits: string) => shownAs(Number.parseInt(digits, 16))
const decimal = (digits: string) => shownAs(Number.parseInt(digits, 10))
const percentSign = { shape: /%(?:25){0,3}([0-9a-f]{2})/iy, characterOf: hexadecimal }
const ampersand = [
  { shape: /&(?:amp;)?#x0{0,8}([0-9a-f]{1,6});?/iy, characterOf: hexadecimal },
  { shape: /&(?:amp;)?#0{0,8}([0-9]{1,7});?/iy, characterOf: decimal },
  { shape: /&(?:amp;)?(nbsp|[a-z]{2,23}[0-9]{0,2}(?=;));?/iy, characterOf: namedCharacter },
]
const backslash = { shape: /\\(?:u([0-9a-f]{4})|x([0-9a-f]{2}))/iy, characterOf: hexadecimal }
const plusSign = { shape: /\+AEA-?/iy, characterOf: () => '@' }
/** Escapes by their first character. */
const escapes: ReadonlyMap<string, readonly Escape[]> = new Map([
  ['%', [percentSign]],
  ['&', ampersand],
  ['\\', [backslash]],
  ['+', [plusSign]],
])
const quote = /=(?:3d){0,2}([0-9a-f]{2})/iy
/** The beginnings of all marks, which are fast to search for: most characters begin none. */
const lead = new RegExp(
  [
    /[=%][0-9A-Fa-f\r\n]|\r?\n[ \t]|<[Ww]|&[#A-Za-z]|\\[UXux]|\+[Aa]|\0/.source,
    `[${invisibleLeads}]`,
  ].join('|'),
  'g',
)

/** Whether a mark may begin with two characters; a line end needs one more for a fold. */
export function isLead(pair: string): boolean {
  lead.lastIndex = 0
  return pair === '\r\n' || lead.exec(pair)?.index === 0
}

/** Returns all escapes and invisible characters in the text, from left to right. */
function marksIn(written: string): Mark[] {
  const marks: Mark[] = []
  lead.lastIndex = 0
  for (let found = lead.exec(written); found; found = lead.exec(written)) {
    const mark = markAt(written, found.index)
    if (mark) marks.push(mark)
    lead.lastIndex = mark?.end ?? found.index + 1
  }
  return marks
}

/** Returns the mark that begins at a position where `isLead` is true, if any. */
export function markAt(written: string, start: number): Mark | undefined {
  const first = written.charAt(start)
  if (first === '=' || first === '%') {
    const value = byteOf(written, start + 1)
    // A decoded `%` or `=` may begin another escape, because text may be encoded twice.
    if (value >= 0 && value !== 0x25 && value !== 0x3d) {
      const kind = first === '=' ? 'quote' : 'escape'
      return { start, end: start + 3, kind, character: String.fromCharCode(value) }
    }
  }
  if (first > '\x7f') return invisibleMark(written, start)
  if (!escapes.has(first)) {
    filler.lastIndex = start
    if (filler.test(written)) return { start, end: filler.lastIndex, kind: 'filler', character: '' }
  }
  return first === '=' ? quoteAt(written, start) : escapeAt(written, start)
}

/**
 * Returns the mark for the invisible characters at a position: one character shown as a space, or a
 * run of characters without width. Undefined if there are none.
 */
function invisibleMark(written: string, start: number): Mark | undefined {
  const { length, shows } = invisibleAt(written, start)
  if (length === 0) return undefined
  let end = start + length
  while (shows === '') {
    const next = invisibleAt(written, end)
    if (next.length === 0 || next.shows !== '') break
    end += next.length
  }
  return { start, end, kind: 'filler', character: shows }
}

function escapeAt(written: string, start: number): Mark | undefined {
  for (const { shape, characterOf } of escapes.get(written.charAt(start)) ?? []) {
    shape.lastIndex = start
    const found = shape.exec(written)
    if (!found) continue
    const character = characterOf(found[1] ?? found[2] ?? '')
    if (character === undefined) return undefined
    const kind = character === '' ? 'filler' : 'escape'
    return { start, end: shape.lastIndex, kind, character }
  }
  return undefined
}

function quoteAt(written: string, start: number): Mark | undefined {
  quote.lastIndex = start
  const [, digits] = quote.exec(written) ?? []
  if (digits === undefined) return undefined
  return {
    start,
    end: quote.lastIndex,
    kind: 'quote',
    character: String.fromCharCode(Number.parseInt(digits, 16)),
  }
}

/** Returns the byte encoded by two hexadecimal digits, or a negative number. */
function byteOf(written: string, at: number): number {
  const high = digitValues[written.charCodeAt(at)] ?? -1
  const low = digitValues[written.charCodeAt(at + 1)] ?? -1
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

const digitValues = new Int8Array(256).fill(-1)
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  digitValues[digit.charCodeAt(0)] = value
  digitValues[digit.toUpperCase().charCodeAt(0)] = value
}

/** Returns a view of the text as written, without decoding. */
export function plainView(written: string): TextView {
  const view: TextView = {
    text: lowerCase(written),
    startOf: (at) => at,
    endOf: (at) => at + 1,
    withCuts: () => view,
  }
  return view
}

function viewOf(written: string, marks: readonly Mark[], kind: Kind): TextView {
  const withCuts = () => viewBy(written, { marks, deepest: depth[kind], cut: CUT })
  return viewBy(written, { marks, deepest: depth[kind], cut: '', withCuts })
}

/**
 * How to decode a text for a view: applies the marks up to the depth `deepest`, and puts `cut` in
 * place of invisible content.
 */
type Reading = {
  marks: readonly Mark[]
  deepest: number
  cut: string
  withCuts?: () => TextView
}

function viewBy(written: string, reading: Reading): TextView {
  const { marks, deepest, cut } = reading
  let text = ''
  let done = 0
  for (const { start, end, kind, character } of marks) {
    if (depth[kind] > deepest) continue
    if (start > done) text += written.slice(done, start)
    text += character === '' ? cut : character
    done = end
  }
  text += written.slice(done)
  // Most views contain no match, so positions are computed only when needed.
  let known: Pieces | undefined
  const startOf = (at: number) => {
    const { viewAt, writtenAt } = (known ??= piecesOf(reading))
    const piece = lastUpTo(viewAt, at)
    return (writtenAt[piece] ?? 0) + (at - (viewAt[piece] ?? 0))
  }
  const endOf = (at: number) => {
    const { viewAt, width } = (known ??= piecesOf(reading))
    return startOf(at) + (width[lastUpTo(viewAt, at)] ?? 1)
  }
  const view: TextView = {
    text: lowerCase(text),
    startOf,
    endOf,
    withCuts: reading.withCuts ?? (() => view),
  }
  return view
}

/**
 * The pieces of a view: the start of each in the view, its start in the written text, and the
 * written width of its characters.
 */
type Pieces = { viewAt: number[]; writtenAt: number[]; width: number[] }

/** Returns the pieces where a view differs from the written text. */
function piecesOf({ marks, deepest, cut }: Reading): Pieces {
  const viewAt = [0]
  const writtenAt = [0]
  const width = [1]
  let at = 0
  let done = 0
  for (const { start, end, kind, character } of marks) {
    if (depth[kind] > deepest) continue
    const shown = character === '' ? cut : character
    at += start - done
    if (shown !== '') {
      viewAt.push(at)
      writtenAt.push(start)
      width.push(end - start)
      at += shown.length
    }
    viewAt.push(at)
    writtenAt.push(end)
    width.push(1)
    done = end
  }
  return { viewAt, writtenAt, width }
}

/** Lowercases a text without changing its length, as some letters would. */
function lowerCase(text: string): string {
  const lower = text.toLowerCase()
  return lower.length === text.length ? lower : text.replace(/[A-Z]+/g, (run) => run.toLowerCase())
}

/** Returns the index of the last of the sorted numbers that is not greater than `most`. */
export function lastUpTo(numbers: readonly number[], most: number): number {
  let low = 0
  let high = numbers.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((numbers[middle] ?? 0) <= most) low = middle
    else high = middle - 1
  }
  return low
}
