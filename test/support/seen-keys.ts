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
  const found = new Set<string>()
  look(bytes.toString('latin1'), keys, found, 0)
  of.set(id, [...found])
  return [...found]
}

/** The results for bytes that were searched before: many readers download the same. */
const results = new WeakMap<object, Map<string, string[]>>()

function look(
  text: string,
  keys: Readonly<Record<string, string>>,
  found: Set<string>,
  depth: number,
): void {
  for (const [name, key] of Object.entries(keys)) {
    if (text.includes(key) || text.includes(key.toUpperCase())) found.add(name)
  }
  if (depth === DEPTH_MAX) return
  const forms = [
    text.replaceAll(/=\r?\n/g, '').replaceAll(/=([0-9A-F]{2})/gi, character),
    text.replaceAll(/\r?\n(?:[>|] ?)*/g, ''),
    text.replaceAll(/%([0-9A-F]{2})/gi, character),
    text.replaceAll(/&#x([0-9A-F]{2});/gi, character),
    text.replaceAll('&amp;', '&').replaceAll('&gt;', '>'),
    text.replaceAll(String.raw`\r`, '\r').replaceAll(String.raw`\n`, '\n'),
    text.replaceAll('\0', ''),
  ]
  for (const form of forms) if (form !== text) look(form, keys, found, depth + 1)
  for (const [run] of text.matchAll(/[A-Za-z0-9+/\r\n]{60,}/g)) {
    const digits = run.replaceAll(/[\r\n]/g, '')
    for (let shift = 0; shift < 4; shift++) {
      const decoded = Buffer.from(digits.slice(shift), 'base64').toString('latin1')
      const isText = /[\w-]{10}|(?:[\w-]\0){6}/.test(decoded.slice(0, 2_000))
      if (isText) look(decoded, keys, found, depth + 1)
    }
  }
  if (text.startsWith('\x1f\x8b')) {
    look(gunzipSync(Buffer.from(text, 'latin1')).toString('latin1'), keys, found, depth + 1)
  }
}

function character(_: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16))
}
