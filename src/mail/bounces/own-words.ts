import type { BounceReason } from './reasons.ts'

/**
 * What mail systems write in their own name when they give up, not in a reply of a far server: a
 * conclusion, so that neither the stage of a session nor a vague status can blur it.
 */
const ownWords: readonly (readonly [RegExp, BounceReason])[] = [
  // Lotus Domino, in the languages it writes.
  [/not listed in (?:public name & address book|domino directory)/, 'userunknown'],
  [/no se encuentra en el directorio de domino|dans l'annuaire domino/, 'userunknown'],
  [/domino ディレクトリには見つかりません/, 'userunknown'],
  [/several matches found in domino directory/, 'systemerror'],
  [/cannot route mail to user/, 'filtered'],
  // IMail and those like it: one line, the word and the address.
  [/^unknown user: \S{1,320}$|no valid recipients for this mm/, 'userunknown'],
  [/mailbox exceeds allowed size/, 'mailboxfull'],
  [/delivery failed \d{1,4} attempts/, 'expired'],
  [/invalid final delivery user ?id/, 'userunknown'],
  // Agents of local delivery, as sendmail quotes them.
  [/\bmail\.local: (?:unknown (?:user|name)|user unknown)/, 'userunknown'],
  // Gmail in its own name.
  [/\*\* address not found \*\*|because the address couldn't be found/, 'userunknown'],
  [/\(and other recipients in the same domain\)/, 'userunknown'],
  [/\bdd this user doesn't have an? .{1,80}account/, 'userunknown'],
  // Exchange Online: nobody by that name, and of a far server that refused.
  [/\bwasn't found at \S|5\.4\.1 recipient address rejected: access denied/, 'userunknown'],
  [/remote server returned unknown recipient or mailbox unavailable/, 'userunknown'],
  // Managers of mailing lists and groups.
  [/not (?:an? )?(?:registered )?member of (?:this|the) mailing list/, 'rejected'],
  [/groups\.google\.com\/support|permission to post messages to the group/, 'rejected'],
  // Exim.
  [/all (?:host address lookups failed permanently|relevant mx records point to)/, 'hostunknown'],
  [/(?:mx|srv) record indicated no smtp service/, 'notaccept'],
  [/lmtp error after(?!.{0,700}(?:unknown|exist|quota|full))/, 'systemerror'],
  [/local delivery failed|delivery to (?:file|pipe) forbidden/, 'systemerror'],
  [/malformed address: |angle-brackets nested too deep/, 'syntaxerror'],
  [/expected word or "<"|domain missing in source/, 'syntaxerror'],
  // Names that have no mail exchanger: RFC 7505 and what was said before it.
  [/\bnull ?mx\b|no mx found for domain|find a mail exchanger or ip address/, 'notaccept'],
  // qmail, whose closing words say of every cause that it gave up.
  [/wasn't able to establish an smtp connection|cname lookup failed temp/, 'networkerror'],
  [/listed as a best-preference mx|connected to \S{1,253} but connection died/, 'networkerror'],
  [/(?:unable to contact|cannot reach|connect to) (?:the )?ldap server/, 'systemerror'],
  // qmail, Courier, Zoho and OpenSMTPD.
  [/dns violates rfc 1035/, 'systemerror'],
  [/host not reachable|envelope expired/, 'expired'],
  [/network error on destination mx/, 'networkerror'],
  // Transactions that broke off.
  [/^554 transaction failed\b(?!: \w)/, 'systemerror'],
  [/but my name was rejected/, 'blocked'],
]

// Of the categories PowerMTA puts a bounce into, those that say why.
const categories: Readonly<Record<string, BounceReason>> = {
  'bad-domain': 'hostunknown',
  'inactive-mailbox': 'suspend',
  'message-expired': 'expired',
  'no-answer-from-host': 'networkerror',
  'quota-issues': 'mailboxfull',
  'routing-errors': 'systemerror',
  'spam-related': 'spamdetected',
  'virus-related': 'virusdetected',
}

/** What a mail system concludes in its own words; undefined where it does not. */
export function reasonOfOwnWords(said: string): BounceReason | undefined {
  return ownWords.find(([form]) => form.test(said))?.[1]
}

/** What the category means that a mail system sorted a bounce into. */
export function reasonOfCategory(category: string): BounceReason | undefined {
  return categories[category.trim().toLowerCase()]
}
