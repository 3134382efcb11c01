import { parseOwnAddress, type ReturnPathSettings } from '../verp.ts'
import type { InboundReading } from './read-inbound.ts'

/** A mail of ours: a feedback report or a letter. */
export type OwnMail = { reportId: string; number: number } | { letterId: string }

/** A mail of ours that another mail claims to be about. Anybody can make an unsigned claim. */
export type Claim = {
  mail: OwnMail
  by: 'envelope-id' | 'return-path' | 'message-id' | 'reference'
  isSigned: boolean
}

const claimsMax = 20
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const messageIdShape = new RegExp(
  `^<?(?:letter\\.(${uuid})|(${uuid})\\.([1-9]\\d{0,2}))@([^@<>\\s]+?)>?$`,
)
const tokenInText = /(?:^|[^a-z0-9])((?:fb|re|lt|la)-[a-z2-7]{28}-[a-z2-7]{16})(?![a-z0-9])/

/** The mail of ours that was sent with a Message-ID; undefined when the Message-ID is not ours. */
export function ownMessageId(
  messageId: string,
  { domain }: Pick<ReturnPathSettings, 'domain'>,
): OwnMail | undefined {
  const shape = messageIdShape.exec(messageId.trim().toLowerCase())
  const [, letterId, reportId, digits, host] = shape ?? []
  if (host !== domain.toLowerCase()) return undefined
  if (letterId !== undefined) return { letterId }
  const number = Number(digits)
  return reportId === undefined || number > 255 ? undefined : { reportId, number }
}

/**
 * Finds the mails of ours that a mail returns or answers, the most reliable claims first: by the
 * ENVID, the return path and the answer address, which we signed; then by the Message-IDs of the
 * mail that it returns; then by the Message-IDs to which it refers.
 */
export function claimsOf(
  { returned, references }: Pick<InboundReading, 'returned' | 'references'>,
  settings: ReturnPathSettings,
): Claim[] {
  const byToken = (texts: readonly string[], by: Claim['by']) =>
    texts.flatMap((text): Claim[] => {
      const mail = signedMail(text, settings)
      return mail ? [{ mail, by, isSigned: true }] : []
    })
  const byMessageId = (texts: readonly string[], by: Claim['by']) =>
    texts.flatMap((text): Claim[] => {
      const mail = ownMessageId(text, settings)
      return mail ? [{ mail, by, isSigned: false }] : []
    })
  return [
    ...byToken(returned.envelopeIds, 'envelope-id'),
    ...byToken(returned.returnPaths, 'return-path'),
    ...byMessageId(returned.messageIds, 'message-id'),
    ...byMessageId(references, 'reference'),
  ].slice(0, claimsMax)
}

/**
 * The mail of ours whose return path or answer address occurs in a text, with or without the `@`
 * and the domain.
 */
function signedMail(text: string, settings: ReturnPathSettings): OwnMail | undefined {
  const token = tokenInText.exec(text.slice(0, 998).toLowerCase())?.[1]
  const own = token && parseOwnAddress(`${token}@${settings.domain}`, settings)
  if (own === undefined || own === '' || own === 'forged' || own.is === 'mail-in') return undefined
  if ('letterId' in own) return { letterId: own.letterId }
  return { reportId: own.reportId, number: own.number }
}

/**
 * Whether a mail is one of our own that came back to us: it was sent under a return path of ours or
 * has a Message-ID of ours. The Message-ID of a bounce does not count, because a system may return
 * our mail under its original Message-ID.
 */
export function isOurOwn(
  { kind, messageId }: Pick<InboundReading, 'kind' | 'messageId'>,
  mailFrom: string,
  settings: ReturnPathSettings,
): boolean {
  const sender = parseOwnAddress(mailFrom, settings)
  if (sender !== undefined && sender !== 'forged') return true
  return kind !== 'bounce' && messageId !== null && ownMessageId(messageId, settings) !== undefined
}
