import { registrableDomainOf } from '../mail/address.ts'
import type { Facts } from './facts/fact.ts'

/**
 * How a message presents itself, which decides who can act on a complaint about it. `list`: from a
 * mailing list, whose machine handed it over or whose domain signed it; `bulk`: bulk mail that can
 * be unsubscribed from, see `isVerifiedBulk`; `reply`: an answer to another message; `receipt`: a
 * receipt, an order or a code of a verified author; `plain`: anything else. Fields of bulk mail
 * that nothing verifies make no difference, because anybody can write them.
 */
export type Manner = 'list' | 'bulk' | 'reply' | 'receipt' | 'plain'

/** Minimum number of words about orders, invoices and codes in a receipt. */
const RECEIPT_WORDS_MIN = 2

export function mannerOf(facts: Facts): Manner {
  if (isVerifiedList(facts)) return 'list'
  if (facts.headers?.is_answer === true) return 'reply'
  if (isVerifiedBulk(facts)) return 'bulk'
  const isReceipt = Number(facts.text?.receipt_words ?? 0) >= RECEIPT_WORDS_MIN
  return isReceipt && facts.authentication?.author_stands_behind === true ? 'receipt' : 'plain'
}

/**
 * Whether a message is bulk mail of a verified sender: the author's domain signed it with the
 * address for unsubscribing, and no hop is forged.
 */
export function isVerifiedBulk({ authentication, origin }: Facts): boolean {
  return authentication?.unsubscribe_signed === true && origin?.has_forged_hop !== true
}

function isVerifiedList({ authentication, bulk, origin }: Facts): boolean {
  const isPosted = bulk?.has_list_post === true || bulk?.precedence === 'list'
  if (bulk?.has_list_id !== true || !isPosted) return false
  const organization = registrableDomainOf(String(bulk.list_id ?? ''))
  const signers = Array.isArray(authentication?.signers) ? authentication.signers : []
  const proven = [origin?.rdns_organization, ...signers.map((one) => registrableDomainOf(one))]
  return organization !== undefined && proven.includes(organization)
}
