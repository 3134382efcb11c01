import type { PackedShingles } from '../analysis/shingles/packed-shingles.ts'
import type { Amounts } from './count-messages.ts'

/** What a report was counted as, in bytes: which amounts were one, then its shingles. */
export type Counted = { amounts: Amounts; shingles: PackedShingles }

/** Amounts that a report may have, by their bits. */
const countable = ['ham', 'spam', 'complaint'] as const

/** Packs what a report counts as; its amounts are 1 or 0. */
export function packCounted({ amounts, shingles }: Counted): Buffer {
  const bits = countable.reduce((all, kind, index) => all | (amounts[kind] ? 1 << index : 0), 0)
  return Buffer.concat([Buffer.of(bits), shingles])
}

/** Reads what `packCounted` wrote. */
export function readCounted(content: Buffer): Counted {
  const bits = content[0] ?? 0
  const amounts: Amounts = {}
  for (const [index, kind] of countable.entries()) if (bits & (1 << index)) amounts[kind] = 1
  return { amounts, shingles: content.subarray(1) }
}
