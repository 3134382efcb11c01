import { bouncePhrases, type BounceReason } from './bounce-phrases.ts'

/** What is known of one failed delivery when its reason is looked for. */
export type Failure = {
  /** What the systems on the way said, in any language. */
  text: string
  /** RFC 3463, when given. */
  status: string | undefined
  /** RFC 5321, when given. */
  replyCode: number | undefined
}

// What a status says where the words say nothing (RFC 3463 §3 and its registry).
const byStatus = new Map<string, BounceReason>(
  Object.entries({
    '1.1': 'userunknown',
    '1.2': 'hostunknown',
    '1.3': 'userunknown',
    '1.4': 'filtered',
    '1.6': 'hasmoved',
    '1.7': 'rejected',
    '1.8': 'rejected',
    '1.10': 'userunknown',
    '2.0': 'filtered',
    '2.1': 'suspend',
    '2.2': 'mailboxfull',
    '2.3': 'exceedlimit',
    '2.4': 'filtered',
    '3.0': 'systemerror',
    '3.1': 'systemfull',
    '3.2': 'notaccept',
    '3.4': 'mesgtoobig',
    '3.5': 'systemerror',
    '4.0': 'networkerror',
    '4.1': 'expired',
    '4.2': 'expired',
    '4.3': 'systemerror',
    '4.4': 'hostunknown',
    '4.6': 'networkerror',
    '4.7': 'expired',
    '5.0': 'mailererror',
    '5.2': 'syntaxerror',
    '5.3': 'toomanyconn',
    '6.0': 'contenterror',
    '6.6': 'contenterror',
    '7.0': 'securityerror',
    '7.1': 'policyviolation',
    '7.7': 'policyviolation',
    '7.8': 'securityerror',
    '7.20': 'authfailure',
    '7.23': 'authfailure',
    '7.25': 'requireptr',
    '7.26': 'authfailure',
    '7.27': 'notaccept',
  } satisfies Record<string, BounceReason>),
)

// So exact that words can only blur them.
const certain = new Set(['1.6', '1.10', '2.2', '7.23', '7.25', '7.26', '7.27'])

const textCharsMax = 4000

/** The reason of a failure: by an exact status, else by what was said, else by the status. */
export function bounceReason({ text, status, replyCode }: Failure): BounceReason {
  const detail = status?.slice(2)
  const named = detail === undefined ? undefined : byStatus.get(detail)
  if (named !== undefined && detail !== undefined && certain.has(detail)) return named
  const said = text.slice(0, textCharsMax).toLowerCase().replace(/\s+/g, ' ')
  const match = bouncePhrases.find(([, forms]) => forms.some((form) => form.test(said)))
  if (match) return match[0]
  if (named !== undefined) return named
  if (replyCode === 552) return 'mailboxfull'
  return status?.startsWith('4') === true || replyCode === 421 ? 'expired' : 'undefined'
}

const hardReasons = new Set<BounceReason>(['userunknown', 'hostunknown', 'hasmoved'])

/** Whether writing to the address again is of no use, ever. */
export function isHardBounce(reason: BounceReason, status: string | undefined): boolean {
  return hardReasons.has(reason) || (reason === 'notaccept' && status?.startsWith('5') === true)
}
