/** A 64-bit count: a number while it is a safe integer, a bigint beyond. */
export type Count = number | bigint

/** What is counted, in the order of the bits and columns; `unique` follows from the members. */
export const kinds = ['ham', 'spam', 'complaint', 'redeemed', 'unique'] as const

/** The place of `unique` among the kinds. */
export const UNIQUE = 4
/** The place of `redeemed`: the only kind that makes nobody a unique. */
export const REDEEMED = 3

const MAX = 2n ** 63n - 1n

/** The sum; at the edge of 64 bits it stays where it is. */
export function add(a: Count, b: Count): Count {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  const sum = BigInt(a) + BigInt(b)
  if (sum > MAX) return MAX
  if (sum < -MAX) return -MAX
  return narrow(sum)
}

/** The shorter form, so that equal counts are the same value. */
export function narrow(value: bigint): Count {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}
