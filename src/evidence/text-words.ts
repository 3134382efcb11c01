import { DENSE_MIN } from './encodings.ts'

/** Writes the parts of a text that have a shape, and those between them. */
export function between(
  text: string,
  shape: RegExp,
  inside: (one: string) => string,
  outside: (one: string) => string,
): string {
  let result = ''
  let done = 0
  for (let match = next(shape, text, 0); match !== null; match = next(shape, text, done)) {
    const { 0: found, index } = match
    result += (index > done ? outside(text.slice(done, index)) : '') + inside(found)
    done = index + found.length
  }
  return done === text.length ? result : result + outside(text.slice(done))
}

/** The next match of a global shape, which `inside` and `outside` may use as well. */
function next(shape: RegExp, text: string, from: number): RegExpExecArray | null {
  shape.lastIndex = from
  return shape.exec(text)
}

/** Whether a word is a host with a path. */
export function hasPath(text: string): boolean {
  const dot = text.indexOf('.')
  return dot > 0 && text.lastIndexOf('/') > dot + 1
}

/** Writes a link in a text; signs around it stay. */
export function trimmed(text: string, write: (url: string) => string): string {
  let end = text.length
  while (end > 0 && '.,;:!?*_'.includes(text.charAt(end - 1))) end--
  const start = text.search(/[\p{L}\p{N}]/u)
  if (start < 0 || start >= end) return text
  return text.slice(0, start) + write(text.slice(start, end)) + text.slice(end)
}

/** What ends a word, and what makes one suspect of more than language: `@`, `/` and digits. */
const ENDS = 1
const SUSPECT = 2
const roles = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[\s<>"'()[\]{},|]/.test(character)) return ENDS
  return /[\d@/]/.test(character) ? SUSPECT : 0
})
const SUSPECT_MIN = 4

/** Writes each word of a text that may be a link, an address or an identifier. */
export function eachSuspect(text: string, write: (word: string) => string): string {
  let result = ''
  let done = 0
  let start = 0
  let isSuspect = false
  const chars = text.length
  for (let at = 0; at <= chars; at++) {
    const code = at < chars ? text.charCodeAt(at) : 0x20
    const role = code < 0x80 ? (roles[code] ?? 0) : code === 0xa0 || code === 0x3000 ? ENDS : 0
    if (role === SUSPECT) isSuspect = true
    if (role !== ENDS) continue
    const length = at - start
    if (length >= SUSPECT_MIN && (isSuspect || length >= DENSE_MIN || text[start + 3] === '.')) {
      const word = text.slice(start, at)
      const written = write(word)
      if (written !== word) {
        result += text.slice(done, start) + written
        done = at
      }
    }
    start = at + 1
    isSuspect = false
  }
  return done === 0 ? text : result + text.slice(done)
}
