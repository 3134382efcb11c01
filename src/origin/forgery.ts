import { registrableDomainOf } from '../mail/address.ts'
import { parseMailDate } from '../mail/date.ts'
import { addressScope, parseIp } from '../mail/ip.ts'
import { isLinked } from './injection-point.ts'
import { providerProfiles } from './provider-profiles.ts'
import { isWrittenBy, providerOfHost, senderOf } from './providers.ts'
import type { Hop } from './trace.ts'

/** Something odd about a line: a stable name in kebab-case, and a sentence for a person. */
export type Note = { name: string; text: string }

/** What is odd about a line below the injection point, and whether no honest machine does it. */
export type Suspicion = { note: Note; isProof: boolean }

const CLOCK_SKEW_MS = 60 * 60 * 1000

/** The lines around the one in question; `below` is undefined for the last. */
export type Neighbors = { above: Hop; below: Hop | undefined }

/**
 * What is odd about a line, given its neighbors and the houses (registered domains) of the author.
 * Only what no honest machine writes is proof; the rest are notes for a person.
 */
export function suspicionsOf(
  hop: Hop,
  { above, below }: Neighbors,
  isHouseOfAuthor: (house: string) => boolean,
): Suspicion[] {
  const found = [...oddities(above, hop)]
  if (isSameWriter(above, hop)) return found
  const borrowed = hop.byHost === undefined ? undefined : providerOfHost(hop.byHost)
  if (borrowed && above.fromIp && senderOf(above) !== borrowed) {
    const text = `It says ${borrowed.name} wrote it, but it did not come from there.`
    found.push(oddity('borrowed-name', text))
  } else {
    const text = 'Its writer is not the machine that the line above names.'
    found.push(oddity('broken-chain', text))
  }
  const proof = proofOf(hop, below, isHouseOfAuthor)
  if (proof) found.push({ note: proof, isProof: true })
  return found
}

function* oddities(above: Hop, hop: Hop): Generator<Suspicion> {
  const [later, earlier] = [above.field?.at, hop.field?.at]
  if (later && earlier && earlier.getTime() - later.getTime() > CLOCK_SKEW_MS) {
    yield oddity('time-runs-backwards', 'Its time is later than that of the line above it.')
  }
  const { fromIp } = hop
  if (fromIp && addressScope(fromIp) === 'reserved') {
    yield oddity('reserved-address', `No machine can have the address ${fromIp.text}.`)
  }
  const literal = hop.helo?.startsWith('[') ? parseIp(hop.helo) : undefined
  if (literal && fromIp && literal.text !== fromIp.text && addressScope(literal) === 'public') {
    const text = `The peer called itself ${literal.text}, which is not its address.`
    yield oddity('posing-literal', text)
  }
}

/** Why a line whose writer does not fit the line above cannot be genuine. */
function proofOf(
  hop: Hop,
  below: Hop | undefined,
  isHouseOfAuthor: (house: string) => boolean,
): Note | undefined {
  const { field, byHost } = hop
  if (!field) return undefined
  if (saysDate(field.fromComments)) {
    const text = 'It gives a date where the address of the peer belongs.'
    return { name: 'date-for-address', text }
  }
  const protocol = field.with?.toUpperCase()
  const owner = providerProfiles.find(
    ({ protocols }) => protocol !== undefined && protocols?.includes(protocol),
  )
  if (owner && !isWrittenBy(owner, hop)) {
    const text = `Only machines of ${owner.name} write "with ${field.with ?? ''}".`
    return { name: 'foreign-protocol', text }
  }
  const house = registrableDomainOf(byHost)
  if (house === undefined || isHouseOfAuthor(house) || !lacksIdentifier(hop)) return undefined
  if (below?.field?.id !== undefined && isSameWriter(hop, below)) return undefined
  const text = 'It has no identifier, and its writer has nothing to do with this message.'
  return { name: 'no-identifier', text }
}

/**
 * Mail systems number the messages they take by SMTP. qmail and IronPort do not, but they write
 * the date without the day of the week, and nothing else does.
 */
function lacksIdentifier({ field }: Hop): boolean {
  if (!field?.from || field.id !== undefined || field.software !== undefined) return false
  if (!/^(e?smtps?a?|asmtp|qmqp|local)$/i.test(field.with ?? '')) return false
  return /^(mon|tue|wed|thu|fri|sat|sun)\b/i.test(field.dateText ?? '')
}

function saysDate(comments: readonly string[] | undefined): boolean {
  return comments?.some((comment) => /\d:\d\d:\d\d/.test(comment) && isDate(comment)) === true
}

function isDate(comment: string): boolean {
  return parseMailDate(comment.replaceAll(/[[\]]/g, ' ')) !== undefined
}

/** Whether the line may be written by the peer of the line above: by name, address or domain. */
function isSameWriter(above: Hop, hop: Hop): boolean {
  if (!above.field?.from || hop.byHost === undefined || isLinked(above, hop)) return true
  const house = registrableDomainOf(hop.byHost)
  if (house === undefined) return true
  return [above.rdns, above.helo].some((name) => registrableDomainOf(name) === house)
}

function oddity(name: string, text: string): Suspicion {
  return { note: { name, text }, isProof: false }
}
