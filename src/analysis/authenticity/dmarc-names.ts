import { houseOf } from '../../mail/domain.ts'

const labelsMax = 8

/**
 * Where a DMARC policy may be found (RFC 9989 §4.10): `_dmarc.` before the author's domain and its
 * parents, and before those identities that belong to the same owner. It ends at the domain its
 * owner registered: the policies of public suffixes are not asked for.
 */
export function policyNames(
  author: string | undefined,
  identities: readonly (string | undefined)[],
): string[] {
  const house = houseOf(author)
  if (house === undefined) return []
  const related = identities.filter((domain) => domain !== undefined && houseOf(domain) === house)
  return [...new Set(related.flatMap((domain) => lineage(domain ?? '', house)))].map(
    (domain) => `_dmarc.${domain}`,
  )
}

/** The domain and its parents down to the house; of long ones the first and the last seven. */
function lineage(domain: string, house: string): string[] {
  const labels = domain.split('.')
  const least = house.split('.').length
  const all = labels.map((_, index) => labels.slice(index).join('.'))
  return all.filter((name, index) => {
    const count = labels.length - index
    return count >= least && (name === domain || count < labelsMax)
  })
}
