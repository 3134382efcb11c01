import data from './partners.json' with { type: 'json' }
import type { SubmissionTemplate } from './submission.ts'

/** An organization that learns of all confirmed pages, if an operator enables it. */
export type Partner = {
  key: string
  name: string
  /** The types of pages that it accepts. */
  takes: readonly ('phishing' | 'malware')[]
  /** Where it accepts notices by mail; null if the operator has to enter the address. */
  mail?: string | null
  /** How it takes pages over HTTP instead. */
  http?: SubmissionTemplate
  /** What of its interface we could not confirm: the operator has to do it to enable it. */
  unconfirmed?: string
  /** Where its interface is documented. */
  sources: readonly string[]
}

export const partners = data as unknown as readonly Partner[]
