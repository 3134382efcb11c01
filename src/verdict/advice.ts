import { registrableDomainOf } from '../mail/address.ts'
import { parseHeader } from '../mail/header.ts'
import { readOneClickUrl, type Unsubscribe } from '../mail/list-unsubscribe.ts'
import { type MessageKind, parseBody } from '../mail/message.ts'
import { exceedsLimits } from '../mail/mime-leaves.ts'
import type { Authentication } from '../origin/authenticity/authenticate.ts'
import { viewBody } from '../pieces/body-view.ts'
import type { ListClaims } from '../pieces/list-claims.ts'
import type { RecognizedMarketer } from '../pieces/marketer.ts'
import { isUnwanted, type VerdictClass } from './verdict.ts'

/**
 * What a reporter is told of how to unsubscribe: by a marketer we know, or with caution by a signer
 * we only know by name. `about` is what one letter a week is counted by.
 */
export type Advice =
  | { kind: 'known'; about: string; marketer: RecognizedMarketer }
  | { kind: 'cautious'; about: string; signer: string }

/** What advice is decided by. */
export type AdviceCase = {
  verdict: { class: VerdictClass }
  reportedAs: 'spam' | 'phishing' | 'not-spam'
  /** Whether a mail server taught us this one. */
  isLearned: boolean
  messageKind: MessageKind
  marketer?: RecognizedMarketer | null | undefined
  authentication: Pick<Authentication, 'dkim'> | null
  unsubscribe: Unsubscribe | null
}

/**
 * Decides whether to advise: never of what may be phishing, nor of what nobody stands behind. That
 * a message says how to unsubscribe proves nothing; phishing says so too.
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

/** The author's own domain, as a verified signature names it. */
export function alignedSigner(
  authentication: Pick<Authentication, 'dkim'> | null,
): string | undefined {
  return authentication?.dkim.find(({ result, aligned }) => result === 'pass' && aligned)?.domain
}

/** Longer ago, an address to unsubscribe at may be somebody else's. */
const oneClickDaysMax = 60
const DAY_MS = 86_400_000

/**
 * The link to which one POST unsubscribes, where we may do it for the reporter: it is secure, and
 * both fields that promise it are signed by the author's owner, or by whom the advised marketer is
 * known by (RFC 8058 §4). Undefined when one of that lacks, or the message is too old.
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

/** What of a message a click is decided by. */
export type OneClickCase = {
  unsubscribe: Unsubscribe | null
  claims?: ListClaims
  authentication: Pick<Authentication, 'dkim'> | null
}

/** Larger messages, and those with more parts, are not taken apart only to be shown. */
const BYTES_MAX = 512 * 1024
const limits = { headersMax: 1_000, partsMax: 100, nestingMax: 20 }

/**
 * The text of a message as its reader sees it, without its markup: a stranger's, to be shown as
 * text only. Undefined when it has none, or is too much to be read on the side.
 */
export async function messageText(raw: Buffer): Promise<string | undefined> {
  if (raw.length > BYTES_MAX || exceedsLimits(raw, limits) !== undefined) return undefined
  const body = await parseBody(raw, parseHeader(raw))
  const tidy = body && tidied(viewBody(body).written)
  return tidy === '' ? undefined : tidy
}

/** Without blanks at the ends of lines, and with one empty line at most where there are many. */
function tidied(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd())
  return lines
    .filter((line, index) => line !== '' || lines[index - 1] !== '')
    .join('\n')
    .trim()
}
