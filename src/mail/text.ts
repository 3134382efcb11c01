/**
 * Makes a text storable as PostgreSQL text and jsonb: NULs and lone surrogates become U+FFFD, and
 * text beyond `charsMax` UTF-16 units is cut. Never throws.
 */
export function storableText(text: string, charsMax: number): string {
  const cut = text.length > charsMax ? text.slice(0, charsMax) : text
  const whole = cut.isWellFormed() ? cut : cut.toWellFormed()
  return whole.includes('\0') ? whole.replaceAll('\0', '\uFFFD') : whole
}

/**
 * Returns a function that computes the same and remembers its last results, up to twice `max`, for
 * texts of at most `charsMax` characters: for what is asked again and again about one message, or
 * about every message. Results must not be changed. An LRU cache takes several times as long.
 */
export function remembered<T>(
  compute: (text: string) => T,
  { max, charsMax }: { max: number; charsMax: number },
): (text: string) => T {
  let latest = new Map<string, { result: T }>()
  let older = latest
  return (text) => {
    const known = latest.get(text)
    if (known) return known.result
    if (text.length > charsMax) return compute(text)
    const found = older.get(text) ?? { result: compute(text) }
    if (latest.size >= max) {
      older = latest
      latest = new Map()
    }
    // A copy of the text: a slice would keep the whole message in memory.
    latest.set(` ${text}`.slice(1), found)
    return found.result
  }
}

/**
 * Removes certain signs at the end of a text. Linear time, other than a pattern such as `,+$`,
 * which begins anew at each sign in the middle.
 */
export function trimmedEnd(text: string, signs: string): string {
  let end = text.length
  while (end > 0 && signs.includes(text[end - 1] ?? '')) end--
  return text.slice(0, end)
}

const lineCharsMax = 76
const labelChars = 15
const factCharsMax = 300

/** Formats a labeled value as one aligned line; returns no line when there is no value. */
export function fact(label: string, value: string | undefined): string[] {
  if (value === undefined || value === '') return []
  return [`  ${`${label}:`.padEnd(labelChars)} ${cleanLine(value).slice(0, factCharsMax)}`]
}

/**
 * Makes untrusted text one line: control characters, also those for text direction, become spaces.
 */
export function cleanLine(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text.trim()
  return text
    .replace(/[\0-\x1f\x7f\u0080-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim()
    .toWellFormed()
}

/**
 * Wraps text into lines of at most 76 characters, indented to the start of the text after the
 * bullet.
 */
export function wrap(text: string, bullet: string): string[] {
  const lines: string[] = []
  let line = bullet
  for (const word of text.split(/\s+/)) {
    const isStart = line.length === bullet.length
    if (!isStart && line.length + 1 + word.length > lineCharsMax) {
      lines.push(line)
      line = ' '.repeat(bullet.length) + word
    } else {
      line += isStart ? word : ` ${word}`
    }
  }
  return [...lines, line]
}

/** Builds a character set for `runsOf`; all characters must be below U+0100. */
export function characterSet(characters: string): Uint8Array {
  const set = new Uint8Array(256)
  for (const character of characters) set[character.charCodeAt(0)] = 1
  return set
}

/**
 * Invisible characters that change the visible text: controls, bidirectional marks and overrides,
 * zero-width characters, line separators, tags and variation selectors. Excludes those inside emoji
 * sequences, such as families or skin tones, where they hide nothing.
 */
const unseen = new RegExp(
  `(?:${[
    '[\\u0000-\\u0008\\u000B-\\u001F\\u007F-\\u009F]',
    '[\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u3164\\uFFA0]',
    '[\\u200B-\\u200F\\u2028-\\u202E\\u2060-\\u206F\\uFE00-\\uFE0F\\uFEFF\\uFFF9-\\uFFFB]',
    '[\\u{E0000}-\\u{E007F}\\u{E0100}-\\u{E01EF}]',
  ].join('|')})(?<!${[
    '\\p{ExtPict}\\uFE0F',
    '[#*0-9]\\uFE0F(?=\\u20E3)',
    '\\p{ExtPict}(?:\\uFE0F|\\p{EMod})?\\u200D(?=\\p{ExtPict})',
  ].join('|')})`,
  'gu',
)

/**
 * Untrusted text for display: on one line, cut to `charsMax` characters, with invisible characters
 * replaced by their code points (`‹U+202E›`), so that it cannot imitate other text.
 */
export function shownLine(text: string | null | undefined, charsMax = 300): string {
  return shown(
    (text ?? '')
      .slice(0, charsMax * 4)
      .replaceAll(/[\t\n\r ]+/g, ' ')
      .trim(),
    charsMax,
  )
}

/** Untrusted text for display like `shownLine`, but with its line ends and tabs. */
export function shownText(text: string, charsMax: number): string {
  return shown(text.replaceAll('\r\n', '\n'), charsMax)
}

/** Decodes the bytes of a message: UTF-8 if valid, otherwise Latin-1. */
export function shownBytes(raw: Buffer, bytesMax: number): string {
  const bytes = raw.subarray(0, bytesMax)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, {
      stream: bytes.length < raw.length,
    })
    return shownText(text, bytesMax)
  } catch {
    return shownText(bytes.toString('latin1'), bytesMax)
  }
}

function shown(text: string, charsMax: number): string {
  const whole = text.length > charsMax ? `${text.slice(0, charsMax).toWellFormed()}…` : text
  return whole.replaceAll(unseen, spelled)
}

function spelled(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `\u2039U+${code.toString(16).toUpperCase().padStart(4, '0')}\u203a`
}

/** Leaves one blank line of several, and no blanks at the ends of lines. */
export function tidied(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd())
  return lines
    .filter((line, at) => line !== '' || lines[at - 1] !== '')
    .join('\n')
    .trim()
}

/** Parses JSON; undefined for any other text. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
