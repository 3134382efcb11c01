import { listCodes, type Listing } from './list.ts'
import { englishReasons, publicReasons } from './reasons.ts'
import type { ListEdition } from './zone-file.ts'

/** An entry as programs get it. */
export type ListedJson = {
  list: string
  name: string
  category: string
  code: string
  /** Days in UTC; `until` is the first on which it is not listed any more. */
  since: string
  until: string
  times: number
  reasons: string[]
}

/** All that is told of an entry. */
export function listedJson(listing: Listing): ListedJson {
  const reasons = publicReasons(listing)
  const { list, name, category, times } = listing
  return {
    list,
    name,
    category,
    code: listCodes[category],
    since: reasons.since,
    until: reasons.until,
    times,
    reasons: englishReasons(reasons),
  }
}

/** The beginning of a list as JSON, up to its entries: one to a line, commas between. */
export function jsonHeader({ list, zone, publicUrl, madeAt, expiresAt }: ListEdition): string {
  const head = {
    list,
    zone,
    generated_at: madeAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    lookup_url: `${publicUrl}/lookup`,
    codes: listCodes,
  }
  return `${JSON.stringify(head).slice(0, -1)},"entries":[`
}

/** Its end. */
export const jsonFooter = '\n]}\n'
