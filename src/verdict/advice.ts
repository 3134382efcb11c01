import { DAY_MS } from '../durations.ts'
import { registrableDomainOf } from '../mail/address.ts'
import { parseHeader } from '../mail/header.ts'
import { readOneClickUrl, type Unsubscribe } from '../mail/list-unsubscribe.ts'
import type { MessageKind } from '../mail/message.ts'
import { parseBody } from '../mail/message-body.ts'
import { exceedsLimits } from '../mail/mime-leaves.ts'
import { tidied } from '../mail/text.ts'
import type { Authentication } from '../origin/authenticity/authenticate.ts'
import { viewBody } from '../pieces/body-view.ts'
import type { ListClaims } from '../pieces/list-claims.ts'
import type { RecognizedMarketer } from '../pieces/marketer.ts'
import { isUnwanted, type VerdictClass } from './verdict.ts'

/**
 * Unsubscribe advice for a reporter. `known`: the message comes from a marketer that we know.
 * `cautious`: we know only the signer, so the advice includes a warning. `about` is the key for the
 * limit of one letter per week.
 */
export type Advice =
  | { kind: 'known'; about: string; marketer: RecognizedMarketer }
  | { kind: 'cautious'; about: string; signer: string }

/** Input of `adviceOf`. */
export type AdviceCase = {
  verdict: { class: VerdictClass }
  reportedAs: 'spam' | 'phishing' | 'not-spam'
  /** Whether a mail server reported the message for learning. */
  isLearned: boolean
  messageKind: MessageKind
  marketer?: RecognizedMarketer | null | undefined
  authentication: Pick<Authentication, 'dkim'> | null
  unsubscribe: Unsubscribe | null
}

/**
 * Decides whether to send unsubscribe advice. Undefined for possible phishing and for messages
 * without a verified signer. Unsubscribe instructions alone prove nothing, because phishing
 * contains them too.
 */
export function adviceOf(one: AdviceCase): Advice | undefined {
  const { verdict, reportedAs, isLearned, messageKind, marketer } = one
  if (reportedAs !== 'spam' || isLearned || messageKind !== 'message') return undefined
  if (verdict.class === 'phishing' || verdict.class === 'malware') return undefined
  if (marketer) return { kind: 'known', about: `marketer ${marketer.key}`, marketer }
  if (isUnwanted(verdict) || verdict.class !== 'marketing' || !one.unsubscribe) return undefined
  const signer = alignedSigner(one.authentication)
  if (signer === undefined) return undefined
  return { kind: 'cautious', about: `signer ${registrableDomainOf(signer) ?? signer}`, signer }
}

/** The author's domain, if a verified signature aligns with it. */
export function alignedSigner(
  authentication: Pick<Authentication, 'dkim'> | null,
): string | undefined {
  return authentication?.dkim.find(({ result, aligned }) => result === 'pass' && aligned)?.domain
}

/**
 * Maximum age of a message, in days, for one-click unsubscribe. The address in an older message may
 * now belong to somebody else.
 */
const oneClickDaysMax = 60

/**
 * Returns the one-click unsubscribe link (RFC 8058 §4) if we may use it for the reporter: it is
 * HTTPS, and both required header fields are signed by the author's domain or by a signer of the
 * advised marketer. Undefined otherwise, and when the message is too old.
 */
export function oneClickLink(
  { unsubscribe, claims, authentication }: OneClickCase,
  advice: Advice | undefined,
  age: { receivedAt: Date; now: Date },
): string | undefined {
  if (!advice || unsubscribe?.oneClick !== true || unsubscribe.https === null) return undefined
  if (age.now.getTime() - age.receivedAt.getTime() > oneClickDaysMax * DAY_MS) return undefined
  const aligned = (authentication?.dkim ?? []).flatMap(({ result, aligned, domain }) =>
    result === 'pass' && aligned ? [domain] : [],
  )
  const own = advice.kind === 'known' && advice.marketer.by === 'signature'
  const trusted = new Set(own ? [...aligned, advice.marketer.proof] : aligned)
  if (!claims?.oneClickSigners.some((signer) => trusted.has(signer))) return undefined
  return 'url' in readOneClickUrl(unsubscribe.https) ? unsubscribe.https : undefined
}

/** Input of `oneClickLink`. */
export type OneClickCase = {
  unsubscribe: Unsubscribe | null
  claims?: ListClaims
  authentication: Pick<Authentication, 'dkim'> | null
}

/** Limits for parsing a message only to display its text. */
const BYTES_MAX = 512 * 1024
const limits = { headersMax: 1_000, partsMax: 100, nestingMax: 20 }

/**
 * Returns the text of a message as its reader sees it, without markup. The text is untrusted:
 * display it as plain text only. Undefined when the message has no text or exceeds the limits.
 */
export async function messageText(raw: Buffer): Promise<string | undefined> {
  if (raw.length > BYTES_MAX || exceedsLimits(raw, limits) !== undefined) return undefined
  const body = await parseBody(raw, parseHeader(raw))
  const tidy = tidied(viewBody(body).written)
  return tidy === '' ? undefined : tidy
}
