import type { Fingerprints } from '../../src/pieces/fingerprints.ts'

/** Returns the fingerprints of a long text that resembles no other; `mark` distinguishes texts. */
export function longText(mark: string): Fingerprints {
  return {
    words: '120',
    text: hexOf(`${mark} text`, 8),
    near: hexOf(mark, 36),
    head: hexOf(`${mark} head`, 8),
    wording: Buffer.from(hexOf(`${mark} words`, 120), 'hex').toString('base64'),
  }
}

/**
 * Returns the same text with changes in one of `every` samples and in one of twice as many words,
 * at the positions that `shift` selects.
 */
export function changed(of: Fingerprints, every: number, shift = 0): Fingerprints {
  const near = changedBytes(Buffer.from(of.near ?? '', 'hex'), every, shift)
  const wording = changedBytes(Buffer.from(of.wording ?? '', 'base64'), every * 2, shift)
  return {
    ...of,
    near: near.toString('hex'),
    wording: wording.toString('base64'),
    text: hexOf(`${of.text} ${every} ${shift}`, 8),
  }
}

function changedBytes(bytes: Buffer, every: number, shift: number): Buffer {
  for (let at = shift % every; at < bytes.length; at += every) bytes[at] = (bytes[at] ?? 0) ^ 0xff
  return bytes
}

/** Returns another text that shares the first `keys` keys with this one. */
export function sharingKeys(of: Fingerprints, keys: number, mark: string): Fingerprints {
  const shared = (of.near ?? '').slice(0, keys * 10)
  const other = longText(mark)
  return { ...other, near: shared + (other.near ?? '').slice(shared.length) }
}

function hexOf(text: string, bytes: number): string {
  let state = 0x811c9dc5
  for (const byte of Buffer.from(text)) state = Math.imul(state ^ byte, 0x01000193)
  const made = Buffer.alloc(bytes)
  for (let at = 0; at < bytes; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    made[at] = state >>> 11
  }
  return made.toString('hex')
}
