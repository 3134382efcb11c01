import { expect, test } from 'vitest'
import {
  inShard,
  randomShard,
  shardOf,
  systemClock,
  systemRandom,
  uuidFloor,
  uuidTime,
  uuidv7,
} from '../../src/world.ts'

const now = new Date('2026-11-20T13:06:07.089Z')
const zeros = (count: number) => Buffer.alloc(count)
const ones = (count: number) => Buffer.alloc(count, 0xff)

test('a version 7 UUID has the time, the version and the variant at the specified bits', () => {
  expect(uuidv7(now, zeros)).toBe('01a1f910-7271-7000-8000-000000000000')
  expect(uuidv7(now, ones)).toBe('01a1f910-7271-7fff-bfff-ffffffffffff')
})

test('the example of RFC 9562, appendix A.6, is reproduced', () => {
  const random = () => Buffer.from('0000000000000cc318c4dc0c0c07398f', 'hex')
  const id = uuidv7(new Date('2022-02-22T19:22:22Z'), random)
  expect(id).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')
})

test('the time can be read back, and the floor is below every id of its millisecond', () => {
  expect(uuidTime(uuidv7(now))).toEqual(now)
  expect(uuidTime(uuidFloor(now))).toEqual(now)
  expect(uuidFloor(now) < uuidv7(now, zeros)).toBe(true)
  const before = new Date(now.getTime() - 1)
  expect(uuidv7(before, ones) < uuidFloor(now)).toBe(true)
})

test.for([
  ['1969-12-31T23:59:59Z', '00000000-0000-0000-0000-000000000000'],
  ['1970-01-01T00:00:00Z', '00000000-0000-0000-0000-000000000000'],
  ['9999-12-31T23:59:59.999Z', 'e677d21f-dbff-0000-0000-000000000000'],
] as const)('the floor of %s is %s', ([at, floor]) => {
  expect(uuidFloor(new Date(at))).toBe(floor)
})

test('ids of later milliseconds sort later, as text and as bytes', () => {
  const ids = Array.from({ length: 100 }, (_, ms) => uuidv7(new Date(now.getTime() + ms)))
  expect(ids.toSorted()).toEqual(ids)
})

test('ten thousand ids of one millisecond are all different', () => {
  expect(new Set(Array.from({ length: 10_000 }, () => uuidv7(now))).size).toBe(10_000)
})

test('the shard of an id is its last digit, and an id moves to any shard', () => {
  expect(shardOf('01a1f910-7271-7000-8000-00000000000a')).toBe(10)
  expect(shardOf('01A1F910-7271-7000-8000-00000000000F')).toBe(15)
  const id = uuidv7(now)
  for (let shard = 0; shard < 16; shard++) {
    const moved = inShard(id, shard)
    expect(shardOf(moved)).toBe(shard)
    expect([moved.length, moved.slice(0, -1)]).toEqual([36, id.slice(0, -1)])
  }
  const drawn = new Set(Array.from({ length: 1_000 }, () => randomShard()))
  expect([...drawn].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, n) => n))
})

test('the real world has a running clock and random bytes of any length', () => {
  expect(systemClock().getTime()).toBeGreaterThan(now.getTime() - 366 * 86_400_000)
  expect(systemRandom(0)).toHaveLength(0)
  expect(systemRandom(32).equals(systemRandom(32))).toBe(false)
})
