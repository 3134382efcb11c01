import { registrableDomain } from '../mail/domain.ts'
import { addressScope } from '../mail/ip.ts'
import { parseMailDate } from '../mail/date.ts'
import type { Hop } from './hops.ts'
import { isLinked } from './injection-point.ts'
import { isWrittenBy, providerProfiles, senderProfile } from './providers.ts'

/** Something odd about a line: a stable name in kebab-case, and a sentence for a person. */
export type Note = { name: string; text: string }

/** What is odd about a line below the injection point, and whether no honest machine does it. */
export type Suspicion = { note: Note; isProof: boolean }

const clockSkewMs = 60 * 60 * 1000

/**
 * What is odd about a line, given the line above it and the one below. Only what no honest machine
 * writes is proof; the rest are notes for a person.
 */
export function suspicionsOf(above: Hop, hop: Hop, below: Hop | undefined): Suspicion[] {
  const found: Suspicion[] = []
  const [later, earlier] = [above.field?.at, hop.field?.at]
  if (later && earlier && earlier.getTime() - later.getTime() > clockSkewMs) {
    found.push(oddity('time-runs-backwards', 'Its time is later than that of the line above it.'))
  }
  if (hop.fromIp && addressScope(hop.fromIp) === 'reserved') {
    found.push(oddity('reserved-address', `No machine can have the address ${hop.fromIp.text}.`))
  }
  if (isSameWriter(above, hop)) return found
  const borrowed = providerProfiles.find((profile) => isWrittenBy(profile, hop))
  if (borrowed && above.fromIp && senderProfile(above.fromIp) !== borrowed) {
    found.push(
      oddity('borrowed-name', `It says ${borrowed.name} wrote it, but it did not come from there.`),
    )
  } else {
    found.push(oddity('broken-chain', 'Its writer is not the machine that the line above names.'))
  }
  const proof = proofOf(hop, below)
  if (proof !== undefined) found.push({ note: { name: 'invented', text: proof }, isProof: true })
  return found
}

/** Why a line whose writer does not fit the line above cannot be genuine. */
function proofOf(hop: Hop, below: Hop | undefined): string | undefined {
  const { field } = hop
  if (!field) return undefined
  const { helo, rdns } = field.from ?? {}
  if (saysDate(field.fromComments)) return 'It gives a date where the address of the peer belongs.'
  const hasNoId = field.id === undefined && (helo ?? rdns) !== undefined
  if (hasNoId && below?.field && below.field.id === undefined && !isSameWriter(hop, below)) {
    return 'Neither it nor the line below has an identifier, and their names do not fit.'
  }
  return undefined
}

function saysDate(comments: readonly string[] | undefined): boolean {
  return comments?.some((comment) => /\d:\d\d:\d\d/.test(comment) && isDate(comment)) === true
}

function isDate(comment: string): boolean {
  return parseMailDate(comment.replaceAll(/[[\]]/g, ' ')) !== undefined
}

/** Whether the line may be written by the peer of the line above: by name, address or domain. */
export function isSameWriter(above: Hop, hop: Hop): boolean {
  if (!above.field?.from || hop.byHost === undefined || isLinked(above, hop)) return true
  const house = registrableDomain(hop.byHost)
  if (house === undefined) return true
  return [above.rdns, above.helo].some((name) => name && registrableDomain(name) === house)
}

function oddity(name: string, text: string): Suspicion {
  return { note: { name, text }, isProof: false }
}
