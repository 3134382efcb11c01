import type { Share } from './figures.ts'
import type { RowCounts } from './model-report.ts'
import { rowKinds } from './training-row.ts'

/** A share for people: `99.1 %`. */
export function percentText(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

/** A share with its interval: `99.1 % (97.0 to 99.7; 212 of 214)`. */
export function shareText({ hits, of, share, low, high }: Share): string {
  if (of === 0) return 'none'
  const interval = `${(low * 100).toFixed(1)} to ${(high * 100).toFixed(1)}`
  return `${percentText(share)} (${interval}; ${hits} of ${of})`
}

/** How many rows of each kind: `30 phishing, 20 ham`. */
export function countsText(counts: RowCounts): string {
  const parts = rowKinds.flatMap((kind) => (counts[kind] ? [`${counts[kind]} ${kind}`] : []))
  return parts.length === 0 ? 'nothing' : parts.join(', ')
}
