/** The facts of mail of a list, whose machine handed it over. */
export const list = {
  bulk: { has_list_id: true, has_list_post: true, is_bulk: true, list_id: 'talk.lists.example' },
  origin: { rdns_organization: 'lists.example' },
}
/** The facts of bulk mail that its author signed with its List-Unsubscribe. */
export const bulk = { authentication: { author_stands_behind: true, unsubscribe_signed: true } }
/** The facts of an author whose mail reporters wanted. */
export const welcome = { reputation: { author_domain_score: 0.25, author_domain_weight: 1 } }
/** The facts of mail whose author is verified. */
export const verified = { authentication: { author_stands_behind: true } }
