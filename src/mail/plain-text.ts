const lineCharsMax = 76
const labelChars = 15
const factCharsMax = 300

/** A line that names a value, in a column with others; none where there is no value. */
export function fact(label: string, value: string | undefined): string[] {
  if (value === undefined || value === '') return []
  return [`  ${`${label}:`.padEnd(labelChars)} ${cleanLine(value).slice(0, factCharsMax)}`]
}

/** Strangers' text as one line: control characters and those that turn its direction are blanks. */
export function cleanLine(text: string): string {
  return text
    .replace(/[\0-\x1f\x7f\u0080-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim()
    .toWellFormed()
}

/** Lines of at most 76 characters; those after the first stand under the text of the first. */
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
