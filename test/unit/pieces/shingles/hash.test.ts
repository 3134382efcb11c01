import { afterEach, describe, expect, test } from 'vitest'
import {
  hexOf,
  hexOfHalves,
  seedShingles,
  shingleHash,
  shingleSeed,
  textHash,
  writePairHash,
  writePieceHash,
} from '../../../../src/pieces/shingles/hash.ts'
import { analyzeForCounting } from '../../../../src/pieces/analyze.ts'
import { messageOf } from '../../../support/shingles.ts'

const initial = shingleSeed()
afterEach(() => seedShingles(initial))

describe('the hash of a shingle', () => {
  test.for([
    [70, '', '87556656b406bf5e'],
    [70, 'shop.example/a/b?x=1', 'b8743f01f0b00c46'],
    [71, 'shop.example/a/b?x=1', 'b2f2b7fab5038928'],
    [50, 'müller ✓', 'bd2996d713269f09'],
    [255, 'x'.repeat(1000), '08349744f5cd9c11'],
  ] as const)('of type %i never changes', ([type, piece, expected]) => {
    expect(hexOf(shingleHash(type, piece))).toBe(expected)
  })
})

describe('the seed of an instance', () => {
  test.for([
    ['a piece', () => hexOf(shingleHash(70, 'shop.example'))],
    ['a piece, written', () => written((to) => writePieceHash(to, 1, 70, 'shop.example'))],
    ['a long piece', () => written((to) => writePieceHash(to, 1, 70, 'x'.repeat(20_000)))],
    [
      'a pair of the same hashes',
      () => written((to) => writePairHash(to, 1, { type: 130, of: 0, other: 0 })),
    ],
    ['a text', () => hexOf(textHash('text shop.example'))],
  ] as const)('changes the hash of %s', ([, hash]) => {
    const [first, second, third] = [initial, 1n, 2n ** 64n - 1n].map((seed) => {
      seedShingles(seed)
      return hash()
    })
    expect(new Set([first, second, third]).size).toBe(3)
    seedShingles(1n)
    expect(hash()).toBe(second)
  })

  test('changes the packed shingles of a message, and equal seeds give equal ones', async () => {
    const raw = messageOf({ text: 'Buy at http://shop.example/offers today' })
    const packed = async (seed: bigint) => {
      seedShingles(seed)
      return (await analyzeForCounting(raw, { trustedRelays: [], ignoreStamps: true })).shingles
    }
    const [first, second, again] = [await packed(1n), await packed(2n), await packed(1n)]
    expect(first.equals(second)).toBe(false)
    expect(first.equals(again)).toBe(true)
  })
})

/** Returns the second of two hashes that the function writes. */
function written(write: (to: Int32Array) => void): string {
  const to = new Int32Array(4)
  write(to)
  return hexOfHalves(to, 1)
}
