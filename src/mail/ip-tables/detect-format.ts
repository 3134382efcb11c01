import { isCsvHeader } from './csv.ts'
import { isDelegated } from './delegated.ts'
import { isIpToAs } from './ip-to-as.ts'

/**
 * The tables of networks that we read: our own CSV, IP-to-AS, the statistics of the regional
 * registries, MaxMind's format.
 */
export const tableFormats = ['csv', 'ip2asn', 'rir', 'mmdb'] as const

/** One of them. */
export type TableFormat = (typeof tableFormats)[number]

/**
 * The format of a table by its first bytes: those with NULs are MaxMind's, the others tell by their
 * first line that is neither empty nor a comment. Undefined when it begins like none of them.
 */
export function detectFormat(head: Buffer): TableFormat | undefined {
  if (head.includes(0)) return 'mmdb'
  const lines = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split('\n')
  const line = lines.map((text) => text.trimEnd()).find((text) => text !== '' && text[0] !== '#')
  if (line === undefined) return undefined
  if (isCsvHeader(line)) return 'csv'
  if (isDelegated(line)) return 'rir'
  return isIpToAs(line) ? 'ip2asn' : undefined
}
