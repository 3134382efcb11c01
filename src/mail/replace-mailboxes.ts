import { characterSet } from './stretches.ts'

const lettersAndDigits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const localLetters = characterSet(`${lettersAndDigits}.!#$%&'*+/=?^_\`{|}~-`)
const domainLetters = characterSet(`${lettersAndDigits}.-`)
const localCharsMax = 256
const domainCharsMax = 253

/**
 * The text with the part before the `@` of each address in it replaced (RFC 5322 §3.2.3, dots
 * anywhere). Looks for the signs and from there to both sides: linear.
 */
export function replaceMailboxes(
  text: string,
  replace: (local: string, domain: string) => string,
): string {
  let result = ''
  let done = 0
  for (let sign = text.indexOf('@'); sign >= 0; sign = text.indexOf('@', sign + 1)) {
    let start = sign
    while (start > 0 && localLetters[text.charCodeAt(start - 1)] === 1) start--
    if (start === sign || sign - start > localCharsMax || start < done) continue
    const most = Math.min(text.length, sign + 1 + domainCharsMax)
    let end = sign + 1
    while (end < most && domainLetters[text.charCodeAt(end)] === 1) end++
    if (end === sign + 1) continue
    result += text.slice(done, start) + replace(text.slice(start, sign), text.slice(sign + 1, end))
    result += text.slice(sign, end)
    done = end
  }
  return done === 0 ? text : result + text.slice(done)
}
