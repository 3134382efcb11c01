import type { Facts } from './facts/fact.ts'

/**
 * How a message presents itself, which decides who can act on a complaint about it. `list`: from a
 * mailing list; `bulk`: bulk mail with a way to unsubscribe; `reply`: an answer to another message;
 * `receipt`: a receipt, an order or a code of a verified author; `plain`: anything else. Spammers
 * can imitate all of them, so the manner alone acquits no message.
 */
export type Manner = 'list' | 'bulk' | 'reply' | 'receipt' | 'plain'

/** Minimum number of words about orders, invoices and codes in a receipt. */
const RECEIPT_WORDS_MIN = 2

/** Returns the manner of a message. */
export function mannerOf({ authentication, bulk, headers, links, message, text }: Facts): Manner {
  const isPosted = bulk?.has_list_post === true || bulk?.precedence === 'list'
  if (bulk?.has_list_id === true && isPosted) return 'list'
  if (headers?.is_answer === true) return 'reply'
  const isMarked = bulk?.is_bulk === true || message?.has_list_unsubscribe === true
  if (isMarked || links?.has_unsubscribe === true) return 'bulk'
  const isReceipt = Number(text?.receipt_words ?? 0) >= RECEIPT_WORDS_MIN
  return isReceipt && authentication?.author_stands_behind === true ? 'receipt' : 'plain'
}
