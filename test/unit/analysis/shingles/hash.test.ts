import { describe, expect, test } from 'vitest'
import {
  hexOf,
  hexOfSigned,
  lanesOf,
  shingleHash,
  signedOf,
} from '../../../../src/analysis/shingles/hash.ts'

describe('the hash of a shingle', () => {
  test.for([
    [70, '', '87556656b406bf5e'],
    [70, 'shop.example/a/b?x=1', 'b8743f01f0b00c46'],
    [71, 'shop.example/a/b?x=1', 'b2f2b7fab5038928'],
    [50, 'müller ✓', 'bd2996d713269f09'],
    [255, 'x'.repeat(1000), '08349744f5cd9c11'],
  ] as const)('of type %i is the same for ever', ([type, piece, expected]) => {
    expect(hexOf(shingleHash(type, piece))).toBe(expected)
  })

  test.for([
    ['0000000000000000', 0n, [0, 0]],
    ['00000000ffffffff', 0xffffffffn, [0, -1]],
    ['7fffffffffffffff', 2n ** 63n - 1n, [0x7fffffff, -1]],
    ['8000000000000001', -(2n ** 63n) + 1n, [-0x80000000, 1]],
    ['ffffffffffffffff', -1n, [-1, -1]],
  ] as const)('%s is stored as %i', ([hex, signed, lanes]) => {
    expect(signedOf(hex)).toBe(signed)
    expect(hexOfSigned(signed)).toBe(hex)
    expect(lanesOf(hex)).toEqual(lanes)
  })
})
