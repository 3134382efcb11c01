import type { Consumer } from '../db/consumers.ts'
import type { KnownReporter } from '../evidence/identity.ts'
import type { ReportLine } from '../mail/arf.ts'
import type { ExplainedComplaint, MessageSource } from '../mail/feedback-text.ts'
import type { PageFacts } from '../mail/page-notice.ts'
import type { AnswerKind } from '../mail/verp.ts'
import type { Network } from '../origin/networks.ts'
import type { Analysis } from '../pieces/analyze.ts'

/** The parts of an analysis that feedback reports are composed from. */
export type FeedbackAnalysis = Pick<
  Analysis,
  | 'origin'
  | 'submitter'
  | 'hops'
  | 'headers'
  | 'links'
  | 'attachments'
  | 'authentication'
  | 'bytes'
  | 'sha256'
  | 'isRebuilt'
  | 'isReduced'
>

/**
 * Returns the machine that handed the message over, and when; undefined when the origin is unknown.
 */
export function messageSourceOf({
  origin,
  hops,
}: Pick<FeedbackAnalysis, 'origin' | 'hops'>): MessageSource | undefined {
  if (!origin) return undefined
  const { from } = hops[origin.hop] ?? {}
  // The provider added the fields above the origin's field, at most some seconds later.
  const timed = hops.slice(0, origin.hop + 1).findLast(({ at }) => at !== null)
  return {
    ip: origin.ip,
    port: from?.ip === origin.ip ? (from.port ?? undefined) : undefined,
    at: timed?.at ? new Date(timed.at) : undefined,
  }
}

/**
 * The content of a feedback report besides the message; plain data, which can be sent to a thread.
 */
export type FeedbackContent = {
  reportId: string
  number: number
  from: string
  /** The name of the operator of this service, if configured. */
  operator?: string | undefined
  to: string
  createdAt: Date
  /** The part of the Message-ID after the `@`. */
  domain: string
  /** The name or domain of this service, as shown to people. */
  service: string
  feedbackType: 'abuse' | 'fraud' | 'virus' | 'not-spam'
  complaint: ExplainedComplaint | undefined
  format: Consumer['format']
  form: Consumer['form']
  incidents: number
  /** The sources of the reported messages besides the enclosed one. The list may be incomplete. */
  others?: readonly MessageSource[] | undefined
  answerAddress: string
  /** The pages on which the consumer can answer. */
  answerLinks: Readonly<Record<AnswerKind, string>>
  /** The keys in both. The stored copy has asterisks in their place. */
  answerKeys: readonly string[]
  /** Whether the consumer did not ask for reports; then the report says first how to stop them. */
  isUnsolicited: boolean
  /** The number of the feedback report that a `not-spam` report withdraws, if known. */
  takenBack?: number | undefined
  /**
   * Whether opaque tokens (in links, Message-IDs …) are not redacted, because the consumer issued
   * them.
   */
  keepsTokens: boolean
  /**
   * Hashes of the parts of links that independent reporters share, 8 bytes each: they are shown as
   * they are.
   */
  sharedParts?: Uint8Array | undefined
  /** Whether it contains the message as it was received, instead of the composed copy. */
  hasOriginal?: boolean
  /** Whether the consumer can ask for it. */
  mayAskOriginal?: boolean
  /** The page that the report is about, if it is a notice to somebody who can stop a page. */
  page?: NoticedPage | undefined
  network: Network
  /** The reporter, as far as the account knows. */
  reporter: KnownReporter
  redactionKey: Uint8Array
}

/** A page that a notice is about. Its address is that of the report, as received. */
export type NoticedPage = Omit<PageFacts, 'exactness' | 'host'> & {
  /** The host and path that are the same for all recipients, with placeholders. */
  key: string
  /** Whether independent reporters received exactly this address. */
  isShared: boolean
  /** Whether the reporter agreed that the recipient gets the address. */
  isAgreed: boolean
}

/**
 * A feedback report, its copy of the same length with asterisks in place of its keys, and the facts
 * for a list.
 */
export type FeedbackMail = { raw: Buffer; copy: Buffer; line: ReportLine }

/** Returns the Message-ID of a feedback report, which does not depend on when it is composed. */
export function feedbackMessageId({
  reportId,
  number,
  domain,
}: Pick<FeedbackContent, 'reportId' | 'number' | 'domain'>): string {
  return `<${reportId}.${number}@${domain}>`
}
