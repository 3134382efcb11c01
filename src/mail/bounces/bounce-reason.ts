import { reasonOfStatus } from './codes.ts'
import {
  anyTextReasons,
  certainReason,
  isSaid,
  loosePhrases,
  phrases,
  reasonSaid,
} from './phrases.ts'
import { type BounceReason, type SmtpStage, stageIn } from './reasons.ts'

/** What is known about one failed delivery. */
export type DeliveryFailure = {
  /** The text that the mail systems on the route wrote, in any language. */
  text: string
  /** Enhanced status code (RFC 3463), if given. */
  status: string | undefined
  /** SMTP reply code (RFC 5321), if given. */
  replyCode: number | undefined
  /** More text, which may name the stage of the SMTP session. */
  context?: string
  /** The diagnostic type (RFC 3464 §2.3.6) in lower case: `smtp`, `x-unix`. */
  type?: string
  isDelayed?: boolean
  /** Names of the host that replied and of the recipient's domain, in lower case. */
  hosts?: readonly string[]
}

/** The facts about a failure from which its reason is decided. */
type Evidence = {
  named: BounceReason | undefined
  says: (reason: BounceReason) => boolean
  stage: SmtpStage | undefined
  replyCode: number
  subject: string
  type: string
  isDelayed: boolean
  /** Whether the server refuses the client's host or IP address, and not the recipient. */
  isOfClient: boolean
}

type Ruling = readonly [reason: BounceReason, holds: (evidence: Evidence) => boolean]

const textCharsMax = 4000

/**
 * Decides the reason of a failure. Searches in this order, until a reason is found:
 *
 * - codes and phrases of the provider
 * - the refusal by the remote server, from the narrowest cause to the widest; some causes depend on
 *   the stage of the session: a refusal of the recipient after the message data means `filtered`
 * - phrases that are valid in any text
 * - the status alone
 * - weak hints
 *
 * Returns `onhold` when there is a text without a recognizable reason, `undefined` when there is no
 * text.
 */
export function bounceReason(failure: DeliveryFailure): BounceReason {
  const text = answeredText(failure)
  if (failure.status?.startsWith('2') === true) return 'delivered'
  const evidence = evidenceOf(failure, text)
  const isSmtp = !evidence.type.startsWith('x-unix')
  return (
    certainReason(text, failure.hosts ?? []) ??
    (isSmtp ? firstOf(refusals, evidence) : undefined) ??
    anyTextReasons.find(evidence.says) ??
    // A failed local program is a more specific cause than a system error of its host.
    (!isSmtp && evidence.named === 'systemerror' ? 'mailererror' : evidence.named) ??
    firstOf(remainders, evidence) ??
    looserReason(text, evidence) ??
    (text === '' ? 'undefined' : 'onhold')
  )
}

/**
 * Whether mail to the address will always fail: the address or the host does not exist, the
 * recipient has moved, or the host accepts no mail and does not say that this is temporary.
 */
export function isHardBounce(
  reason: BounceReason,
  status: string | undefined,
  replyCode?: number,
): boolean {
  if (reason === 'userunknown' || reason === 'hostunknown' || reason === 'hasmoved') return true
  // X.7.27 is about the sender's domain, which accepts no mail (RFC 7505 §4.2).
  if (reason !== 'notaccept' || status?.endsWith('.7.27') === true) return false
  return !(status ?? String(replyCode ?? '')).startsWith('4')
}

const refusals: readonly Ruling[] = [
  ['mailboxfull', namedOrSaid('mailboxfull')],
  [
    'mesgtoobig',
    (it) => it.named === 'mesgtoobig' || (it.named !== 'exceedlimit' && it.says('mesgtoobig')),
  ],
  ['exceedlimit', namedOrSaid('exceedlimit')],
  ['suspend', (it) => it.replyCode === 525 || it.says('suspend')],
  ['hasmoved', (it) => it.says('hasmoved') || (it.named === 'hasmoved' && !it.says('userunknown'))],
  ['norelaying', (it) => !isEarly(it.stage) && it.says('norelaying')],
  ['authfailure', namedOrSaid('authfailure')],
  ['userunknown', isUserUnknown],
  ['filtered', isFiltered],
  ['requireptr', namedOrSaid('requireptr')],
  ['notcompliantrfc', said('notcompliantrfc')],
  ['badreputation', said('badreputation')],
  ['contenterror', (it) => !saysSpam(it) && namedOrSaid('contenterror')(it)],
  ['rejected', isRejected],
  ['hostunknown', isHostUnknown],
  ['spamdetected', (it) => it.named === 'spamdetected' || saysSpam(it)],
  ['speeding', said('speeding')],
  ['toomanyconn', namedOrSaid('toomanyconn')],
  ['blocked', namedOrSaid('blocked')],
]

const remainders: readonly Ruling[] = [
  ['contenterror', ({ subject }) => subject === '6'],
  ['securityerror', ({ subject }) => subject === '7'],
  ['mailererror', ({ type }) => type.startsWith('x-unix')],
  ['syntaxerror', ({ replyCode }) => [400, 500].some((c) => replyCode > c && replyCode < c + 8)],
  ['expired', ({ isDelayed }) => isDelayed],
  ['blocked', ({ stage }) => stage === 'helo'],
]

function evidenceOf(failure: DeliveryFailure, text: string): Evidence {
  const { status, replyCode, type = '', isDelayed = false, context = '' } = failure
  const known = new Map<BounceReason, boolean>()
  const says = (reason: BounceReason) =>
    known.getOrInsertComputed(reason, () => isSaid(phrases.get(reason) ?? [], text))
  return {
    named: reasonOfStatus(status),
    says,
    stage: stageIn(text) ?? stageIn(plainText(context)),
    replyCode: replyCode ?? 0,
    subject: status?.charAt(2) ?? '',
    type,
    isDelayed,
    isOfClient: clientBlame.test(text),
  }
}

// IronPort and Amazon SES write these words before the reply that they quote. The words name a
// class of errors, not the cause.
const classWords = /^[45]\.\d\.\d - [a-z ]{1,60} (?=(?:[45]\d\d[- ])?')/
// Matches a refusal of the client's host or IP address, whatever the text says about the recipient.
const clientBlame =
  /\b(?:your|client|sending) (?:ip|host|(?:mail )?server)\b.{0,80}(?:black|block|banned|listed)/
const stageWords = /\(in reply to (?:end of )?[a-z ]{1,20} command\)/

/**
 * The text in lower case. If only the context contains the command that the server answered, that
 * command is appended.
 */
function answeredText({ text, context = '' }: DeliveryFailure): string {
  const said = plainText(text).replace(classWords, '')
  const stage = stageWords.exec(said) ? undefined : stageWords.exec(plainText(context))?.[0]
  return stage === undefined || said === '' ? said : `${said} ${stage}`
}

// Codes that begin each line of a multi-line reply except the first.
const laterCodes =
  /(?<!\S)[245]\d\d-(?:[245]\.\d{1,3}\.\d{1,3} )?|(?<=\S )[245]\d\d [245]\.\d\.\d (?=\w)/g

/** The text in lower case on one line, without the codes that begin later lines of a long reply. */
function plainText(text: string): string {
  const joined = text.slice(0, textCharsMax).toLowerCase().replace(/\s+/g, ' ').trim()
  return joined.replace(laterCodes, ' ').replace(/ {2,}/g, ' ')
}

function firstOf(rulings: readonly Ruling[], evidence: Evidence): BounceReason | undefined {
  return rulings.find(([, holds]) => holds(evidence))?.[0]
}

/**
 * Decides by looser phrases, and by phrases in other languages. A server that refuses after the
 * message data has already accepted the recipient, so `userunknown` then becomes `filtered`.
 */
function looserReason(said: string, { stage }: Evidence): BounceReason | undefined {
  const bare = said
    .normalize('NFD')
    .replace(/(?<=[a-z])[\u0300-\u036f]+/g, '')
    .replaceAll('ł', 'l')
    .normalize('NFC')
  const reason = reasonSaid(loosePhrases, bare)
  return reason === 'userunknown' && stage === 'data' ? 'filtered' : reason
}

function said(reason: BounceReason): Ruling[1] {
  return ({ says }) => says(reason)
}

function namedOrSaid(reason: BounceReason): Ruling[1] {
  return ({ named, says }) => named === reason || says(reason)
}

function isEarly(stage: SmtpStage | undefined): boolean {
  return stage === 'connect' || stage === 'helo' || stage === 'tls'
}

/**
 * Whether the refusal came before the message data, so that the content of the message cannot be
 * the cause.
 */
function isBeforeData(stage: SmtpStage | undefined): boolean {
  return isEarly(stage) || stage === 'mail' || stage === 'rcpt'
}

const otherCauses: readonly BounceReason[] = [
  ...(['norelaying', 'blocked', 'mailboxfull', 'hasmoved', 'rejected', 'notaccept'] as const),
]

function isUserUnknown({ named, says, stage, isOfClient }: Evidence): boolean {
  if (named === 'suspend') return false
  if (named === 'userunknown') return !otherCauses.some(says)
  return stage === 'rcpt' && says('userunknown') && !isOfClient
}

function isFiltered({ named, says, stage, isOfClient }: Evidence): boolean {
  if (named === 'suspend' || (named !== 'filtered' && isBeforeData(stage))) return false
  return says('filtered') || (says('userunknown') && !isOfClient)
}

function isRejected({ named, says, stage }: Evidence): boolean {
  if (named === 'rejected') return true
  const mayBe =
    stage === 'mail' ||
    (stage === 'data' && named !== 'userunknown') ||
    (stage !== 'data' &&
      (named === undefined || named === 'securityerror' || named === 'systemerror')) ||
    // The status is about an address, and the text says that this is the sender's address.
    (named === 'userunknown' && stage === undefined && !says('userunknown'))
  return mayBe && says('rejected')
}

function isHostUnknown({ named, says }: Evidence): boolean {
  return named === 'hostunknown' ? !says('networkerror') : says('hostunknown')
}

function saysSpam({ says, stage }: Evidence): boolean {
  return !isBeforeData(stage) && says('spamdetected')
}
