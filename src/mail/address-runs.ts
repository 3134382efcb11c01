import { addressesShown, namesShown } from './address-occurrences.ts'
import type { Sought } from './address-occurrences.ts'
import { foldedBase64 } from './folded-base64.ts'
import type { AddressHashes } from './address-hashes.ts'
import type { CodeOf } from './redaction-code.ts'
import { base64Digits, hashesIn, HEX_MIN, hexDigits } from './run-test.ts'
import type { RunTest } from './run-test.ts'
import { hasStretch, stretchesOf } from './stretches.ts'
import { textViews } from './text-views.ts'

/** What is looked for in runs of base64 and hexadecimal digits. */
export type AddressIndex = Sought & {
  hashes: AddressHashes
  /** Whether any run may hold something: cheap, and never no where one does. */
  mayHold: RunTest
  /** A run of base64 digits long enough to hold an address, with its padding. */
  run: RegExp
  /** How many digits that is. */
  runMin: number
}

/** Where runs of digits begin that hold an address or its hash, but those not wanted. */
export function* placesInRuns(
  text: string,
  index: AddressIndex,
  isWanted: (place: number) => boolean,
): Generator<number> {
  for (const { start } of holdersInFolds(text, index)) yield start
  if (!anyRunMayHold(text, index)) return
  for (const { 0: digits, index: start } of text.matchAll(index.run)) {
    if (isWanted(start) && holderOf(withoutPadding(digits), index) !== undefined) yield start
  }
}

/** Base 64 over several lines that holds an address. */
function* holdersInFolds(text: string, index: AddressIndex) {
  for (const { start, end, decoded } of foldedBase64(text)) {
    const address = addressIn(decoded, index)
    if (address !== undefined) yield { start, end, address }
  }
}

function addressIn(decoded: string, index: AddressIndex): string | undefined {
  for (const view of textViews(decoded)) {
    const shown = addressesShown(view, index.addresses) ?? namesShown(view, index.findNames)
    if (shown) return shown.found[0]?.address
  }
  return undefined
}

/** Replaces runs of base64 or hexadecimal digits that hold an address or its hash. */
export function redactRuns(written: string, index: AddressIndex, codeOf: CodeOf): string {
  const text = withCodes(written, holdersInFolds(written, index), codeOf)
  if (!anyRunMayHold(text, index)) return text
  const unhashed = text.replace(index.run, (run) => redactHashes(run, index, codeOf))
  return unhashed.replace(index.run, (run) => {
    const address = holderOf(withoutPadding(run), index)
    return address === undefined ? run : codeOf(address)
  })
}

/** A link goes on around a hash, often in digits: only the hash itself is replaced. */
function redactHashes(run: string, index: AddressIndex, codeOf: CodeOf): string {
  const bare = withoutPadding(run)
  const held = hashesIn(bare, index.hashes)
  const isLast = held.some(({ end }) => end === bare.length)
  return withCodes(isLast ? bare : run, held, codeOf)
}

/** The text with codes where addresses stand, in order; of two that overlap the first one's. */
function withCodes(
  text: string,
  held: Iterable<{ start: number; end: number; address: string }>,
  codeOf: CodeOf,
): string {
  let result = ''
  let done = 0
  for (const { start, end, address } of held) {
    if (start < done) continue
    result += text.slice(done, start) + codeOf(address)
    done = end
  }
  return done === 0 ? text : result + text.slice(done)
}

/** Reads all runs at once: in most texts none holds anything, and then nothing more is done. */
function anyRunMayHold(text: string, index: AddressIndex): boolean {
  if (!index.mayHold(text)) return false
  const runs = stretchesOf(text, base64Digits, index.runMin)
  const saysItself = (read: string) => index.addresses.standIn(read.toLowerCase())
  const says = (read: string) => saysItself(read) || innerReadings(read, index).some(saysItself)
  if (runs.length === 0) return false
  // Each run fills whole groups of four digits, so one cut shifts all of them alike.
  const joined = runs.map(wholeGroups).join('')
  const isHolding = [0, 1, 2, 3].some((shift) => says(decodeBase64(joined.slice(shift))))
  if (isHolding) return true
  const holds = (run: string) =>
    hashesIn(run, index.hashes).length > 0 ||
    (hasStretch(run, hexDigits, HEX_MIN) && hexReadings(run).some(says))
  return runs.some(holds)
}

function holderOf(run: string, index: AddressIndex): string | undefined {
  const [hashed] = hashesIn(run, index.hashes)
  if (hashed) return hashed.address
  for (const reading of readingsOf(run, index)) {
    const address = addressIn(reading, index)
    if (address !== undefined) return address
  }
  return undefined
}

/** All that a run may say, each made when the ones before hold nothing. */
function* readingsOf(run: string, index: AddressIndex): Generator<string> {
  const readings: string[] = []
  for (const offset of [0, 1, 2, 3]) {
    const reading = decodeBase64(run.slice(offset))
    readings.push(reading)
    yield reading
  }
  yield* hexReadings(run)
  for (const reading of readings) yield* innerReadings(reading, index)
}

/** What base 64 within base 64 holds. */
function innerReadings(reading: string, { runMin }: AddressIndex): string[] {
  return stretchesOf(reading, base64Digits, runMin).flatMap((run) =>
    [0, 1, 2, 3].map((offset) => decodeBase64(run.slice(offset))),
  )
}

function hexReadings(run: string): string[] {
  return stretchesOf(run, hexDigits, HEX_MIN).flatMap((stretch) =>
    [stretch, stretch.slice(1)].map((digits) => Buffer.from(digits, 'hex').toString('latin1')),
  )
}

function withoutPadding(run: string): string {
  return run.replace(/(?:=|%3D)+$/i, '')
}

function wholeGroups(digits: string): string {
  return digits + 'A'.repeat((4 - (digits.length % 4)) % 4) + 'AAAA'
}

function decodeBase64(digits: string): string {
  return Buffer.from(digits, 'base64').toString('latin1')
}
