/**
 * Minimum number of words of a text that identifies a campaign. Shorter texts (`Please see
 * attached.`) occur in many campaigns.
 */
export const DISTINCTIVE_WORDS_MIN = 8

/** Number of bits of the look of a picture (`pictureLook` in `parsing`). */
export const LOOK_BITS = 98
const bands = 8
const bandBits = 12
/** A picture with fewer bits that are set is nearly of one color, or shows a single edge. */
const bitsMin = 18
/**
 * Maximum number of different bits of two looks of one picture. Measured: up to 13 after
 * recompression, scaling or a small crop.
 */
const distanceMax = 13
/** Maximum difference of the ratio of width to height: 2^(5/32), about 11 %. */
const shapeMax = 5

const shapeOf = (look: string) => Number.parseInt(look.slice(0, 2), 16)
const bitsOf = (look: string) => BigInt(`0x${look.slice(2)}`)

/** Whether two looks are of the same picture. */
export function isSameLook(a: string, b: string): boolean {
  if (Math.abs(shapeOf(a) - shapeOf(b)) > shapeMax) return false
  return bitCount(bitsOf(a) ^ bitsOf(b)) <= distanceMax
}

function bitCount(bits: bigint): number {
  let count = 0
  for (let rest = bits; rest !== 0n; rest &= rest - 1n) count++
  return count
}

/**
 * Returns eight parts of a look, each with its number: two looks of one picture nearly always have
 * an equal part. Undefined for a picture without pattern.
 */
export function lookBands(look: string): string[] | undefined {
  const bits = bitsOf(look)
  const parts = Array.from({ length: bands }, (_, band) => {
    return Number((bits >> BigInt(band * bandBits)) & ((1n << BigInt(bandBits)) - 1n))
  })
  if (bitCount(bits) < bitsMin) return undefined
  return parts.map((part, band) => `${band}${part.toString(16).padStart(3, '0')}`)
}

/** Returns pieces of a look for counting: pairs of parts, because one part is in many looks. */
export function lookPieces(look: string): string[] {
  const parts = lookBands(look) ?? []
  const pairs = parts.map((part, band) => [part, parts[(band + 1) % bands] ?? ''] as const)
  return pairs.filter((pair) => !pair.some((part) => part.endsWith('000'))).map(String)
}
