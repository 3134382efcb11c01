import type { BounceReason } from './reasons.ts'

const address = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)/g
const statusForm = /(?<![\d.v-])([245])\.([0-7])\.(\d{1,3})(?!\d|\.\d)/gi

const afterReply = /(?<![\d.])[245][0-5]\d[\s-][\s#('"]{0,9}([245]\.[0-7]\.\d{1,3})(?!\d|\.\d)/g

/**
 * Finds the most specific enhanced status code (RFC 3463) in a text: the first in an SMTP reply,
 * else the first anywhere. Returns `x.0.0` or `4.4.7` only when there is no other.
 */
export function statusIn(text: string): string | undefined {
  const replied = [...text.matchAll(afterReply)].map(([, status = '']) => status).find(isSpecific)
  if (replied !== undefined) return replied
  const found = [...text.replace(address, ' ').matchAll(statusForm)].map(([status]) => status)
  return found.find(isSpecific) ?? found[0]
}

function isSpecific(status: string): boolean {
  return !status.endsWith('.0.0') && status !== '4.4.7'
}

/**
 * Chooses between the status code that a notification states and the one in the reply it quotes.
 * The quoted one is nearer to the cause when the stated one is vague.
 */
export function preferredStatus(
  stated: string | undefined,
  replied: string | undefined,
  replyCode: number | undefined,
): string | undefined {
  if (stated === undefined || replied === undefined || stated === replied) return stated ?? replied
  const replyClass = replyCode === undefined ? undefined : String(replyCode).charAt(0)
  if (replyClass !== undefined && stated.charAt(0) !== replied.charAt(0)) {
    if (replyClass === stated.charAt(0)) return stated
    if (replyClass === replied.charAt(0)) return replied
  }
  const isVague = (status: string) => /^.\.0|\.0$|^.\..\.0/.test(status)
  if (stated.endsWith('.0.0')) return replied.endsWith('.0.0') ? stated : replied
  if (isVague(stated) && !isVague(replied)) return replied
  if (replied.endsWith('.0.0')) return stated
  if (stated === '4.4.7' || stated.startsWith('5.3.')) return replied
  if (stated === '5.1.1') return isVague(replied) ? stated : replied
  return stated === '5.1.3' && replied.startsWith('5.7.') ? replied : stated
}

const replyForm = /(?<![\d.:#/=-])([245])([0-5])(\d)(?![\d.:]*\d)/g
const codeInFront = /^\s*[<[(]?([245][0-5]\d)[\s-]/
const announcers = 'said|reply|replied|response|responded|code|error|smtp;|host|because|\\(|<<<'
const announced = new RegExp(
  `(?:${announcers})[^\\d\\n]{0,60}(?<![\\d.])([245][0-5]\\d)(?![\\d.])`,
  'i',
)
const beforeStatus = /(?<![\d.])([245][0-5]\d)[\s-]+[(#'"]*[245]\.\d{1,3}\.\d{1,3}(?!\d)/

/**
 * Finds the SMTP reply code in a text (RFC 5321 §4.2): one of the same class as the status, or 4xx
 * or 5xx when no status is given.
 */
export function replyCodeIn(text: string, status?: string): number | undefined {
  const plain = text.replace(address, ' ')
  const likely = [beforeStatus, codeInFront, announced].map((form) => form.exec(plain)?.[1])
  const others = [...plain.matchAll(replyForm)].map(([code]) => code)
  const codes = [...likely, ...others].filter((code) => code !== undefined)
  const ofClass = codes.find((code) =>
    status === undefined ? !code.startsWith('2') : code.charAt(0) === status.charAt(0),
  )
  return ofClass === undefined ? undefined : Number(ofClass)
}

// By subject and detail, for 4.x.x and 5.x.x (RFC 3463 §3 and the IANA registry of these codes).
const anyClass: Readonly<Record<string, BounceReason>> = {
  '1.6': 'hasmoved',
  '1.7': 'rejected',
  '1.8': 'rejected',
  '1.9': 'systemerror',
  '2.2': 'mailboxfull',
  '2.3': 'exceedlimit',
  '2.4': 'filtered',
  '3.1': 'systemfull',
  '3.2': 'notaccept',
  '3.3': 'systemerror',
  '3.5': 'systemerror',
  '4.3': 'systemerror',
  '5.5': 'systemerror',
  '6.0': 'contenterror',
  '6.2': 'contenterror',
  '6.5': 'contenterror',
  '7.5': 'securityerror',
  '7.6': 'securityerror',
  '7.7': 'securityerror',
  '7.15': 'securityerror',
  '7.16': 'mesgtoobig',
  '7.24': 'authfailure',
  '7.25': 'requireptr',
  '7.26': 'authfailure',
}

const permanentOnly: Readonly<Record<string, BounceReason>> = {
  '1.0': 'userunknown',
  '1.1': 'userunknown',
  '1.2': 'hostunknown',
  '1.3': 'userunknown',
  '1.4': 'filtered',
  '1.10': 'notaccept',
  '2.0': 'filtered',
  '2.1': 'filtered',
  '3.0': 'systemerror',
  '3.4': 'mesgtoobig',
  '4.0': 'networkerror',
  '4.4': 'hostunknown',
  '5.2': 'syntaxerror',
  '5.3': 'toomanyconn',
  '5.4': 'systemerror',
  '5.6': 'syntaxerror',
  '6.1': 'contenterror',
  '6.3': 'contenterror',
  '6.6': 'contenterror',
  '6.7': 'contenterror',
  '6.8': 'contenterror',
  '6.9': 'contenterror',
  '7.0': 'securityerror',
  '7.1': 'securityerror',
  '7.2': 'securityerror',
  '7.3': 'securityerror',
  '7.4': 'securityerror',
  '7.8': 'securityerror',
  '7.9': 'securityerror',
  '7.10': 'securityerror',
  '7.11': 'securityerror',
  '7.13': 'suspend',
  '7.14': 'securityerror',
  '7.17': 'hasmoved',
  '7.18': 'hasmoved',
  '7.19': 'securityerror',
  '7.20': 'authfailure',
  '7.21': 'authfailure',
  '7.22': 'authfailure',
  '7.23': 'authfailure',
  '7.27': 'notaccept',
  '7.28': 'spamdetected',
  '7.29': 'authfailure',
  '7.30': 'securityerror',
}

const transientOnly: Readonly<Record<string, BounceReason>> = {
  '2.1': 'suspend',
  '4.1': 'expired',
  '4.2': 'networkerror',
  '4.4': 'networkerror',
  '4.5': 'systemfull',
  '4.6': 'networkerror',
  '4.7': 'expired',
  '4.8': 'networkerror',
  '5.3': 'systemerror',
  '7.1': 'blocked',
  '7.2': 'blocked',
  '7.12': 'securityerror',
}

/** The reason that an enhanced status code names; undefined when it names none. */
export function reasonOfStatus(status: string | undefined): BounceReason | undefined {
  if (status === undefined) return undefined
  if (status.startsWith('2')) return 'delivered'
  const detail = status.slice(2)
  const ofClass = status.startsWith('5') ? permanentOnly : transientOnly
  return ofClass[detail] ?? anyClass[detail]
}

// Bounce parsers assign a code of their own, with a detail of 900 or more, when a bounce states
// none.
const inferredDetails: Partial<Record<BounceReason, number>> = {
  undefined: 900,
  onhold: 901,
  syntaxerror: 902,
  norelaying: 909,
  filtered: 910,
  userunknown: 911,
  hostunknown: 912,
  hasmoved: 916,
  rejected: 918,
  suspend: 921,
  mailboxfull: 922,
  exceedlimit: 923,
  systemerror: 930,
  systemfull: 931,
  notaccept: 932,
  mesgtoobig: 934,
  mailererror: 939,
  networkerror: 944,
  toomanyconn: 945,
  speeding: 946,
  expired: 947,
  contenterror: 960,
  securityerror: 970,
  blocked: 971,
  virusdetected: 971,
  authfailure: 972,
  policyviolation: 972,
  requireptr: 973,
  notcompliantrfc: 974,
  badreputation: 975,
  failedstarttls: 976,
  spamdetected: 980,
}

/**
 * Makes a status code from a reason when none was stated: subject 0 and a detail that is not in the
 * IANA registry, which distinguishes it from the codes of mail systems. Undefined for a reason
 * without such a code, for example `delivered`.
 */
export function inferredStatus(reason: BounceReason, statusClass: 4 | 5): string | undefined {
  const detail = inferredDetails[reason]
  if (detail === undefined) return undefined
  if (statusClass === 4 && reason === 'filtered') return '4.0.924'
  return `${statusClass}.0.${detail}`
}
