import { countIndependent, type Witness } from './karma.ts'

/** What a reporter of a campaign received: the parts of links that may identify the recipient. */
export type LinkWitness = Pick<Witness, 'isVouched' | 'signUpDay' | 'circle'> & {
  reporterId: string
  /** A hash of the address that received the message. */
  recipient: Buffer
  /** Hashes of 8 bytes each. */
  parts: Buffer
}

/** How many independent reporters must have received a part: then it is nobody's token. */
const SHARED_MIN = 3
const HASH_BYTES = 8
/** Maximum number of shared parts of a campaign. */
const SHARED_MAX = 64

/**
 * Returns the hashes of the parts that at least three independent reporters of a campaign received,
 * each at another address. A crowd that signed up together is one reporter, as for karma. Of
 * several entries of a reporter, the last one counts.
 */
export function sharedParts(witnesses: readonly LinkWitness[]): Buffer {
  const byReporter = new Map(witnesses.map((one) => [one.reporterId, one]))
  if (byReporter.size < SHARED_MIN) return Buffer.of()
  const receivedBy = new Map<string, LinkWitness[]>()
  for (const witness of byReporter.values()) {
    for (const part of partsOf(witness.parts)) receivedBy.getOrInsert(part, []).push(witness)
  }
  const shared = [...receivedBy].flatMap(([part, all]) => {
    if (all.length < SHARED_MIN) return []
    const byRecipient = new Map(all.map((one) => [one.recipient.toString('hex'), one]))
    return countIndependent([...byRecipient.values()]) >= SHARED_MIN ? [part] : []
  })
  return Buffer.from(shared.slice(0, SHARED_MAX).join(''), 'hex')
}

export function partsOf(hashes: Buffer): string[] {
  const count = Math.floor(hashes.length / HASH_BYTES)
  return Array.from({ length: count }, (_, at) =>
    hashes.toString('hex', at * HASH_BYTES, (at + 1) * HASH_BYTES),
  )
}
