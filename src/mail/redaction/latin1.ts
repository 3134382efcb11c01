/**
 * A text as bytes, which are read twice as fast as characters. The bytes are in memory that the
 * next call of `latin1Of` reuses. Two tildes follow the text, which
 * continue no escape and no word.
 */
export type Latin1 = { text: string; bytes: Buffer; length: number }

const KEPT_BYTES_MAX = 1024 * 1024
const AFTER = 2
const TILDE = 0x7e
let kept = Buffer.alloc(64 * 1024)

/** Returns the bytes of a Latin-1 text; undefined if it has a character beyond U+00FF. */
export function latin1Of(text: string): Latin1 | undefined {
  // This test is free for a text that is stored as Latin-1.
  if (/[^\0-\xff]/.test(text)) return undefined
  const { length } = text
  const needed = length + AFTER
  if (needed > kept.length && needed <= KEPT_BYTES_MAX) {
    kept = Buffer.alloc(Math.min(KEPT_BYTES_MAX, needed * 2))
  }
  const bytes = needed > KEPT_BYTES_MAX ? Buffer.alloc(needed) : kept
  bytes.write(text, 0, 'latin1')
  bytes[length] = TILDE
  bytes[length + 1] = TILDE
  return { text, bytes, length }
}
