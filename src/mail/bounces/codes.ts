import { inferredDetails, reasonsByStatus } from './phrases.ts'
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
 * Chooses between the status code that a notification states and the one in the reply that it
 * quotes. If the stated code is vague, the quoted code is used, because it is nearer to the cause.
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

/** The reason that an enhanced status code names; undefined when it names none. */
export function reasonOfStatus(status: string | undefined): BounceReason | undefined {
  if (status === undefined) return undefined
  if (status.startsWith('2')) return 'delivered'
  return reasonsByStatus.get(status)
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
