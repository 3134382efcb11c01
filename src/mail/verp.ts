import { composeToken, parseToken } from './signed-token.ts'

/** Which feedback report a return path stands for: the nth one made for a report. */
export type ReturnPathToken = {
  /** The report's id, a UUID in its usual lower-case form. */
  reportId: string
  /** Which of the report's feedback reports, 1 to 255. */
  number: number
}

/** Where return paths live and what signs them. */
export type ReturnPathSettings = { domain: string; secret: string }

/** An address of ours that a mail was sent to, by what it was given out for. */
export type OwnAddress =
  /** The return path of a feedback report. */
  | ({ is: 'feedback-bounce' } & ReturnPathToken)
  /** Where its consumer answers. */
  | ({ is: 'feedback-answer' } & ReturnPathToken)
  /** The return path of a letter. */
  | { is: 'letter-bounce'; letterId: string }
  /** Where who got a letter answers. */
  | { is: 'letter-answer'; letterId: string }
  /** Where a reporter sends mail to be reported: the secret is looked up by its hash. */
  | { is: 'mail-in'; secret: string }

const kinds = {
  fb: 'feedback-bounce',
  re: 'feedback-answer',
  lt: 'letter-bounce',
  la: 'letter-answer',
} as const

type Prefix = keyof typeof kinds

const purposes: Record<Prefix, string> = {
  fb: 'return path 1',
  re: 'answer address 1',
  lt: 'letter return path 1',
  la: 'letter answer address 1',
}

const addressShape = /^<?(fb|re|lt|la)-([a-z2-7-]{45})@([^@<>\s]+?)\.?>?$/
const mailInShape = /^<?report-([a-z2-7]{26})@([^@<>\s]+?)\.?>?$/

/**
 * The variable envelope return path of one feedback report: what is sent under it bounces to it,
 * so a bounce names its report however badly it is written. Lower case and case-insensitive
 * (relays change case), 48 octets before the `@` where RFC 5321 §4.5.3.1.1 allows 64, and signed.
 *
 * Throws a RangeError when the report id is no UUID or the number not within 1 to 255.
 */
export function composeReturnPath(token: ReturnPathToken, settings: ReturnPathSettings): string {
  return addressOf('fb', { id: token.reportId, number: token.number }, settings)
}

/** The Reply-To of one feedback report: what comes there is its consumer's answer. */
export function composeAnswerAddress(token: ReturnPathToken, settings: ReturnPathSettings): string {
  return addressOf('re', { id: token.reportId, number: token.number }, settings)
}

/** The return path of a letter. */
export function composeLetterReturnPath(letterId: string, settings: ReturnPathSettings): string {
  return addressOf('lt', { id: letterId, number: 1 }, settings)
}

/** The Reply-To of a letter that may be answered. */
export function composeLetterAnswerAddress(letterId: string, settings: ReturnPathSettings): string {
  return addressOf('la', { id: letterId, number: 1 }, settings)
}

/** The address to which a reporter sends what is to be reported; `secret` is base 32. */
export function composeMailInAddress(
  secret: string,
  { domain }: Pick<ReturnPathSettings, 'domain'>,
): string {
  return `report-${secret}@${domain.toLowerCase()}`
}

/**
 * What an address of ours was given out for, in any case and with or without angle brackets:
 * `'forged'` when it has the shape and the domain but not our signature, undefined when it is some
 * other address. The comparison takes the same time wherever the signature differs.
 */
export function parseOwnAddress(
  address: string,
  settings: ReturnPathSettings,
): OwnAddress | 'forged' | undefined {
  const given = address.trim().toLowerCase()
  const ours = settings.domain.toLowerCase()
  const [, secret, mailInDomain] = mailInShape.exec(given) ?? []
  if (secret !== undefined) return mailInDomain === ours ? { is: 'mail-in', secret } : undefined
  const [, prefix, token = '', domain] = addressShape.exec(given) ?? []
  if (prefix === undefined || domain !== ours) return undefined
  const content = parseToken(token, purposes[prefix as Prefix], settings.secret)
  if (content === undefined || content === 'forged') return content
  const its = kinds[prefix as Prefix]
  if (its === 'letter-bounce' || its === 'letter-answer') return { is: its, letterId: content.id }
  return { is: its, reportId: content.id, number: content.number }
}

/** The same for return paths of feedback reports alone; any other address is undefined. */
export function parseReturnPath(
  address: string,
  settings: ReturnPathSettings,
): ReturnPathToken | 'forged' | undefined {
  const own = parseOwnAddress(address, settings)
  if (own === undefined) return undefined
  if (own === 'forged') return /^\s*<?fb-/i.test(address) ? own : undefined
  if (own.is !== 'feedback-bounce') return undefined
  return { reportId: own.reportId, number: own.number }
}

function addressOf(
  prefix: Prefix,
  content: { id: string; number: number },
  { domain, secret }: ReturnPathSettings,
): string {
  return `${prefix}-${composeToken(content, purposes[prefix], secret)}@${domain.toLowerCase()}`
}
