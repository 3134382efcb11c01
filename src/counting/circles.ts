import { domainOf, registrableDomainOf } from '../mail/address.ts'
import { freeMailDomains } from '../pieces/features/material.ts'
import { textHash } from '../pieces/shingles/hash.ts'
import { circleOf } from '../verdict/reputation/karma.ts'

/**
 * Returns the circle of an account: that of its provider if it is one of the provider's mailbox
 * users, otherwise that of the domain of its address.
 */
export function circleOfAccount(
  email: string | undefined,
  providerId: string | null | undefined,
): number {
  if (providerId) return circleOf(shortHash(`provider\0${providerId}`))
  const domain = registrableDomainOf(domainOf(email ?? ''))
  const isShared = domain === undefined || freeMailDomains.has(domain)
  return circleOf(isShared ? undefined : shortHash(domain))
}

function shortHash(text: string): number {
  return Number(textHash(text) & 0xffffffffn)
}
