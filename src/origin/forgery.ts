import { registrableDomainOf } from '../mail/address.ts'
import { parseMailDate } from '../mail/date.ts'
import { addressScope, parseIp } from '../mail/ip.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { providerProfiles } from './provider-profiles.ts'
import { isWrittenBy, providerOfHost, senderOf } from './providers.ts'
import { type Hop, isLinked } from './hop.ts'

/**
 * An irregularity in a line below the injection point. `isProof`: it proves a forgery, because no
 * legitimate machine causes it.
 */
export type Suspicion = { note: Phrase; isProof: boolean }

const CLOCK_SKEW_MS = 60 * 60 * 1000

/** The lines directly above and below an examined line; `below` is undefined for the last line. */
export type Neighbors = { above: Hop; below: Hop | undefined }

/**
 * Finds the irregularities in a line, given its neighbors and the registrable domains of the
 * author. Only irregularities that no legitimate machine writes are proof; the others are notes for
 * people.
 */
export function suspicionsOf(
  hop: Hop,
  { above, below }: Neighbors,
  isAuthorDomain: (domain: string) => boolean,
): Suspicion[] {
  const found = [...oddities(above, hop)]
  if (isSameWriter(above, hop)) return found
  const borrowed = hop.byHost === undefined ? undefined : providerOfHost(hop.byHost)
  if (borrowed && above.fromIp && senderOf(above) !== borrowed) {
    found.push(oddity(phrase('borrowed-name', { provider: borrowed.name })))
  } else found.push(oddity(phrase('broken-chain')))
  const proof = proofOf(hop, below, isAuthorDomain)
  if (proof) found.push({ note: proof, isProof: true })
  return found
}

function* oddities(above: Hop, hop: Hop): Generator<Suspicion> {
  const [later, earlier] = [above.field?.at, hop.field?.at]
  if (later && earlier && earlier.getTime() - later.getTime() > CLOCK_SKEW_MS) {
    yield oddity(phrase('time-runs-backwards'))
  }
  const { fromIp } = hop
  if (fromIp && addressScope(fromIp) === 'reserved') {
    yield oddity(phrase('reserved-address', { ip: fromIp.text }))
  }
  const literal = hop.helo?.startsWith('[') ? parseIp(hop.helo) : undefined
  if (literal && fromIp && literal.text !== fromIp.text && addressScope(literal) === 'public') {
    yield oddity(phrase('posing-literal', { ip: literal.text }))
  }
}

/**
 * Returns the proof that a line is forged, given that the peer of the line above did not write it;
 * undefined if there is no proof.
 */
function proofOf(
  hop: Hop,
  below: Hop | undefined,
  isAuthorDomain: (domain: string) => boolean,
): Phrase | undefined {
  const { field, byHost } = hop
  if (!field) return undefined
  if (saysDate(field.fromComments)) return phrase('date-for-address')
  const protocol = field.with?.toUpperCase()
  const owner = providerProfiles.find(
    ({ protocols }) => protocol !== undefined && protocols?.includes(protocol),
  )
  if (owner && !isWrittenBy(owner, hop)) {
    return phrase('foreign-protocol', { provider: owner.name, protocol: field.with ?? '' })
  }
  const registrable = registrableDomainOf(byHost)
  if (registrable === undefined || isAuthorDomain(registrable) || !lacksIdentifier(hop))
    return undefined
  if (below?.field?.id !== undefined && isSameWriter(hop, below)) return undefined
  return phrase('no-identifier')
}

/**
 * Whether a line has no identifier although its writer would give one. Mail systems assign
 * identifiers to messages received by SMTP. Only qmail and IronPort assign none, and only they
 * write the date without the day of the week.
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

/** Whether the peer of the line above may have written the line: by name, address or domain. */
function isSameWriter(above: Hop, hop: Hop): boolean {
  if (!above.field?.from || hop.byHost === undefined || isLinked(above, hop)) return true
  const registrable = registrableDomainOf(hop.byHost)
  if (registrable === undefined) return true
  return [above.rdns, above.helo].some((name) => registrableDomainOf(name) === registrable)
}

function oddity(note: Phrase): Suspicion {
  return { note, isProof: false }
}
