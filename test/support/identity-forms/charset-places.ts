import type { Place } from './draft.ts'
import { squeezed } from './needles.ts'
import { utf7 } from './way.ts'

type Encoder = (text: string) => Buffer | undefined

/** How a text is written in a charset, and how the part declares it. */
const charsets: readonly [name: string, label: string, encode: Encoder][] = [
  ['UTF-7', 'utf-7', (text) => Buffer.from(utf7(text))],
  ['UTF-7 without a label', 'utf-8', (text) => Buffer.from(utf7(text))],
  [
    'UTF-7 of IMAP',
    'x-imap4-modified-utf7',
    (text) => Buffer.from(utf7(text).replace('+', '&').replaceAll('/', ',')),
  ],
  ['UTF-16LE', 'utf-16le', (text) => Buffer.from(text, 'utf16le')],
  ['UTF-16BE', 'utf-16be', (text) => Buffer.from(text, 'utf16le').swap16()],
  ['UTF-16 with a mark', 'utf-16', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['UTF-16 labeled UTF-8', 'utf-8', (text) => Buffer.from(text, 'utf16le')],
  ['UTF-32', 'utf-32le', utf32],
  ['HZ with escapes', 'hz-gb-2312', (text) => ascii(text, (letter) => `${letter}~{~}`)],
  ['HZ labeled ASCII', 'us-ascii', (text) => ascii(text, (letter) => `${letter}~{~}`)],
  [
    'ISO-2022-JP with escapes',
    'iso-2022-jp',
    (text) => ascii(text, (letter) => `${letter}\u001b(B`),
  ],
  [
    'ISO-2022-KR with escapes',
    'iso-2022-kr',
    (text) => ascii(text, (letter) => `${letter}\u000e\u000f`),
  ],
  ['Shift_JIS full-width', 'shift_jis', (text) => encoderOf('shift_jis')(fullWidth(text))],
  ['EUC-JP full-width', 'euc-jp', (text) => encoderOf('euc-jp')(fullWidth(text))],
  ['GB 18030 full-width', 'gb18030', (text) => encoderOf('gb18030')(fullWidth(text))],
  ['Big5 full-width', 'big5', (text) => encoderOf('big5')(fullWidth(text))],
  ['EUC-KR full-width', 'euc-kr', (text) => encoderOf('euc-kr')(fullWidth(text))],
  ...[
    'shift_jis',
    'euc-jp',
    'gb18030',
    'big5',
    'euc-kr',
    'koi8-r',
    'windows-1251',
    'iso-8859-5',
    'ibm866',
  ].map(labeled),
  ...[
    'windows-1253',
    'windows-1256',
    'windows-1255',
    'iso-8859-2',
    'windows-1252',
    'macintosh',
  ].map(labeled),
  ['KOI8-R labeled windows-1251', 'windows-1251', (text) => encoderOf('koi8-r')(text)],
  ['windows-1251 labeled Latin-1', 'iso-8859-1', (text) => encoderOf('windows-1251')(text)],
  ['UTF-8 labeled Latin-1', 'iso-8859-1', (text) => Buffer.from(text)],
  ['UTF-8 labeled ASCII', 'us-ascii', (text) => Buffer.from(text)],
  ['UTF-8 with an unknown label', 'x-none', (text) => Buffer.from(text)],
  ['UTF-8 labeled UTF-16', 'utf-16', (text) => Buffer.from(text)],
  ['Latin-1 labeled UTF-8', 'utf-8', (text) => encoderOf('windows-1252')(text)],
]

/** Text parts in other charsets than UTF-8, and with wrong labels. */
export const charsetPlaces: readonly Place[] = ['plain', 'html'].flatMap((subtype) =>
  charsets.map(([name, label, encode]): Place => ({
    name: `text/${subtype} in ${name}`,
    medium: 'file',
    put({ parts }, written) {
      const isWide = /^utf-(?:16|32)/i.test(name)
      const body = encode(written)
      if (body === undefined) return 'impossible'
      const text = Buffer.from(isWide ? '' : 'Dear ')
      parts.push({
        fields: [
          `Content-Type: text/${subtype}; charset=${label}`,
          'Content-Transfer-Encoding: 8bit',
        ],
        body: Buffer.concat([text, body]),
      })
      // The bytes can be read by anyone who knows the charset, and as what the label says.
      return [...squeezed(decoded(label, body)), { kind: 'exact', text: body.toString('latin1') }]
    },
  })),
)

/** A text as the label of its part says: with a wrong label it is still the same code. */
function decoded(label: string, body: Buffer): string {
  try {
    return new TextDecoder(label).decode(body).replaceAll('\ufffd', '')
  } catch {
    return ''
  }
}

function labeled(charset: string): [string, string, Encoder] {
  return [charset, charset, (text) => encoderOf(charset)(text)]
}

function ascii(text: string, write: (letter: string) => string): Buffer | undefined {
  return /^[\x20-\x7e]*$/.test(text) ? Buffer.from([...text].map(write).join('')) : undefined
}

function fullWidth(text: string): string {
  return text
    .replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0))
    .replaceAll(' ', '\u3000')
}

function utf32(text: string): Buffer {
  return Buffer.concat(
    [...text].map((letter) => {
      const four = Buffer.alloc(4)
      four.writeUInt32LE(letter.codePointAt(0) ?? 0)
      return four
    }),
  )
}

const tables = new Map<string, Encoder>()

/** Returns the encoder of a charset of one or two bytes; made from the decoder of the platform. */
function encoderOf(charset: string): Encoder {
  const known = tables.get(charset)
  if (known !== undefined) return known
  const decoder = new TextDecoder(charset)
  const bytesOf = new Map<string, Buffer>()
  const learn = (bytes: Buffer) => {
    const text = decoder.decode(bytes)
    if ([...text].length === 1 && text !== '\ufffd' && !bytesOf.has(text)) bytesOf.set(text, bytes)
  }
  for (let one = 1; one < 256; one++) learn(Buffer.from([one]))
  for (let one = 0x81; one < 256; one++)
    for (let two = 0x40; two < 256; two++) learn(Buffer.from([one, two]))
  const encode: Encoder = (text) => {
    const letters = [...text.normalize('NFC')].map((letter) => bytesOf.get(letter))
    return letters.includes(undefined) ? undefined : Buffer.concat(letters as Buffer[])
  }
  tables.set(charset, encode)
  return encode
}
