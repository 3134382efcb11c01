import { characterSet } from './stretches.ts'

/** Base 64 over several lines, as a part of a mail stands in a text that is not read as one. */
export type FoldedBase64 = { start: number; end: number; decoded: string }

const lineMin = 40
const digits = characterSet('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const equalsSign = 0x3d

/**
 * All of a text, in order: lines of at least 40 digits, and one more that may be shorter. What is
 * decoded is a Latin-1 view.
 */
export function foldedBase64(text: string): FoldedBase64[] {
  const found: FoldedBase64[] = []
  let at = text.indexOf('\n', lineMin)
  while (at >= 0) {
    const start = lineBefore(text, at)
    const end = start === undefined ? at : endOfLines(text, at)
    if (start !== undefined && end > at) {
      const decoded = Buffer.from(text.slice(start, end), 'base64').toString('latin1')
      found.push({ start, end, decoded })
    }
    at = text.indexOf('\n', Math.max(end, at + 1))
  }
  return found
}

/** Where the digits before a line end begin; undefined where they are too few. */
function lineBefore(text: string, lineEnd: number): number | undefined {
  const last = contentEnd(text, lineEnd)
  let start = last
  while (start > 0 && digits[text.charCodeAt(start - 1)] === 1) start--
  if (last - start < lineMin || text.charCodeAt(start - 1) === equalsSign) return undefined
  return start
}

/** Where the lines of digits end that follow a line end; that itself where none does. */
function endOfLines(text: string, lineEnd: number): number {
  let end = lineEnd
  for (let start = lineEnd + 1; ;) {
    let at = start
    while (digits[text.charCodeAt(at)] === 1) at++
    if (at === start) return end
    end = at
    const isLong = at - start >= lineMin
    const next = text.charCodeAt(at) === 0x0d ? at + 1 : at
    if (!isLong || text.charCodeAt(next) !== 0x0a) break
    start = next + 1
  }
  for (let padding = 0; padding < 2 && text.charCodeAt(end) === equalsSign; padding++) end++
  return end
}

function contentEnd(text: string, lineEnd: number): number {
  return text.charCodeAt(lineEnd - 1) === 0x0d ? lineEnd - 1 : lineEnd
}
