import { expect, test } from 'vitest'
import { reversal } from '../../../src/counters/append-deltas.ts'
import { incrementsOf, pairKey } from '../../../src/counters/increments-of.ts'

const at = new Date('2026-11-20T12:34:56Z')
const later = new Date('2026-11-21T12:34:56Z')
const addition = { prefix: 'reports', spam: 1, complaint: 1, at } as const
const piece = 'fedcba9876543210'

test('pieces count under their hash, pairs as uniques under a key of their type', () => {
  const increments = incrementsOf(
    [
      { type: 1, hash: piece },
      { type: 4, hash: '00000000000000ff' },
      { type: 150, hash: '0000000000000001', of: piece },
      { type: 151, hash: '0000000000000002', of: piece },
    ],
    addition,
    new Set([4]),
  )
  const whole = 0xfedcba9876543210n
  expect(increments).toEqual([
    { ...addition, shingle: whole, gated: false },
    { ...addition, shingle: 255n, gated: true },
    { ...addition, shingle: pairKey(150, whole), unique: 1n },
    { ...addition, shingle: pairKey(151, whole), unique: 2n },
  ])
  expect(new Set(increments.map(({ shingle }) => shingle)).size).toBe(4)
})

test('the key of a pair fits in 64 bits and differs by type and by piece', () => {
  const keys = [1n, 2n, 2n ** 64n - 1n].flatMap((one) =>
    [1, 2, 3].map((type) => pairKey(type, one)),
  )
  expect(new Set(keys).size).toBe(9)
  expect(keys.every((key) => key >= 0n && key < 2n ** 64n)).toBe(true)
})

test('a reversal takes back where it was counted, and is a redemption now', () => {
  const [increment] = incrementsOf([{ type: 1, hash: piece }], addition, new Set())
  expect(reversal(increment ? [increment] : [], later)).toEqual([
    {
      prefix: 'reports',
      shingle: 0xfedcba9876543210n,
      gated: false,
      ham: -0,
      spam: -1,
      complaint: -1,
      redeemed: -0,
      at,
    },
    { prefix: 'reports', shingle: 0xfedcba9876543210n, gated: false, redeemed: 1, at: later },
  ])
})
