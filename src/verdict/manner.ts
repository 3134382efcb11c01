import type { Facts } from './facts/fact.ts'

/**
 * How a message presents itself, which decides who can act on a complaint about it. `list`: from a
 * mailing list; `list-relay`: from a mailing list, and the machine of the list handed it over;
 * `bulk`: bulk mail with a way to unsubscribe; `reply`: an answer to another message; `plain`:
 * anything else. Spammers can imitate all of them, so the manner alone acquits no message.
 */
export type Manner = 'list' | 'list-relay' | 'bulk' | 'reply' | 'plain'

/** Returns the manner of a message. */
export function mannerOf({ bulk, headers, links, message, origin, authentication }: Facts): Manner {
  if (bulk?.has_list_id === true && (bulk.has_list_post === true || bulk.precedence === 'list')) {
    return isOfList(String(bulk.list_id), [
      String(origin?.rdns_organization ?? ''),
      ...namesIn(authentication?.signers),
    ])
      ? 'list-relay'
      : 'list'
  }
  if (headers?.is_answer === true) return 'reply'
  const isMarked = bulk?.is_bulk === true || message?.has_list_unsubscribe === true
  return isMarked || links?.has_unsubscribe === true ? 'bulk' : 'plain'
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}

/** Whether one of the domains is that of a list (RFC 2919 §2) or a parent domain of it. */
function isOfList(listId: string, domains: readonly string[]): boolean {
  return domains.some((domain) => domain !== '' && `.${listId}`.endsWith(`.${domain}`))
}
