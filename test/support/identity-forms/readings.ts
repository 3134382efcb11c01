import { inflateRawSync, inflateSync, gunzipSync } from 'node:zlib'

const DEPTH_MAX = 5
const READINGS_MAX = 200
const BASE64_TEXTS_MAX = 10_000

/**
 * Returns everything that can be read in a mail: its text, and the texts that result from undoing
 * encodings, in any order and repeatedly. It does not know the structure of mail: a part is a run
 * of base64 or of quoted-printable, wherever it stands.
 */
export function readingsOf(raw: Buffer): string[] {
  const seen = new Set<string>()
  for (const text of textsOf(raw)) read(text, seen, 0)
  return [...seen]
}

function read(text: string, seen: Set<string>, depth: number): void {
  if (text.length < 4 || seen.has(text) || seen.size >= READINGS_MAX) return
  seen.add(text)
  if (depth >= DEPTH_MAX) return
  const decoded = undoAll(text, undoings)
  // What looks like quoted-printable may be a value after an equal sign, also in the decoded text.
  const others = [undoAll(text, notQuoted), undoAll(undoQuoted(text), notQuoted)]
  for (const one of new Set([decoded, ...others])) {
    for (const view of [one, ...withoutMarkup(one)]) seen.add(view)
  }
  const opened = [...openedRuns(decoded)]
  if (decoded !== text) opened.push(...openedRuns(text))
  // Short runs are read together: most of them are not base64.
  const [long, short] = [
    opened.filter((one) => one.length > 200),
    opened.filter((one) => one.length <= 200),
  ]
  for (const one of [...long, short.join('\n')]) read(one, seen, depth + 1)
}

/** Bytes as UTF-8 and, if they are not, as Latin-1 and UTF-16. */
function textsOf(bytes: Buffer): string[] {
  const utf8 = bytes.toString('utf8')
  const texts = [utf8]
  if (utf8.includes('\ufffd')) texts.push(bytes.toString('latin1'))
  if (bytes.includes(0)) {
    const even = bytes.subarray(0, bytes.length - (bytes.length % 2))
    texts.push(even.toString('utf16le'), Buffer.from(even).swap16().toString('utf16le'))
    texts.push(utf8.replaceAll('\0', ''))
  }
  return texts
}

/** Undoes the encodings of single characters until nothing changes. */
function undoAll(text: string, list: typeof undoings): string {
  let last = text
  for (let round = 0; round < 4; round++) {
    let next = last
    for (const undo of list) next = undo(next)
    if (next === last) break
    last = next
  }
  return last
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  shy: '',
  zwnj: '',
  zwj: '',
  commat: '@',
  period: '.',
  lowbar: '_',
  plus: '+',
  hyphen: '-',
  dash: '-',
  colon: ':',
  sol: '/',
  bsol: '\\',
  equals: '=',
  percnt: '%',
  num: '#',
  Tab: '',
  NewLine: '',
}

const undoings: readonly ((text: string) => string)[] = [
  (text) => text.replace(/\?=\s+=\?/g, '?==?'),
  (text) =>
    text.replace(/=\?([\w.*-]+)\?([bq])\?([^?\s]*)\?=/gi, (_, charset, method, content) =>
      encodedWord(String(charset), String(method), String(content)),
    ),
  undoQuoted,
  (text) => text.replace(/\r?\n[ \t]+/g, ' '),
  (text) => text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => fromHex(run.replaceAll('%', ''))),
  (text) => text.replace(/&#x([0-9a-f]{1,8});?/gi, (_, hex) => fromCode(String(hex), 16)),
  (text) => text.replace(/&#(\d{1,9});?/g, (_, digits) => fromCode(String(digits), 10)),
  (text) => text.replace(/&(\w{2,8});/g, (all, name) => named[String(name)] ?? all),
  (text) => text.replace(/[\\%]u\{?([0-9a-f]{4,6})\}?/gi, (_, hex) => fromCode(String(hex), 16)),
  (text) => text.replace(/(?:\\x[0-9a-f]{2})+/gi, (run) => fromHex(run.replaceAll('\\x', ''))),
  (text) => text.replace(/\\([0-9a-f]{2,6})(?: |(?=\\))/gi, (_, hex) => fromCode(String(hex), 16)),
  (text) => text.replace(/[+&]([A-Za-z0-9+/,]{3,})-/g, (all, run) => utf7(String(run)) ?? all),
  (text) => text.replace(/(?:\u001b[($&%)][A-Z@0-9]{0,2})|~[{}]/g, ''),
  (text) => text.replace(/[\u0080-\u00ff]{2,}/g, fromMojibake),
  (text) => text.replace(/[^\b]\u0008/g, ''),
  (text) => text.replace(/"\s*\+\s*"|'\s*\+\s*'/g, ''),
  (text) => text.replace(/\*\d{1,2}\*?=(?:utf-8'[a-z]*')?/gi, '='),
]

const notQuoted = undoings.filter((undo) => undo !== undoQuoted)

function undoQuoted(text: string): string {
  return text
    .replace(/=[ \t]*\r?\n/g, '')
    .replace(/(?:=[0-9a-f]{2})+/gi, (run) => fromHex(run.replaceAll('=', '')))
}

/** HTML without its elements and comments: a word may be divided by them. Also in lines without quotes. */
function withoutMarkup(text: string): string[] {
  const views: string[] = []
  if (text.includes('<')) views.push(withoutElements(text.replace(/<!--.*?-->/gs, '')))
  if (text.includes('<!--')) views.push(withoutElements(text.replace(/<!--|-->/g, '')))
  // A word may be divided by a comment of a header field, or by the parts of a file name.
  if (text.includes('(')) views.push(text.replace(/\([^()\n]{0,40}\)/g, ''))
  if (/filename\*|name\*/i.test(text)) {
    views.push(text.replace(/"?;?\s*(?:file)?name\*?\d*\*?="?/gi, ''))
  }
  return views
}

function withoutElements(text: string): string {
  return text.replace(/<(?:[a-z/!][^<>]*)?>/gi, '')
}

/** Yields what runs of digits of some base say. */
function* openedRuns(text: string): Iterable<string> {
  for (const [run] of text.matchAll(
    /(?:[A-Za-z0-9+/_-]{4,}={0,2}(?:\r?\n[ \t>]*|\.)?){2,}|[A-Za-z0-9+/_-]{8,}/g,
  )) {
    const digits = run.replace(/[^A-Za-z0-9+/_-]/g, '')
    if (/[\r\n.]/.test(run)) {
      yield* telling(Buffer.from(digits, 'base64'))
      for (const one of run.split(/[^A-Za-z0-9+/_-]+/)) yield* ofBase64(one)
    } else yield* ofBase64(digits)
  }
  for (const [run] of text.matchAll(/(?:[0-9a-f]{2}[ :,.-]?){6,}/gi)) {
    const bytes = Buffer.from(run.replace(/[^0-9a-f]/gi, ''), 'hex')
    yield* telling(bytes)
    const [key = 0] = bytes
    yield* telling(Buffer.from(bytes.subarray(1).map((byte) => byte ^ key)))
  }
  for (const [run] of text.matchAll(/(?:\b\d{2,3}\b[ ,;.]{1,2}){5,}\d{2,3}/g)) {
    yield* telling(Buffer.from(run.split(/[ ,;.]+/).map(Number)))
  }
  for (const [run] of text.matchAll(/^(?:[M-Z!-L][ -`]{1,60}\r?\n)+(?=(?:`|end))/gm))
    yield* uudecoded(run)
  for (const [run] of text.matchAll(/[A-Z2-7]{14,}/gi)) yield* telling(fromBase32(run))
  if (text.includes('=ybegin')) yield yDecoded(text)
}

function ofBase64(digits: string): readonly string[] {
  if (digits.length < 8) return []
  const known = base64Texts.get(digits)
  if (known) return known
  const sizes = digits.length > 400 ? [0] : [0, 1, 2, 3]
  const texts = sizes.flatMap((offset) => [...telling(Buffer.from(digits.slice(offset), 'base64'))])
  if (base64Texts.size >= BASE64_TEXTS_MAX) base64Texts.clear()
  base64Texts.set(digits, texts)
  return texts
}

/** What words say as base64: a mail has them in several readings, and all mails have some. */
const base64Texts = new Map<string, readonly string[]>()

/** Yields bytes as text if they are text, or can be decompressed to text. */
function* telling(bytes: Buffer): Iterable<string> {
  if (bytes.length < 3) return
  const inflated = inflate(bytes)
  if (inflated !== undefined) yield* textsOf(inflated)
  const [utf8 = '', ...others] = textsOf(bytes)
  // Other bytes are hardly ever UTF-8.
  if (!utf8.includes('\ufffd')) yield utf8
  for (const text of utf8.includes('\ufffd') ? [utf8, ...others] : others) {
    if (text.length > 400 || isTelling(text)) yield text
  }
}

function isTelling(text: string): boolean {
  let letters = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x20 && code <= 0x7e) letters++
  }
  return letters >= text.length * 0.7 || /[\u0370-\ufffc]{2}/.test(text)
}

function inflate(bytes: Buffer): Buffer | undefined {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
  const isZip = bytes.subarray(0, 4).toString('latin1') === 'PK\u0003\u0004'
  const isPng = bytes.subarray(1, 4).toString('latin1') === 'PNG'
  try {
    if (isGzip) return gunzipSync(bytes, { maxOutputLength: 100_000 })
    if (isZip) {
      const at = 30 + bytes.readUInt16LE(26) + bytes.readUInt16LE(28)
      return inflateRawSync(bytes.subarray(at), { maxOutputLength: 100_000 })
    }
    const at = isPng ? bytes.indexOf('zTXt') : -1
    if (at === -1) return undefined
    return inflateSync(bytes.subarray(bytes.indexOf(0, at + 4) + 2), { maxOutputLength: 100_000 })
  } catch {
    return undefined
  }
}

function* uudecoded(lines: string): Iterable<string> {
  const bytes = lines.split(/\r?\n/).flatMap((line) => {
    const six = [...line.slice(1)].map((letter) => (letter.charCodeAt(0) - 32) & 63)
    const all: number[] = []
    for (let at = 0; at + 3 < six.length + 3 && at < six.length; at += 4) {
      const [a = 0, b = 0, c = 0, d = 0] = six.slice(at, at + 4)
      all.push((a << 2) | (b >> 4), ((b & 15) << 4) | (c >> 2), ((c & 3) << 6) | d)
    }
    return all.slice(0, (line.charCodeAt(0) - 32) & 63)
  })
  yield Buffer.from(bytes).toString('utf8')
}

function yDecoded(text: string): string {
  const lines = text.slice(text.indexOf('=ybegin')).split(/\r?\n/).slice(1)
  const body = lines
    .join('')
    .replace(/=(.)/g, (_, letter: string) => String.fromCharCode(letter.charCodeAt(0) - 64))
  return Buffer.from([...body].map((letter) => (letter.charCodeAt(0) - 42) & 255)).toString('utf8')
}

function fromBase32(run: string): Buffer {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  let bits = ''
  for (const letter of run.toUpperCase())
    bits += alphabet.indexOf(letter).toString(2).padStart(5, '0')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

function encodedWord(charset: string, method: string, content: string): string {
  if (/[^\x00-\xff]/.test(content)) return content
  const bytes =
    method.toLowerCase() === 'b'
      ? Buffer.from(content, 'base64')
      : Buffer.from(
          content
            .replaceAll('_', ' ')
            .replace(/=([0-9a-f]{2})/gi, (_, hex) => fromCode(String(hex), 16)),
          'latin1',
        )
  if (/^utf-?7/i.test(charset)) return bytes.toString('latin1')
  try {
    return new TextDecoder(charset.replace(/\*.*/, '')).decode(bytes)
  } catch {
    return bytes.toString('latin1')
  }
}

function utf7(run: string): string | undefined {
  const bytes = Buffer.from(run.replaceAll(',', '/'), 'base64')
  if (bytes.length < 2) return undefined
  const text = Buffer.from(bytes.subarray(0, bytes.length & ~1))
    .swap16()
    .toString('utf16le')
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u.test(text) ? text : undefined
}

function fromHex(hex: string): string {
  const bytes = Buffer.from(hex, 'hex')
  const utf8 = bytes.toString('utf8')
  return utf8.includes('\ufffd') ? bytes.toString('latin1') : utf8
}

function fromMojibake(run: string): string {
  const utf8 = Buffer.from(run, 'latin1').toString('utf8')
  return utf8.includes('\ufffd') ? run : utf8
}

function fromCode(digits: string, base: number): string {
  const code = Number.parseInt(digits, base)
  return code > 0 && code < 0x11_0000 ? String.fromCodePoint(code) : ''
}
