import { characterSet } from './stretches.ts'

/** Base 64 over several lines, as a part of a mail stands in a text that is not read as one. */
export type FoldedBase64 = { start: number; end: number; decoded: string }

const folded = /(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/]{40,}\r?\n)+[A-Za-z0-9+/]+={0,2}/g

/** All of a text, in order; what is decoded is a Latin-1 view. */
export function foldedBase64(text: string): FoldedBase64[] {
  if (!mayFold(text)) return []
  return [...text.matchAll(folded)].map(({ 0: lines, index: start }) => ({
    start,
    end: start + lines.length,
    decoded: Buffer.from(lines, 'base64').toString('latin1'),
  }))
}

const lineMin = 40
const digits = characterSet('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')

/** Whether any line of digits goes on in a next one: ten times as fast as the expression. */
function mayFold(text: string): boolean {
  for (let at = text.indexOf('\n', lineMin); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (digits[text.charCodeAt(at + 1)] !== 1) continue
    let last = text.charCodeAt(at - 1) === 0x0d ? at - 2 : at - 1
    const first = last - lineMin + 1
    if (first < 0) continue
    while (last >= first && digits[text.charCodeAt(last)] === 1) last--
    if (last < first) return true
  }
  return false
}
