import { expect, test } from 'vitest'
import { packShingles } from '../../../src/pieces/shingles/packed-shingles.ts'
import {
  type CountedMessage,
  opposite,
  packCounted,
  packMessages,
  readCounted,
  redemption,
} from '../../../src/counting/count-messages.ts'
import { readEntry, readHalf, scanBlock } from '../../../src/counting/packed/delta-packing.ts'
import { pairKey, slotOf } from '../../../src/counting/keys.ts'

const at = new Date('2026-11-20T12:34:56Z')
const later = new Date('2026-11-21T12:34:56Z')
const author = { type: 1, name: 'author-address', hash: 'fedcba9876543210' }
const authorKey = { hi: 0xfedcba98, lo: 0x76543210 }
const localPart = { type: 4, name: 'author-local-part', hash: '00000000000000ff' }
const ips = { type: 151, name: 'author-ips', hash: '8000000000000001', of: author.hash }
const message: CountedMessage = {
  prefix: 'reports',
  shingles: packShingles([author, localPart, ips]),
  amounts: { spam: 1, complaint: 1 },
  at,
}

/** Returns the entries of the packed messages, by key. */
function entriesOf(messages: readonly CountedMessage[]) {
  const found: object[] = []
  for (const { content } of packMessages(messages, at)) {
    scanBlock(content, (hi, lo, slot, place, gated) => {
      const amounts = [0, 0, 0, 0]
      const cursor = { bytes: content, at: place }
      const head = readEntry(cursor, amounts)
      const unique = head & 64 ? [readHalf(cursor), readHalf(cursor)] : []
      found.push({ hi, lo, slot, gated, prefix: (head >> 4) & 3, amounts, unique })
    })
  }
  return found.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
}

const sorted = (entries: object[]) =>
  entries.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))

test('pieces are counted under their hash, and pairs as uniques under a key of their type', () => {
  const common = { slot: slotOf(at), prefix: 0, amounts: [0, 1, 1, 0] }
  expect(entriesOf([message])).toEqual(
    sorted([
      { ...authorKey, ...common, gated: 0, unique: [] },
      { hi: 0, lo: 255, ...common, gated: 0, unique: [] },
      { ...pairKey(151, authorKey), ...common, gated: 0, unique: [0x80000000, 1] },
    ]),
  )
})

test('in checked mail, pieces of gated types may be held back, and pairs do not count', () => {
  const gated = entriesOf([{ ...message, prefix: 'checks' }]).filter(
    (one) => 'gated' in one && one.gated,
  )
  expect(gated).toMatchObject([{ hi: 0, lo: 255, gated: 1, prefix: 1 }])
})

test('a redemption is counted where the report was counted, now, and for no reporter', () => {
  const [back, now] = redemption(message, { isCounted: true, now: later })
  expect(back).toEqual(opposite(message))
  const backs = entriesOf(back ? [back] : [])
  expect(backs).toHaveLength(3)
  for (const entry of backs) {
    expect(entry).toMatchObject({ slot: slotOf(at), amounts: [0, -1, -1, 0] })
  }
  const nows = entriesOf(now ? [now] : [])
  expect(nows).toHaveLength(3)
  for (const entry of nows) {
    expect(entry).toMatchObject({ slot: slotOf(later), amounts: [0, 0, 0, 1], unique: [] })
  }
})

test('a reporter that adds nothing leaves no delta', () => {
  expect(packMessages([{ ...message, amounts: {} }], at)).toEqual([])
  expect(packMessages([{ ...message, amounts: { spam: 0 } }], at)).toEqual([])
})

test('the key of a pair depends on its type and piece, and no two types share keys', () => {
  const pieces = [authorKey, { hi: 0, lo: 0 }, { hi: 0xffffffff, lo: 0xffffffff }]
  const types = Array.from({ length: 256 }, (_, type) => type)
  const keys = pieces.flatMap((piece) => types.map((type) => pairKey(type, piece)))
  expect(new Set(keys.map(({ hi, lo }) => `${hi} ${lo}`)).size).toBe(keys.length)
  for (const half of keys.flatMap(({ hi, lo }) => [hi, lo])) expect(half).toBe(half >>> 0)
})

test('keys of pairs are the same as those stored', () => {
  expect(pairKey(150, { hi: 0, lo: 0 })).toEqual({ hi: 3778043799, lo: 164011035 })
  expect(pairKey(197, authorKey)).toEqual({ hi: 1096034983, lo: 4159221949 })
})

test('the counts of a report are restored as they were stored', () => {
  for (const amounts of [{ spam: 1, complaint: 1 }, { ham: 1 }, { complaint: 1 }, {}]) {
    const { shingles } = message
    expect(readCounted(packCounted({ amounts, shingles }))).toEqual({ amounts, shingles })
  }
  const zero = packCounted({ amounts: { ham: 1, complaint: 0 }, shingles: message.shingles })
  expect(readCounted(zero).amounts).toEqual({ ham: 1 })
})
