/** Base 64 over several lines, as a part of a mail stands in a text that is not read as one. */
export type FoldedBase64 = { start: number; end: number; decoded: string }

const folded = /(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/]{40,}\r?\n)+[A-Za-z0-9+/]+={0,2}/g

/** All of a text, in order; what is decoded is a Latin-1 view. */
export function foldedBase64(text: string): FoldedBase64[] {
  return [...text.matchAll(folded)].map(({ 0: lines, index: start }) => ({
    start,
    end: start + lines.length,
    decoded: Buffer.from(lines, 'base64').toString('latin1'),
  }))
}
