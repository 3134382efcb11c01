import { characterSet, runsOf } from '../text.ts'
import type { AddressHashes } from './sought-addresses.ts'

/** The values to search for in runs of digits. */
export type SoughtInRuns = {
  /** In lower case. */
  domains: readonly string[]
  /** The minimum number of base64 digits of a run. */
  runMin: number
  hashes: AddressHashes
}

/** Whether a text may contain a match in its runs of digits. */
export type RunTest = (text: string) => boolean

/** Hexadecimal digits, in either case. */
export const hexDigits = characterSet('0123456789abcdefABCDEF')
const base64Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
/** Base64 digits, including those of the URL alphabet (RFC 4648 §5). */
export const base64Digits = characterSet(`${base64Alphabet}-_`)
/** The minimum number of hexadecimal digits of a run that is decoded. */
export const HEX_MIN = 16
/** The lengths of hashes in base64, without padding; the shortest first. */
const hashDigits: ReadonlySet<number> = new Set([22, 27, 43, 86])
const HASH_DIGITS_MIN = 22
/** Base64 digits that also separate the parts of links. */
const separatorDigits = characterSet('+/-_')
/** A hash in hexadecimal digits. */
const hashShape = /[0-9a-f]{32,128}/gi

/** The position of a known hash in a run. */
export type HeldHash = { start: number; end: number; address: string }

/**
 * Returns the known hashes in a run, in order: in base64 between the characters that separate the
 * parts of links, or in hexadecimal digits. Only runs that begin like a known hash are decoded.
 */
export function hashesIn(run: string, hashes: AddressHashes): HeldHash[] {
  const held = base64HashesIn(Buffer.from(run, 'latin1'), { start: 0, end: run.length }, hashes)
  for (const { 0: digits, index: start } of run.matchAll(hashShape)) {
    const address = hashes.addressOf(digits.toLowerCase())
    if (address !== undefined) held.push({ start, end: start + digits.length, address })
  }
  return held.sort((one, other) => one.start - other.start)
}

function base64HashesIn(
  run: Buffer,
  { start, end }: { start: number; end: number },
  hashes: AddressHashes,
): HeldHash[] {
  const held: HeldHash[] = []
  for (let to = start + HASH_DIGITS_MIN; to <= end; to++) {
    if (to < end && separatorDigits[run[to] ?? 0] !== 1) continue
    for (const length of hashDigits) {
      const from = to - length
      if (from < start) break
      if (from > start && separatorDigits[run[from - 1] ?? 0] !== 1) continue
      if (!hashes.begins(threeBytes(run, from))) continue
      const read = Buffer.from(run.toString('latin1', from, to), 'base64').toString('hex')
      const address = hashes.addressOf(read)
      if (address !== undefined) held.push({ start: from, end: to, address })
    }
  }
  return held
}

/** Returns the three bytes encoded by four base64 digits. */
function threeBytes(run: Buffer, at: number): number {
  let bytes = 0
  for (let next = at; next < at + 4; next++) bytes = (bytes << 6) | (valueOf[run[next] ?? 0] ?? 0)
  return bytes
}

const valueOf = new Uint8Array(256)
for (const [value, digit] of [...base64Alphabet].entries()) valueOf[digit.charCodeAt(0)] = value
valueOf['-'.charCodeAt(0)] = 62
valueOf['_'.charCodeAt(0)] = 63

/** Sets the bit that makes three letters lower case. */
const lowerCase = 0x202020
const lettersMin = 3
/** A domain with this many letters contains three that exactly fill four base64 digits. */
const lettersOfAny = 5
const bitsOfPlace = 12

/**
 * Creates a test that returns false only if a text certainly contains no match:
 *
 * - no domain, in upper or lower case, in a base64 run of at least `runMin` digits, decoded from
 *   each of its first four digits on, or in a run nested in these decodings
 * - no domain in a hexadecimal run
 * - no known hash
 *
 * The test may return true for a text without a match.
 *
 * Four base64 digits encode three letters. A domain of five letters or more contains three letters
 * that fill four digits at any offset; these begin with its first, second or third letter. So each
 * group of four digits of a run is looked up; the last group is padded with zeros. The first three
 * letters of a shorter domain may also begin inside the first or second of five digits, so these
 * digits are looked up too. Six hexadecimal digits also encode three letters. A decoding with
 * enough digits for a nested run is decoded and looked up in the same way. This takes a tenth of
 * the time of decoding everything four times.
 */
export function createRunTest({ domains, runMin, hashes }: SoughtInRuns): RunTest {
  // No useful test is possible: two letters occur nearly everywhere, and runs are padded with NULs.
  if (domains.some((domain) => domain.length < lettersMin || /[\0-\x20]/.test(domain))) {
    return () => true
  }
  // A byte can only encode a letter of Latin-1.
  const letters = lettersOf(domains.filter((domain) => !/[^\0-\xff]/.test(domain)))
  const sought = { letters, runMin, hashes }
  return (text) => {
    if (text.length < runMin) return false
    const bytes = bytesOf(text)
    const { length } = text
    let start = 0
    for (let at = runMin - 1; at < length; at = start + runMin - 1) {
      let last = at
      while (last >= start && base64Digits[bytes[last] ?? 0] === 1) last--
      if (last >= start) {
        start = last + 1
        continue
      }
      let end = at + 1
      while (end < length && base64Digits[bytes[end] ?? 0] === 1) end++
      if (saysLetters(bytes, start, end, letters)) return true
      if (holdsNestedRun(bytes, start, end, sought) || holdsHex(bytes, start, end, sought))
        return true
      start = end + 1
    }
    return false
  }
}

const keptBytesMax = 1024 * 1024
let kept = Buffer.alloc(64 * 1024)

/**
 * Returns a text as bytes, in memory that the next call reuses: bytes are read twice as fast as
 * characters.
 */
function bytesOf(text: string): Buffer {
  // Characters beyond Latin-1 are not digits and must not become digits; this test is free for
  // Latin-1 texts.
  const written = /[^\0-\xff]/.test(text) ? text.replace(/[^\0-\xff]/g, ' ') : text
  if (text.length > keptBytesMax) return Buffer.from(written, 'latin1')
  if (text.length > kept.length) kept = Buffer.alloc(Math.min(keptBytesMax, text.length * 2))
  kept.write(written, 0, 'latin1')
  return kept
}

/** The groups of three letters by which the domains are recognized. */
type Letters = { places: Uint8Array; values: ReadonlySet<number>; isShort: boolean }

function lettersOf(domains: readonly string[]): Letters {
  const places = new Uint8Array(1 << bitsOfPlace)
  const values = new Set<number>()
  for (const domain of domains) {
    for (const first of domain.length < lettersOfAny ? [0] : [0, 1, 2]) {
      const [one = 0, two = 0, three = 0] = [0, 1, 2].map((at) => domain.charCodeAt(first + at))
      const value = (one << 16) | (two << 8) | three | lowerCase
      places[placeOf(value)] = 1
      values.add(value)
    }
  }
  return { places, values, isShort: domains.some(({ length }) => length < lettersOfAny) }
}

function placeOf(letters: number): number {
  return Math.imul(letters, 0x9e3779b1) >>> (32 - bitsOfPlace)
}

function saysLetters(run: Buffer, start: number, end: number, letters: Letters): boolean {
  const { places, values, isShort } = letters
  let held = 0
  // The last letter may end in the zeros that pad the last digits.
  for (let at = start; at < end + 3; at++) {
    const value = at < end ? (valueOf[run[at] ?? 0] ?? 0) : 0
    held = (held << 6) | value
    const folded = (held & 0xffffff) | lowerCase
    if (places[placeOf(folded)] === 1 && values.has(folded)) return true
    if (!isShort) continue
    const second = ((held >>> 4) & 0xffffff) | lowerCase
    if (places[placeOf(second)] === 1 && values.has(second)) return true
    const third = ((held >>> 2) & 0xffffff) | lowerCase
    if (places[placeOf(third)] === 1 && values.has(third)) return true
  }
  return false
}

type SoughtInside = { letters: Letters; runMin: number }

/**
 * Whether the decoding of a run contains a run with a domain. The inner run may begin one to three
 * digits early, in zeros, because all runs of a text are read as one, each padded to a whole group.
 */
function holdsNestedRun(bytes: Buffer, start: number, end: number, sought: SoughtInside): boolean {
  const { runMin } = sought
  for (let first = start - 3; first <= start; first++) {
    const length = Math.ceil(((end - first) * 6) / 8)
    let from = 0
    for (let at = runMin - 1; at < length; at = from + runMin - 1) {
      let last = at
      while (last >= from && base64Digits[byteAt(bytes, start, end, first, last)] === 1) {
        last--
      }
      if (last >= from) {
        from = last + 1
        continue
      }
      const run: number[] = []
      for (let inside = from; inside < length; inside++) {
        const digit = byteAt(bytes, start, end, first, inside)
        if (base64Digits[digit] !== 1) break
        run.push(digit)
      }
      if (saysLetters(Buffer.from(run), 0, run.length, sought.letters)) return true
      from += run.length + 1
    }
  }
  return false
}

/** Returns a byte decoded from the digits starting at `first`, padded with zeros on both sides. */
function byteAt(bytes: Buffer, start: number, end: number, first: number, at: number): number {
  const group = Math.trunc(at / 3)
  const phase = at - group * 3
  const digit = first + group * 4 + phase
  const high = digit < start ? 0 : (valueOf[bytes[digit] ?? 0] ?? 0)
  const next = digit + 1
  const low = next < start || next >= end ? 0 : (valueOf[bytes[next] ?? 0] ?? 0)
  if (phase === 0) return (high << 2) | (low >> 4)
  if (phase === 1) return ((high & 15) << 4) | (low >> 2)
  return ((high & 3) << 6) | low
}

type SoughtInHex = SoughtInside & Pick<SoughtInRuns, 'hashes'>

function holdsHex(bytes: Buffer, start: number, end: number, sought: SoughtInHex): boolean {
  if (base64HashesIn(bytes, { start, end }, sought.hashes).length > 0) return true
  let from = start
  for (let at = start + HEX_MIN - 1; at < end; at = from + HEX_MIN - 1) {
    let last = at
    while (last >= from && hexDigits[bytes[last] ?? 0] === 1) last--
    if (last >= from) {
      from = last + 1
      continue
    }
    let to = at + 1
    while (to < end && hexDigits[bytes[to] ?? 0] === 1) to++
    if (hexMayHold(bytes.toString('latin1', from, to), sought)) return true
    from = to + 1
  }
  return false
}

function hexMayHold(stretch: string, { letters, runMin, hashes }: SoughtInHex): boolean {
  for (const [digits] of stretch.matchAll(hashShape)) {
    if (hashes.addressOf(digits.toLowerCase()) !== undefined) return true
  }
  const isLong = stretch.length >= runMin * 2
  for (const digits of [stretch, stretch.slice(1)]) {
    const read = Buffer.from(digits, 'hex')
    if (isLong) {
      const runs = runsOf(read.toString('latin1'), base64Digits, runMin)
      if (runs.some((run) => saysLetters(Buffer.from(run), 0, run.length, letters))) return true
    }
    let held = 0
    for (const byte of read) {
      held = ((held << 8) | byte) & 0xffffff
      if (letters.values.has(held | lowerCase)) return true
    }
  }
  return false
}
