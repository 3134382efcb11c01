const base64 = /^[A-Za-z0-9+/]+$/
const blank = /[\r\n\t ]/
const blanks = /[\r\n\t ]+/g

/**
 * The bytes of a base64 text (RFC 4648 §4), line breaks and missing padding forgiven; undefined
 * when it is anything else. Unlike Node's own decoder, which passes over what it does not know.
 */
export function parseBase64(text: string): Buffer | undefined {
  const whole = blank.test(text) ? text.replace(blanks, '') : text
  let end = whole.length
  while (end > 0 && end > whole.length - 2 && whole.charCodeAt(end - 1) === 0x3d) end--
  const bare = end === whole.length ? whole : whole.slice(0, end)
  if (bare.length === 0) return whole.length === 0 ? Buffer.alloc(0) : undefined
  if (bare.length % 4 === 1 || !base64.test(bare)) return undefined
  return Buffer.from(bare, 'base64')
}
