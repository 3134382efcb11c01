import { houseOf } from '../../mail/domain.ts'
import type { HeaderField } from '../../mail/header.ts'
import { parseTagList } from '../../mail/tag-list.ts'
import type { Hop } from '../whence/hops.ts'
import { readSigner, signatureCharsMax } from './signatures.ts'

/** One set of a chain: who sealed, and where the key is kept. */
export type Seal = {
  /** From 1; the highest is the newest. */
  instance: number
  domain: string
  keyName: string
}

/**
 * The ARC chain (RFC 8617) of a message, as far as it must be read to know whether to verify it.
 * `broken`: the sets are not complete, or not numbered from 1. `undue`: there are more sets, or
 * longer fields, than honest mail has. `own`: see `findChain`.
 */
export type ArcChain =
  | { is: 'none' }
  | { is: 'broken' | 'undue' | 'own' }
  | { is: 'whole'; seals: Seal[]; messageKeyName: string }

const kinds = ['arc-seal', 'arc-message-signature', 'arc-authentication-results']
const instancesMax = 10

/**
 * The chain, and whether verifying it can tell anything. A chain in which all seals are those of
 * the house that wrote the topmost lines only repeats what the receiver says in these lines, so
 * its costs are saved: it is `own`.
 */
export function findChain(fields: readonly HeaderField[], hops: readonly Hop[]): ArcChain {
  const sets = arcFields(fields)
  if (sets.length === 0) return { is: 'none' }
  const isUndue = sets.some(({ value }) => value.length > signatureCharsMax)
  if (isUndue || sets.length > kinds.length * instancesMax) return { is: 'undue' }
  const count = sets.length / kinds.length
  const byPlace = new Map(sets.map((field) => [`${field.key} ${instanceOf(field)}`, field]))
  const seals: Seal[] = []
  let messageKeyName = ''
  for (let instance = 1; instance <= count; instance++) {
    const [seal, signature, results] = kinds.map((kind) => byPlace.get(`${kind} ${instance}`))
    const sealer = seal && readSigner(seal)
    const signer = signature && readSigner(signature)
    if (!sealer || !signer || !results) return { is: 'broken' }
    seals.push({ instance, domain: sealer.domain, keyName: sealer.keyName })
    messageKeyName = signer.keyName
  }
  if (!Number.isInteger(count)) return { is: 'broken' }
  const home = hops.map(({ byHost }) => houseOf(byHost)).find((house) => house !== undefined)
  const isOwn = home !== undefined && seals.every(({ domain }) => houseOf(domain) === home)
  if (isOwn) return { is: 'own' }
  return { is: 'whole', seals, messageKeyName }
}

/** The fields of all sets, in the order of the header. */
export function arcFields(fields: readonly HeaderField[]): HeaderField[] {
  return fields.filter(({ key }) => kinds.includes(key))
}

/** `i=1` stands among the tags, or first before the results (RFC 8617 §4.1.1). */
function instanceOf({ key, value }: HeaderField): string {
  if (key === 'arc-authentication-results') return /^\s*i\s*=\s*(\d+)/.exec(value)?.[1] ?? ''
  return parseTagList(value)?.get('i') ?? ''
}
