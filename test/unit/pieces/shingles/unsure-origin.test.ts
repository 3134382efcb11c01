import { expect, test } from 'vitest'
import { analyzeMessage } from '../../../../src/pieces/analyze.ts'
import { hexOf, shingleHash } from '../../../../src/pieces/shingles/hash.ts'
import { pieceTypes } from '../../../../src/pieces/shingles/piece-types.ts'
import { messageOf } from '../../../support/shingles.ts'

/**
 * Returns the origin, and the pieces about the route, for a given minimum confidence of an origin.
 */
async function piecesOfTheWay(originConfidenceMin: number) {
  const { shingles, origin } = await analyzeMessage(messageOf({ text: 'An offer.' }), {
    trustedRelays: [],
    ignoreStamps: true,
    originConfidenceMin,
  })
  const ofTheWay = shingles.filter(({ name }) => /^(origin|claimed-ip)/.test(name))
  return { origin, pieces: ofTheWay, names: ofTheWay.map(({ name }) => name) }
}

test('an origin with just enough confidence is counted as origin', async () => {
  const { origin } = await piecesOfTheWay(0)
  const { names } = await piecesOfTheWay(origin?.confidence ?? 0)
  expect(names).toContain('origin-ip')
  expect(names).toContain('origin-rdns-organization')
  expect(names).not.toContain('claimed-ip')
})

test('an origin with less confidence is only a claim and is in no pair', async () => {
  const { pieces, names } = await piecesOfTheWay(1)
  expect(names).toEqual(['claimed-ip', 'claimed-ip-network'])
  const { number } = pieceTypes['claimed-ip']
  expect(pieces[0]?.hash).toBe(hexOf(shingleHash(number, '192.0.2.7')))
})
