import { domainOf, registrableDomainOf } from '../mail/address.ts'
import { fieldValue, fieldValues, type HeaderField } from '../mail/header.ts'
import type { Hop } from './hop.ts'

/** What tells for which addresses a message was received. */
export type Recipients = {
  fields: readonly HeaderField[]
  /** The reporter's addresses, in lower case. */
  reporterAddresses: readonly string[]
}

/** Fields in which a mailbox that redirects a message names itself. */
const redirectingKeys = [
  'x-sieve-redirected-from',
  'delivered-to',
  'x-original-to',
  'envelope-to',
  'x-forwarded-for',
  'resent-from',
]
const FIELDS_MAX = 20
const FIELD_CHARS_MAX = 500
const address = /[^\s<>",;:()@]{1,64}@[\w.-]{1,253}/g
/** A return path that a forwarder rewrote, so that it passes SPF (Sender Rewriting Scheme). */
const rewritten = /^<?srs[01][=+-]/i

/**
 * Compares the address for which the peer of `entry` received a message, at the line `outside`,
 * with the address for which it handed the message over. Where that line names none, the fields
 * that a redirecting mailbox adds tell, and the rewritten return path; where `entry` names none, a
 * foreign address is one that is neither of the reporter nor in the domain of a recipient or of the
 * receiver. `other` means that the peer may forward mail for the reporter.
 */
export function compareRecipients(
  entry: Hop,
  outside: Hop,
  hops: readonly Hop[],
  { fields, reporterAddresses }: Recipients,
): 'same' | 'other' | 'unknown' {
  const given = asAddress(outside.field?.for)
  const wanted = asAddress(entry.field?.for)
  if (given !== undefined && wanted !== undefined) return given === wanted ? 'same' : 'other'
  const above = fieldsAbove(fields, entry.index)
  if (rewritten.test(fieldValue(above, 'return-path')?.trim() ?? '')) return 'other'
  const known = [...recipientsAbove(hops, fields, entry.index), ...reporterAddresses]
  const near = new Set([entry.byHost, ...known.map(domainOf)].map(registrableDomainOf))
  const isForeign = (one: string) =>
    !known.includes(one) && !near.has(registrableDomainOf(domainOf(one)))
  const redirecting = fieldsAbove(fields, outside.index).slice(above.length)
  const named = redirectingKeys
    .flatMap((key) => fieldValues(redirecting, key).slice(0, FIELDS_MAX))
    .flatMap((value) => value.slice(0, FIELD_CHARS_MAX).toLowerCase().match(address) ?? [])
  if (named.some(isForeign)) return 'other'
  if (given === undefined || !isForeign(given)) return 'unknown'
  // The mailbox may have another address than the account, but hardly one at the peer.
  const domain = registrableDomainOf(domainOf(given))
  const peers = [entry.rdns, entry.helo].map(registrableDomainOf)
  const isOfPeer = domain !== undefined && peers.includes(domain)
  return isOfPeer || known.length > 0 ? 'other' : 'unknown'
}

function asAddress(text: string | undefined): string | undefined {
  return text?.includes('@') ? text.toLowerCase() : undefined
}

/** The fields above a Received line: they were added after it, by machines we trust. */
export function fieldsAbove(fields: readonly HeaderField[], hopIndex: number): HeaderField[] {
  let seen = -1
  const end = fields.findIndex(({ key }) => key === 'received' && ++seen === hopIndex)
  return fields.slice(0, end < 0 ? undefined : end)
}

/** The addresses for which the machines down to a line received the message, in lower case. */
export function recipientsAbove(
  hops: readonly Hop[],
  fields: readonly HeaderField[],
  hopIndex: number,
): string[] {
  const delivered = ['delivered-to', 'x-original-to', 'envelope-to'].flatMap((key) =>
    fieldValues(fieldsAbove(fields, hopIndex), key),
  )
  const named = hops.slice(0, hopIndex + 1).flatMap(({ field }) => field?.for ?? [])
  return [...delivered, ...named].map((one) => one.trim().toLowerCase())
}
