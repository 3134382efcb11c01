import type { Facts } from './facts/fact.ts'

/**
 * How a message presents itself, which decides who can act on a complaint about it. `list`: from a
 * mailing list; `bulk`: bulk mail with a way to unsubscribe; `reply`: an answer to another message;
 * `plain`: anything else. Spammers can imitate all of them, so the manner alone acquits no message.
 */
export type Manner = 'list' | 'bulk' | 'reply' | 'plain'

/** Returns the manner of a message. */
export function mannerOf({ bulk, headers, links, message }: Facts): Manner {
  const isPosted = bulk?.has_list_post === true || bulk?.precedence === 'list'
  if (bulk?.has_list_id === true && isPosted) return 'list'
  if (headers?.is_answer === true) return 'reply'
  const isMarked = bulk?.is_bulk === true || message?.has_list_unsubscribe === true
  return isMarked || links?.has_unsubscribe === true ? 'bulk' : 'plain'
}
