import { decodeHeaderText } from '../encoded-word.ts'
import { fieldValue, type HeaderField } from '../header.ts'
import type { BounceReason } from './reasons.ts'
import { systemText } from './recipients-in-text.ts'

const textCharsRead = 4000
const system = new RegExp(
  [
    'mailer-?daemon|post_?master|mail[ -]?(?:deliver|system|admin|daemon)',
    'mdaemon|\\bmta\\b|\\bndr\\b|amavis|smtp_mail_service|anti_?virus|\\bimss\\b',
  ].join('|'),
  'i',
)
const listManager = /^[^@]{0,200}(?:-admin|-owner|-request|owner-[^@]{0,60}|majordomo|listserv)@/i

const subjects: readonly RegExp[] = [
  /undeliver|deliver(?:y|ed|ing)|returned? (?:mail|to sender)|mailer|bounce|could not send/i,
  /failure (?:notice|notification)|mail (?:fail(?:ed|ure)|error|system)|could not be|rejected/i,
  /non[- _]remis|unzustellbar|warning: (?:message|could)|error sending your|olevererbart/i,
  /user (?:is )?unknown|unknown user|no such user|non[- ]delivery|failed mail/i,
  /smtp server: errors|non recapitabile|не ?доставлено|devuelto|delayed mail/i,
]

const texts: readonly RegExp[] = [
  /(?:could|can) ?not be (?:sent|delivered)|(?:was|were) (?:not delivered|undeliverable)/i,
  /error message below:|following (?:addresses|recipients?)[^.]{0,60}(?:failed|errors?|problems)/i,
  /(?:permanent|fatal) (?:fatal )?errors?|delivery[^.]{0,60}failed|failed permanently/i,
  /transcript of session|rcpt to:[^\n]{0,400}\n[^\n]{0,20}\b5\d\d |undeliverable to/i,
  /(?:error|trouble) delivering your|did not reach the following|unable to deliver/i,
  /no valid recipients for this|n'a pas pu [êe]tre|konnte nicht zugestellt|не удалось доставить/i,
  /(?:mail|message) (?:has been|was|is being) returned (?:because|to you)|failed recipients?\b/i,
  /(?:could|can) ?not deliver (?:the |your )?(?:mail|message)|no se pudo entregar|无法投递|无法送达/i,
]
/** Names that gateways and their administrators use as authors of mail. */
const role = /\b(?:admin(?:istrator)?|system|gateway|inetgw\d*|smtp\w*|robot|notif\w*|dsn)\b/i
/** Subjects that gateways give to a message they return. */
const failureSubject = new RegExp(
  [
    '^\\W{0,9}(?:undeliver(?:able|ed)|non-?delivery|failure notice|unzustellbar|non remis)\\b',
    '^\\W{0,9}(?:(?:permanent|mail|message) )?delivery (?:status |has )?(?:fail|error|notif)',
    '^\\W{0,9}returned mail|^\\W{0,9}mail (?:could not be delivered|undeliverable)',
  ].join('|'),
  'i',
)
/**
 * An SMTP refusal code. Required in mail with a reply subject, because people also write from such
 * addresses.
 */
const refusalCode = /(?:^|[\s:])[45][0-5]\d[ -]/m
const refusedPost =
  /\b(?:are|is) not (?:an? )?(?:registered )?(?:member|subscriber)|not subscribed|\bloop alert\b/i
/** Addresses of sending services that return messages but accept no replies. */
const unanswered = /\b(?:no|do-?not)-?reply@/i

/**
 * Whether a mail without a machine-readable part is a bounce notification. It is one when it comes:
 *
 * - from a mail system or without a return path, with a subject or text that says that something
 *   was not delivered
 * - from an address that accepts no replies, with such a text and the returned message
 *   (`isReturning`)
 * - from a gateway, with such a subject, such a text and the returned message after it
 * - from a mailing list manager that rejects a post
 *
 * Mail in which a person writes about a bounce is not a notification.
 */
export function looksLikeBounce(
  fields: readonly HeaderField[],
  explanation: string,
  isReturning = false,
): boolean {
  if (fieldValue(fields, 'x-failed-recipients') !== undefined) return true
  const from = (fieldValue(fields, 'from') ?? '').slice(0, 1000)
  const subject = decodeHeaderText((fieldValue(fields, 'subject') ?? '').slice(0, 1000))
  const returnPath = (fieldValue(fields, 'return-path') ?? '').slice(0, 1000).replace(/\s/g, '')
  const isNull = returnPath === '<>' || /^<?mailer-daemon\b/i.test(returnPath)
  if (system.test(from) || isNull || /^\s*<>\s*$/.test(from)) {
    const start = explanation.slice(0, textCharsRead).replace(/^>.*$/gm, '')
    const isAnswer = !isNull && /^\s*(?:re|aw|sv|antw)\s*:/i.test(subject)
    if (isAnswer) return refusalCode.test(start) && texts.some((form) => form.test(start))
    const isAway = fieldValue(fields, 'x-autoreply') !== undefined
    if (subjects.some((form) => form.test(subject))) return true
    if (isAway) return false
    if (isReturning && /\bmailer-?daemon\b/i.test(from)) return true
    return texts.some((form) => form.test(start))
  }
  const isFailure = failureSubject.test(subject) && role.test(from)
  if ((isReturning && unanswered.test(from)) || isFailure) {
    const start = explanation.slice(0, textCharsRead).replace(/^>.*$/gm, '')
    const isProven = isReturning || systemText(start) !== start
    return isProven && texts.some((form) => form.test(start))
  }
  const author = /<([^<>]{1,320})>/.exec(from)?.[1] ?? from.trim()
  return listManager.test(author) && refusedPost.test(subject)
}

/**
 * Conclusions that mail systems write in their own name when they give up, as opposed to a quoted
 * reply of a remote server. Neither the stage of a session nor a vague status weakens them.
 */
const ownWords: readonly (readonly [RegExp, BounceReason])[] = [
  // Lotus Domino, in several languages.
  [/not listed in (?:public name & address book|domino directory)/, 'userunknown'],
  [/no se encuentra en el directorio de domino|dans l'annuaire domino/, 'userunknown'],
  [/domino ディレクトリには見つかりません/, 'userunknown'],
  [/several matches found in domino directory/, 'systemerror'],
  [/cannot route mail to user/, 'filtered'],
  // IMail and similar systems: one line with the phrase and the address.
  [/^unknown user: \S{1,320}$|no valid recipients for this mm/, 'userunknown'],
  [/mailbox exceeds allowed size/, 'mailboxfull'],
  [/delivery failed \d{1,4} attempts/, 'expired'],
  [/invalid final delivery user ?id/, 'userunknown'],
  // Local delivery agents, as sendmail quotes them.
  [/\bmail\.local: (?:unknown (?:user|name)|user unknown)/, 'userunknown'],
  // Gmail's own notifications.
  [/\*\* address not found \*\*|because the address couldn't be found/, 'userunknown'],
  [/\(and other recipients in the same domain\)/, 'userunknown'],
  [/\bdd this user doesn't have an? .{1,80}account/, 'userunknown'],
  // Exchange Online: unknown recipients, found by itself or reported by a remote server.
  [/\bwasn't found at \S|5\.4\.1 recipient address rejected: access denied/, 'userunknown'],
  [/remote server returned unknown recipient or mailbox unavailable/, 'userunknown'],
  // Mailing list and group managers.
  [/not (?:an? )?(?:registered )?member of (?:this|the) mailing list/, 'rejected'],
  [/groups\.google\.com\/support|permission to post messages to the group/, 'rejected'],
  // Exim.
  [/all (?:host address lookups failed permanently|relevant mx records point to)/, 'hostunknown'],
  [/(?:mx|srv) record indicated no smtp service/, 'notaccept'],
  [/lmtp error after(?!.{0,700}(?:unknown|exist|quota|full))/, 'systemerror'],
  [/local delivery failed|delivery to (?:file|pipe) forbidden/, 'systemerror'],
  [/malformed address: |angle-brackets nested too deep/, 'syntaxerror'],
  [/expected word or "<"|domain missing in source/, 'syntaxerror'],
  // Domains without a mail exchanger: RFC 7505 and older wordings.
  [/\bnull ?mx\b|no mx found for domain|find a mail exchanger or ip address/, 'notaccept'],
  // qmail, which ends every notification with the statement that it gave up, whatever the cause.
  [/wasn't able to establish an smtp connection|cname lookup failed temp/, 'networkerror'],
  [/listed as a best-preference mx|connected to \S{1,253} but connection died/, 'networkerror'],
  [/(?:unable to contact|cannot reach|connect to) (?:the )?ldap server/, 'systemerror'],
  // qmail, Courier, Zoho and OpenSMTPD.
  [/dns violates rfc 1035/, 'systemerror'],
  [/host not reachable|envelope expired/, 'expired'],
  [/network error on destination mx/, 'networkerror'],
  // Aborted transactions.
  [/^554 transaction failed\b(?!: \w)/, 'systemerror'],
  [/but my name was rejected/, 'blocked'],
]

// PowerMTA's bounce categories that name a cause.
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

/** The reason that a mail system states in its own name; undefined when it states none. */
export function reasonOfOwnWords(text: string): BounceReason | undefined {
  return ownWords.find(([form]) => form.test(text))?.[1]
}

/** The reason that a PowerMTA bounce category means; undefined when it means none. */
export function reasonOfCategory(category: string): BounceReason | undefined {
  return categories[category.trim().toLowerCase()]
}
