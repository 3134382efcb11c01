import { isUtf8 } from 'node:buffer'
import { remembered } from './text.ts'

/** Tables of the charsets that the platform does not know. */
export type CharsetTables = { decode: (bytes: Buffer, charset: string) => string }

/**
 * Decodes bytes in the charset that a message names, also under the usual wrong names (`cp-1251`,
 * `win1251`, `iso8859_1`). Text in an unknown charset, and text that is declared as ASCII or not at
 * all, is guessed. Marks of the byte order decide between UTF-16 and other charsets, and are
 * removed. Linear; never throws.
 */
export function decodeCharset(bytes: Buffer, charset: string, tables?: CharsetTables): string {
  const codec = codecOf(charset.slice(0, nameCharsMax))
  const mark = utf16Mark(bytes)
  if (mark !== undefined) return decodersOfUtf16[mark].decode(bytes)
  if (codec === 'utf-8') return withoutMark(bytes.toString())
  if (codec === 'unknown') return guessedText(bytes)
  if (codec === 'utf-16') return decodeUtf16(bytes)
  if (!('table' in codec)) return decodeByPlatform(bytes, codec)
  return (tables && decodeByTable(bytes, codec.table, tables)) ?? guessedText(bytes)
}

/** Whether only tables may know a charset. */
export function needsTables(charset: string): boolean {
  const codec = codecOf(charset.slice(0, nameCharsMax))
  return typeof codec === 'object' && 'table' in codec
}

const nameCharsMax = 60

/** The way to decode a charset; a table if only the tables of libmime know it. */
type Codec = 'utf-8' | 'utf-16' | 'unknown' | TextDecoder | { table: string }

const utf16Names = /^(?:utf.?16|ucs.?2|cs.?unicode|unicode(?!.*utf)|iso.?10646)/
/** Names of encodings of bytes, which the tables take for charsets. */
const encodingNames = /^(?:base|hex|binary|internal)/

const wrongNames = new Map(
  Object.entries({
    koi8r: 'koi8-r',
    koi8u: 'koi8-u',
    macroman: 'macintosh',
    tis620: 'windows-874',
    shiftjis: 'shift_jis',
    cp932: 'shift_jis',
    eucjp: 'euc-jp',
    euckr: 'euc-kr',
    cp949: 'euc-kr',
    cp936: 'gbk',
    cp950: 'big5',
  }),
)

const codecOf = remembered(
  (charset: string): Codec => {
    const name = /[a-z0-9][\w.:+-]*/.exec(charset.toLowerCase())?.[0] ?? ''
    const bare = name.replace(/[^a-z0-9]+/g, '')
    if (/^utf8(?:mb[34])?$/.test(bare)) return 'utf-8'
    if (/^(?:(?:us)?ascii|xuserdefined)?$/.test(bare)) return 'unknown'
    if (utf16Names.test(name)) return 'utf-16'
    const page = bare.replace(/^(?:windows|win|ansi|ms|cp|x)*(?=125\d$|874$)/, 'windows-')
    const part = bare.replace(/^(?:x|iso)?8859/, 'iso-8859-')
    for (const label of [name, bare, page, part, wrongNames.get(bare) ?? '']) {
      const decoder = newDecoder(label)
      if (decoder) return decoder
    }
    return encodingNames.test(bare) ? 'unknown' : { table: name }
  },
  { max: 100, charsMax: nameCharsMax },
)

function newDecoder(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label)
  } catch {
    return undefined
  }
}

function decodeByPlatform(bytes: Buffer, decoder: TextDecoder): string {
  if (decoder.encoding === 'iso-2022-jp') {
    const text = decoder.decode(withoutEmptyRuns(bytes))
    if (!text.includes('\uFFFD')) return text
    // Other encodings of Japanese are often declared as this one.
    const others = [utf8, eucJp, shiftJis].map((other) => other.decode(bytes))
    const other = bytes.includes(0x1b) ? undefined : others.find((one) => !one.includes('\uFFFD'))
    return other ?? text
  }
  const text = decoder.decode(bytes)
  // The decoders map unused bytes of the Windows pages to control characters.
  return decoder.encoding.startsWith('windows-') ? text.replace(/[\x80-\x9f]/g, '\uFFFD') : text
}

const utf8 = new TextDecoder('utf-8')
const eucJp = new TextDecoder('euc-jp')
const shiftJis = new TextDecoder('shift_jis')

/**
 * Removes escape sequences without text before the next one, as between two joined words. The
 * decoder would treat them as errors.
 */
function withoutEmptyRuns(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1').replace(/\x1b[($][@BIJ](?=\x1b[($])/g, '')
  return Buffer.from(text, 'latin1')
}

const decodersOfUtf16 = {
  'utf-16le': new TextDecoder('utf-16le'),
  'utf-16be': new TextDecoder('utf-16be'),
}

/** The byte order of a text that begins with a mark of UTF-16. */
function utf16Mark(bytes: Buffer): keyof typeof decodersOfUtf16 | undefined {
  const mark = bytes.length > 1 ? bytes.readUInt16BE() : 0
  return mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : undefined
}

/** Text that is declared as UTF-16 is often none; the zeros in it tell. */
function decodeUtf16(bytes: Buffer): string {
  const start = bytes.subarray(0, 1_024)
  let [even, odd] = [0, 0]
  for (const [at, byte] of start.entries()) {
    if (byte !== 0) continue
    if (at % 2 === 0) even++
    else odd++
  }
  const hasZeros = Math.max(even, odd) * 8 >= start.length
  if (!hasZeros && isPlain(bytes)) return bytes.toString('latin1')
  return decodersOfUtf16[hasZeros && even > odd ? 'utf-16be' : 'utf-16le'].decode(bytes)
}

/** Whether bytes are ASCII without escape sequences. */
function isPlain(bytes: Buffer): boolean {
  return /^[\t\n\f\r\x20-\x7e]*$/.test(bytes.toString('latin1'))
}

/** The tables need much memory, and those of UTF-7 half a second for a megabyte. */
const tableBytesMax = 512 * 1024

function decodeByTable(bytes: Buffer, name: string, tables: CharsetTables): string | undefined {
  if (isPlain(bytes) && !/utf.?7/.test(name)) return bytes.toString('latin1')
  const text = tables.decode(bytes.subarray(0, tableBytesMax), name).toWellFormed()
  return text.includes('\uFFFD') ? undefined : text
}

/** Reads bytes as UTF-8 unless most of their letters would be invalid, else as Windows-1252. */
function guessedText(bytes: Buffer): string {
  const text = bytes.toString()
  if (isUtf8(bytes)) return withoutMark(text)
  let [letters, invalid] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 0x7f) letters++
    if (code === 0xfffd) invalid++
  }
  return invalid * 2 > letters ? windows1252.decode(bytes) : withoutMark(text)
}

const windows1252 = new TextDecoder('windows-1252')

function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}
