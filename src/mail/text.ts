/**
 * Makes a text storable as PostgreSQL text and jsonb: NULs and lone surrogates become U+FFFD, and
 * text beyond `charsMax` UTF-16 units is cut. Never throws.
 */
export function storableText(text: string, charsMax: number): string {
  const cut = text.length > charsMax ? text.slice(0, charsMax) : text
  const whole = cut.isWellFormed() ? cut : cut.toWellFormed()
  return whole.includes('\0') ? whole.replaceAll('\0', '\uFFFD') : whole
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
 * Finds all runs of at least `lengthMin` characters of the set, each as long as possible. Checks
 * the earliest position at which a run could end and scans backwards from there: the first
 * character outside the set excludes all runs that begin before it. Ten times faster than a regular
 * expression, which tries again at each character.
 */
export function runsOf(text: string, set: Uint8Array, lengthMin: number): string[] {
  const found: string[] = []
  let start = 0
  for (let at = lengthMin - 1; at < text.length; at = start + lengthMin - 1) {
    let last = at
    while (last >= start && set[text.charCodeAt(last)] === 1) last--
    if (last >= start) {
      start = last + 1
      continue
    }
    let end = at + 1
    while (end < text.length && set[text.charCodeAt(end)] === 1) end++
    found.push(text.slice(start, end))
    start = end + 1
  }
  return found
}

/** Whether there is a run of at least `lengthMin` characters of the set. */
export function hasRun(text: string, set: Uint8Array, lengthMin: number): boolean {
  let start = 0
  for (let at = lengthMin - 1; at < text.length; at = start + lengthMin - 1) {
    let last = at
    while (last >= start && set[text.charCodeAt(last)] === 1) last--
    if (last < start) return true
    start = last + 1
  }
  return false
}
