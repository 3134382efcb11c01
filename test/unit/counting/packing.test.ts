import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  add,
  type Count,
  narrow,
  readVarint,
  unzigzag,
  writeVarint,
  zigzag,
} from '../../../src/counting/packed/cursor.ts'
import {
  HAS_UNIQUE,
  entryPrefix,
  readEntry,
  readHalf,
  scanBlock,
} from '../../../src/counting/packed/delta-packing.ts'
import {
  dayOf,
  prefixes,
  shardOf,
  SLOT_MS,
  slotOf,
  SLOTS_PER_DAY,
} from '../../../src/counting/keys.ts'
import {
  emptyHistory,
  type History,
  packHistory,
  readHistory,
} from '../../../src/counting/packed/history.ts'
import {
  addCount,
  type Member,
  readMembers,
  writeMembers,
} from '../../../src/counting/packed/members.ts'
import { sortDeltas } from '../../../src/counting/sorted-deltas.ts'
import { type Increment, packIncrements } from '../../support/increments.ts'

const MAX = 2n ** 63n - 1n
const count = fc
  .oneof(
    fc.bigInt(0n, MAX),
    fc.bigInt(0n, 300n),
    fc.bigInt(2n ** 53n - 3n, 2n ** 53n + 3n),
    fc.constant(MAX),
  )
  .map(narrow)
const signed = fc.tuple(count, fc.boolean()).map(([one, isNegative]): Count => {
  return isNegative && one !== 0 ? narrow(-BigInt(one)) : one
})
const cursor = () => ({ bytes: Buffer.alloc(1), at: 0 })

test('every 64-bit count can be read back from its varint, and so can the next one', () => {
  fc.assert(
    fc.property(fc.array(count, { minLength: 1 }), (counts) => {
      const packed = cursor()
      for (const one of counts) writeVarint(packed, one)
      const end = packed.at
      packed.at = 0
      expect(counts.map(() => readVarint(packed))).toEqual(counts)
      expect(packed.at).toBe(end)
    }),
  )
})

test('zigzag encoding and decoding preserve every sign', () => {
  fc.assert(
    fc.property(signed, (one) => {
      expect(zigzag(one) >= 0).toBe(true)
      expect(unzigzag(zigzag(one))).toBe(one)
    }),
  )
  expect([0, -1, 1, -2].map(zigzag)).toEqual([0, 1, 2, 3])
})

test('sums are exact up to 64 bits and saturate beyond', () => {
  fc.assert(
    fc.property(signed, signed, (a, b) => {
      const sum = BigInt(a) + BigInt(b)
      const kept = sum > MAX ? MAX : sum < -MAX ? -MAX : sum
      expect(add(a, b)).toBe(narrow(kept))
    }),
  )
})

const increment: fc.Arbitrary<Increment> = fc.record({
  prefix: fc.constantFrom(...prefixes),
  shingle: fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(0n, 40n)),
  unique: fc.option(fc.bigInt(0n, 2n ** 64n - 1n), { nil: undefined }),
  ham: fc.maxSafeInteger(),
  spam: fc.integer({ min: -200, max: 200 }),
  complaint: fc.integer({ min: 0, max: 1 }),
  redeemed: fc.constant(1),
  gated: fc.boolean(),
  at: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
})

test('increments can be read back from their blocks, sorted, each in the shard of its key', () => {
  fc.assert(
    fc.property(fc.array(increment), (increments) => {
      const blocks = packIncrements(increments, new Date('2026-11-20T12:00:00Z'))
      const found = blocks.flatMap(({ shard, content }) => readAll(shard, content))
      const line = (one: Increment) =>
        `${one.shingle} ${one.prefix} ${one.unique} ${one.ham} ${one.spam} ${one.complaint} ${
          one.redeemed
        } ${slotOf(one.at)} ${one.gated}`
      expect(found.map(line).toSorted()).toEqual(increments.map(line).toSorted())
    }),
  )
})

/** Reads a block as the roll-up sorts it, and checks the order. */
function readAll(shard: number, content: Buffer): Increment[] {
  scanBlock(content, (hi) => expect(shardOf(hi)).toBe(shard))
  const deltas = sortDeltas([content])
  const keyAt = (index: number) =>
    (BigInt(deltas.hi[index] ?? 0) << 32n) | BigInt(deltas.lo[index] ?? 0)
  const order = [...deltas.order]
  const keys = order.map(keyAt)
  expect(keys).toEqual(keys.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)))
  return order.map((index) => {
    const place = { bytes: deltas.bytes, at: deltas.at[index] ?? 0 }
    const amounts: Count[] = []
    const head = readEntry(place, amounts)
    const [ham, spam, complaint, redeemed] = amounts.map(Number)
    const half = () => BigInt(readHalf(place))
    return {
      prefix: prefixes[entryPrefix(head)] ?? 'reports',
      shingle: keyAt(index),
      unique: head & HAS_UNIQUE ? (half() << 32n) | half() : undefined,
      ham: ham ?? 0,
      spam: spam ?? 0,
      complaint: complaint ?? 0,
      redeemed: redeemed ?? 0,
      gated: deltas.gated[index] === 1,
      at: new Date((deltas.slot[index] ?? 0) * SLOT_MS),
    }
  })
}

test('a large batch becomes several blocks of bounded size', () => {
  const at = new Date('2026-11-20T12:00:00Z')
  const increments = Array.from({ length: 20_000 }, (_, index): Increment => ({
    prefix: 'checks',
    shingle: BigInt(index),
    spam: 1,
    at,
  }))
  const blocks = packIncrements(increments, at)
  expect(blocks.length).toBeGreaterThan(2)
  expect(Math.max(...blocks.map(({ content }) => content.length))).toBeLessThan(65_000)
  expect(blocks.flatMap(({ shard, content }) => readAll(shard, content))).toHaveLength(20_000)
})

test('members can be read back; expired ones are in one sum', () => {
  const packed = cursor()
  writeMembers(packed, [
    { hi: 4_294_967_295, lo: 1, slots: [3, 7, 140], sums: [1, -2, 5] },
    { hi: 0, lo: 4_294_967_295, slots: [9], sums: [2n ** 60n] },
  ])
  const bytes = packed.bytes.subarray(0, packed.at)
  expect(readMembers(bytes, 8)).toEqual([
    { hi: 4_294_967_295, lo: 1, slots: [144, 140], sums: [-1, 5] },
    { hi: 0, lo: 4_294_967_295, slots: [9], sums: [2n ** 60n] },
  ])
})

const nowSlot = slotOf(new Date('2026-11-20T12:34:56Z'))

/** Returns a key with one complaint by one reporter; `change` overrides properties. */
function seenOnce(change: (history: History, member: Member) => void = () => undefined): History {
  const history = emptyHistory()
  const member = { hi: 0xfedcba98, lo: 7, slots: [nowSlot % SLOTS_PER_DAY], sums: [2] }
  const day = dayOf(nowSlot)
  for (const [kind, amount] of [0, 1, 1, 0, 1].entries()) {
    if (amount === 0) continue
    addCount(history.slots, { period: nowSlot, prefix: 0 }, kind, amount)
    addCount(history.days, { period: day, prefix: 0 }, kind, amount)
  }
  const none = { packed: undefined, chunks: 0, membersTotal: 0 }
  history.sets.push({ day, prefix: 0, members: [member], ...none })
  change(history, member)
  return history
}

/** Packs and unpacks a history; returns its content with the members of its sets. */
function repacked(history: History) {
  const packed = packHistory(history, nowSlot)
  const back = emptyHistory()
  readHistory(packed, back)
  const sets = (one: History) =>
    one.sets.map(({ packed: bytes, members, ...set }) => {
      return { ...set, members: bytes ? readMembers(bytes, 0) : members }
    })
  expect({ ...back, sets: sets(back) }).toEqual({ ...history, sets: sets(history) })
  return packed
}

test('a reporter seen once with a key takes at most eight bytes and can be read back', () => {
  const bytes = repacked(seenOnce()).length
  const alone = repacked(seenOnce(({ sets }) => sets.splice(0))).length
  // Without members, a single byte says so instead of the eight bytes of a member.
  expect(bytes - alone).toBe(8 - 1)
})

test.for<[string, (history: History, member: Member) => void]>([
  ['a second member', ({ sets }, one) => void sets[0]?.members.push({ ...one, lo: 8 })],
  ['a redemption', ({ slots }) => void addCount(slots, { period: nowSlot, prefix: 0 }, 3, 1)],
  ['another slot', ({ slots }) => void addCount(slots, { period: nowSlot - 1, prefix: 0 }, 1, 1)],
  [
    'another prefix',
    ({ days }) => void addCount(days, { period: dayOf(nowSlot), prefix: 1 }, 1, 1),
  ],
  ['a set of another prefix', ({ sets }) => void Object.assign(sets[0] ?? {}, { prefix: 1 })],
  ['less owed to the member', (_, one) => void (one.sums[0] = 1)],
  ['a member of an earlier slot', (_, one) => void (one.slots[0] = 0)],
  [
    'spilled members',
    ({ sets }) => {
      Object.assign(sets[0] ?? {}, { members: [], chunks: 2, membersTotal: 70 })
    },
  ],
])('with %s everything can be read back too', ([, change]) => {
  repacked(seenOnce(change))
})
