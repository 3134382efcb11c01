/**
 * An invisible character in a text or in a Latin-1 view of its bytes; its length is 0 if there is
 * none.
 */
export type Invisible = {
  length: number
  /** A space for white space, empty for a character without width. */
  shows: '' | ' '
}

const blank = /^\p{White_Space}$/u
/** Characters without width: those that Unicode ignores by default, and format characters. */
const hidden = /^[\p{Default_Ignorable_Code_Point}\p{Cf}]$/u
/** Format characters that come before a number and are visible. */
const prepended = /^[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2]$/

/** Every invisible character beyond ASCII, by its bytes in UTF-8. */
const byBytes = new Map<string, '' | ' '>()
/** The same characters as in `byBytes`, by their bytes as one number. */
const byNumber = new Map<number, Invisible>()
const byCode = new Map<number, '' | ' '>()
/** Set to 1 at the index of each pair of bytes with which an invisible character begins. */
const beginnings = new Uint8Array(1 << 16)
for (const [from, to] of [
  [0x80, 0x3400],
  [0xa000, 0x10000],
  [0x13430, 0x13440],
  [0x1bca0, 0x1bca4],
  [0x1d173, 0x1d17b],
  [0xe0000, 0xe0200],
] as const) {
  for (let code = from; code < to; code++) {
    const character = String.fromCodePoint(code)
    const isHidden = hidden.test(character) && !prepended.test(character)
    const shows = blank.test(character) ? ' ' : isHidden ? '' : undefined
    if (shows === undefined) continue
    const bytes = Buffer.from(character)
    byCode.set(code, shows)
    byBytes.set(bytes.toString('latin1'), shows)
    byNumber.set(bytes.readUIntBE(0, bytes.length), { length: bytes.length, shows })
    beginnings[bytes.readUInt16BE()] = 1
  }
}
const none: Invisible = { length: 0, shows: '' }
/** The soft hyphen (U+00AD) as a single byte. */
const softHyphen: Invisible = { length: 1, shows: '' }
const nextLine = 0x85
const noBreakSpace = 0xa0

/**
 * The first characters of all invisible characters, for use inside the brackets of a regular
 * expression class.
 */
export const invisibleLeads = leadsOf()

function leadsOf(): string {
  const codes = new Set<number>()
  for (const bytes of byBytes.keys()) codes.add(bytes.charCodeAt(0))
  for (const code of byCode.keys()) codes.add(String.fromCodePoint(code).charCodeAt(0))
  // As single bytes, these two characters are parts of other letters; the searches for names handle
  // blanks themselves.
  codes.delete(nextLine)
  codes.delete(noBreakSpace)
  return [...codes].map((code) => `\\u${code.toString(16).padStart(4, '0')}`).join('')
}

/**
 * Alternatives for a regular expression that match the UTF-8 bytes of every blank beyond ASCII, as
 * these bytes occur in lower-case text.
 */
export const blankBytes = [...byBytes]
  .filter(([, shows]) => shows === ' ')
  .map(([bytes]) =>
    [...bytes.toLowerCase()].map((byte) => `\\x${byte.charCodeAt(0).toString(16)}`).join(''),
  )
  .join('|')

/** The invisible character at a position; its length is 0 if there is none. */
export function invisibleAt(text: string, at: number): Invisible {
  const code = text.charCodeAt(at)
  if (code <= 0xff) {
    if (code === 0xad) return softHyphen
    if (beginnings[(code << 8) | (text.charCodeAt(at + 1) & 0xff)] !== 1) return none
    let bytes = code
    for (let next = at + 1; next < at + 4; next++) {
      const byte = text.charCodeAt(next)
      if (byte > 0xff) return none
      bytes = bytes * 0x100 + byte
      const found = byNumber.get(bytes)
      if (found !== undefined) return found
    }
    return none
  }
  const whole = text.codePointAt(at) ?? code
  const shows = byCode.get(whole)
  return shows === undefined ? none : { length: whole > 0xffff ? 2 : 1, shows }
}

/**
 * A character by its code point, as displayed: empty when it has no width; undefined for a code
 * point beyond U+10FFFF.
 */
export function shownAs(code: number): string | undefined {
  if (code > 0x10ffff) return undefined
  return byCode.get(code) ?? String.fromCodePoint(code)
}

/**
 * Characters that have an HTML name, and that are invisible or can occur in a name or an address.
 */
const named: Readonly<Record<string, string>> = {
  ...{ nbsp: ' ', nonbreakingspace: ' ', ensp: ' ', emsp: ' ', thinsp: ' ', thinspace: ' ' },
  ...{
    hairsp: ' ',
    emsp13: ' ',
    emsp14: ' ',
    verythinspace: ' ',
    numsp: ' ',
    puncsp: ' ',
    mediumspace: ' ',
    tab: '\t',
  },
  ...{ newline: '\n', shy: '', zwj: '', zwnj: '', lrm: '', rlm: '', zerowidthspace: '' },
  ...{ nobreak: '', ic: '', invisiblecomma: '', it: '', invisibletimes: '', af: '' },
  ...{ applyfunction: '', negativethinspace: '', negativemediumspace: '' },
  ...{ negativethickspace: '', negativeverythinspace: '' },
  ...{ commat: '@', period: '.', plus: '+', lowbar: '_', underbar: '_', hyphen: '-', dash: '-' },
  ...{ apos: "'", szlig: '\xdf', aelig: '\xe6', oslash: '\xf8', eth: '\xf0', thorn: '\xfe' },
  ...{ aring: '\xe5', comma: ',', percnt: '%', num: '#', excl: '!', sol: '/', colon: ':' },
}

const accents: Readonly<Record<string, string>> = {
  ...{ grave: '\u0300', acute: '\u0301', circ: '\u0302', tilde: '\u0303', macr: '\u0304' },
  ...{ breve: '\u0306', dot: '\u0307', uml: '\u0308', ring: '\u030a', dblac: '\u030b' },
  ...{ caron: '\u030c', cedil: '\u0327', ogon: '\u0328' },
}

/** The character with an HTML name, if it can occur in a name or an address; else undefined. */
export function namedCharacter(name: string): string | undefined {
  const lower = name.toLowerCase()
  const known = Object.hasOwn(named, lower) ? named[lower] : undefined
  if (known !== undefined) return known
  const accent = accents[lower.slice(1)]
  return accent === undefined ? undefined : (lower.charAt(0) + accent).normalize('NFC')
}
