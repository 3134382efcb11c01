import { hash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'

const DEPTH_MAX = 4

/**
 * Returns the names of the keys that bytes show, as they are or after decoding: quoted-printable,
 * quotations, percent-encoding, character references, UTF-16, base64, gzip. Independent of the code
 * that masks keys.
 */
export function keysIn(bytes: Buffer, keys: Readonly<Record<string, string>>): string[] {
  const id = hash('sha256', bytes)
  const of = results.get(keys) ?? new Map<string, string[]>()
  results.set(keys, of)
  const known = of.get(id)
  if (known) return known
  const found = look(bytes.toString('latin1'), keys)
  of.set(id, found)
  return found
}

/** The results for bytes that were searched before: many readers download the same. */
const results = new WeakMap<object, Map<string, string[]>>()

/** Looks into a text, what it is decoded, what that is decoded again, and so on. */
function look(text: string, keys: Readonly<Record<string, string>>): string[] {
  const found = new Set<string>()
  const seen = new Set<string>()
  let level = [text]
  for (let depth = 0; depth <= DEPTH_MAX; depth++) {
    // Decodings in another order often have the same result.
    const fresh = [...new Set(level)].filter((one) => !seen.has(one))
    for (const one of fresh) {
      seen.add(one)
      for (const [name, key] of Object.entries(keys)) {
        if (one.includes(key) || one.includes(key.toUpperCase())) found.add(name)
      }
    }
    if (depth < DEPTH_MAX) level = fresh.flatMap(decodings)
  }
  return [...found]
}

/** A text after each decoding that it may need. */
function decodings(text: string): string[] {
  const forms = [
    text.replaceAll(/=\r?\n/g, '').replaceAll(/=([0-9A-F]{2})/gi, character),
    text.replaceAll(/\r?\n(?:[>|] ?)*/g, ''),
    text.replaceAll(/%([0-9A-F]{2})/gi, character),
    text.replaceAll(/&#x([0-9A-F]{2});/gi, character),
    text.replaceAll('&amp;', '&').replaceAll('&gt;', '>'),
    text.replaceAll(String.raw`\r`, '\r').replaceAll(String.raw`\n`, '\n'),
    text.replaceAll('\0', ''),
  ].filter((form) => form !== text)
  // Without the first condition, short runs are read again from each of their characters.
  for (const [run] of text.matchAll(/(?<![A-Za-z0-9+/\r\n])[A-Za-z0-9+/\r\n]{60,}/g)) {
    const digits = run.replaceAll(/[\r\n]/g, '')
    for (let shift = 0; shift < 4; shift++) {
      const decoded = Buffer.from(digits.slice(shift), 'base64').toString('latin1')
      if (/[\w-]{10}|(?:[\w-]\0){6}/.test(decoded.slice(0, 2_000))) forms.push(decoded)
    }
  }
  if (text.startsWith('\x1f\x8b')) {
    forms.push(gunzipSync(Buffer.from(text, 'latin1')).toString('latin1'))
  }
  return forms
}

function character(_: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16))
}
