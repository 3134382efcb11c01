import { characterSet, runsOf } from '../text.ts'
import { type Latin1, latin1Of } from './latin1.ts'
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
export type RunTest = (text: string | Latin1) => boolean

/** Hexadecimal digits, in either case. */
export const hexDigits = characterSet('0123456789abcdefABCDEF')
const base64Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
/** Base64 digits, including those of the URL alphabet (RFC 4648 §5). */
export const base64Digits = characterSet(`${base64Alphabet}-_`)
/** The minimum number of hexadecimal digits of a run that is decoded. */
export const HEX_MIN = 16
/** The lengths of hashes in base64, without padding; the shortest first. */
const hashDigits = [22, 27, 43, 86] as const
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
      if (!mayBeHash(run, { start, from, to }, hashes)) continue
      const read = Buffer.from(run.toString('latin1', from, to), 'base64').toString('hex')
      const address = hashes.addressOf(read)
      if (address !== undefined) held.push({ start: from, end: to, address })
    }
  }
  return held
}

/** Whether a known hash may begin at `from`: at the start of a run or after a separator. */
function mayBeHash(
  run: Buffer,
  { start, from, to }: { start: number; from: number; to: number },
  hashes: AddressHashes,
): boolean {
  if (from < start || (from > start && separatorDigits[run[from - 1] ?? 0] !== 1)) return false
  return hashes.begins(threeBytes(run, from), Math.floor(((to - from) * 6) / 8) * 2)
}

/** Whether a known hash may end at a separator or at the end of a run. */
function mayEndHash(run: Buffer, start: number, to: number, hashes: AddressHashes): boolean {
  if (to - start < HASH_DIGITS_MIN) return false
  for (const digits of hashDigits) {
    if (mayBeHash(run, { start, from: to - digits, to }, hashes)) return true
  }
  return false
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
/** The value of each digit; more than 63 for all other bytes. */
const digitOf = valueOf.map((value, byte) => (base64Digits[byte] === 1 ? value : 0xff))

const none = { bytes: Buffer.alloc(0), length: 0 }

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
    const { bytes, length } = (typeof text === 'string' ? narrowed(text) : text) ?? none
    let start = 0
    for (let at = runMin - 1; at < length; at = start + runMin - 1) {
      let last = at
      while (last >= start && base64Digits[bytes[last] ?? 0] === 1) last--
      if (last >= start) {
        start = last + 1
        continue
      }
      const end = readRun(bytes, start, length, sought)
      if (end < 0) return true
      if (holdsNestedRun(bytes, start, end, sought) || holdsHex(bytes, start, end, sought)) {
        return true
      }
      start = end + 1
    }
    return false
  }
}

/** Returns the end of a run; -1 if it may hold letters of a domain, or a hash. */
function readRun(
  bytes: Buffer,
  start: number,
  length: number,
  { letters, hashes }: SoughtInHex,
): number {
  const { places } = letters
  let held = 0
  let at = start
  for (; at < length; at++) {
    const byte = bytes[at] ?? 0
    const value = digitOf[byte] ?? 0
    if (value > 63) break
    held = (held << 6) | value
    if (places[held & 0xfff] === 1 && isLetters(held, letters)) return -1
    // The last two digits also separate the parts of links.
    if (value >= 62 && mayEndHash(bytes, start, at, hashes)) return -1
  }
  return endsInLetters(held, letters) || mayEndHash(bytes, start, at, hashes) ? -1 : at
}

/** Returns a text as bytes; characters beyond Latin-1 are not digits and must not become digits. */
function narrowed(text: string): Latin1 | undefined {
  return latin1Of(text) ?? latin1Of(text.replace(/[^\0-\xff]/g, ' '))
}

/** The groups of three letters by which the domains are recognized. */
type Letters = {
  /** Set to 1 at the values that the last two of the digits of a group may have. */
  places: Uint8Array
  values: ReadonlySet<number>
  /** Those of short domains, which may begin inside a digit. */
  shortValues: ReadonlySet<number>
}

function lettersOf(domains: readonly string[]): Letters {
  const places = new Uint8Array(1 << bitsOfPlace)
  const values = new Set<number>()
  const shortValues = new Set<number>()
  for (const domain of domains) {
    const isShort = domain.length < lettersOfAny
    for (const first of isShort ? [0] : [0, 1, 2]) {
      const [one = 0, two = 0, three = 0] = [0, 1, 2].map((at) => domain.charCodeAt(first + at))
      const value = (one << 16) | (two << 8) | three | lowerCase
      values.add(value)
      if (isShort) shortValues.add(value)
      for (const upper of [0, 0x20]) {
        const end = value & ~upper & 0xfff
        places[end] = 1
        // Letters that begin inside a digit end before the last bits of another one.
        for (let rest = 0; isShort && rest < 16; rest++) {
          places[((end << 4) | rest) & 0xfff] = 1
          places[((end << 2) | (rest & 3)) & 0xfff] = 1
        }
      }
    }
  }
  return { places, values, shortValues }
}

function saysLetters(run: Buffer, start: number, end: number, letters: Letters): boolean {
  const { places } = letters
  let held = 0
  for (let at = start; at < end; at++) {
    held = (held << 6) | (valueOf[run[at] ?? 0] ?? 0)
    if (places[held & 0xfff] === 1 && isLetters(held, letters)) return true
  }
  return endsInLetters(held, letters)
}

/** Whether the last letter ends in the zeros that pad the last digits. */
function endsInLetters(held: number, letters: Letters): boolean {
  return [6, 12, 18].some((bits) => isLetters(held << bits, letters))
}

/** Whether the last four of the held digits encode sought letters; if short, the last five. */
function isLetters(held: number, { values, shortValues }: Letters): boolean {
  if (values.has((held & 0xffffff) | lowerCase)) return true
  if (shortValues.size === 0) return false
  return (
    shortValues.has(((held >>> 4) & 0xffffff) | lowerCase) ||
    shortValues.has(((held >>> 2) & 0xffffff) | lowerCase)
  )
}

type SoughtInside = { letters: Letters; runMin: number }

/**
 * Whether the decoding of a run contains a run with a domain. The inner run may begin one to three
 * digits early, in zeros, because all runs of a text are read as one, each padded to a whole group.
 */
function holdsNestedRun(bytes: Buffer, start: number, end: number, sought: SoughtInside): boolean {
  const { runMin, letters } = sought
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
      let held = 0
      let inside = from
      for (; inside < length; inside++) {
        const digit = byteAt(bytes, start, end, first, inside)
        if (base64Digits[digit] !== 1) break
        held = (held << 6) | (valueOf[digit] ?? 0)
        if (letters.places[held & 0xfff] === 1 && isLetters(held, letters)) return true
      }
      if (endsInLetters(held, letters)) return true
      from = inside + 1
    }
  }
  return false
}

/** Returns a byte decoded from the digits starting at `first`, padded with zeros on both sides. */
function byteAt(bytes: Buffer, start: number, end: number, first: number, at: number): number {
  const group = (at / 3) | 0
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
