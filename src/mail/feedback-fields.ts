/** The feedback types we send (RFC 5965 §7.3, RFC 6430), each as a person calls such a message. */
export const feedbackTypes = {
  abuse: 'Unsolicited mail',
  fraud: 'Phishing or fraud',
  virus: 'Malware',
  'not-spam': 'Mail wrongly reported',
  other: 'Unwanted mail',
} as const

/** A feedback type by its registered name. */
export type FeedbackType = keyof typeof feedbackTypes

/** What a feedback report states. Nothing in it may name the reporter. */
export type FeedbackFacts = {
  feedbackType: FeedbackType
  /** What made the report: `Signalpost/0.1.0`. */
  userAgent: string
  /** The address that handed the message over, bare, IPv4 or IPv6. */
  sourceIp: string
  /** Its port there (RFC 6692), where the reporter's provider noted it. */
  sourcePort?: number | undefined
  /** When the reporter's provider took the message. */
  arrivedAt?: Date | undefined
  /** The host that took it and says so. */
  reportingMta?: string | undefined
  /** The MAIL FROM of the message, without angle brackets; empty is the null one. */
  mailFrom?: string | undefined
  /** What stands for who received it: never an address of theirs. */
  recipients?: readonly string[] | undefined
  /** The ENVID it was sent with (RFC 3461). */
  envelopeId?: string | undefined
  /** What we found when we verified, as RFC 8601 writes it: never what a header claims. */
  authenticationResults?: readonly string[] | undefined
  /** Domains the report is about, first the one that matters most. */
  domains?: readonly string[] | undefined
  /** Links of the message the report is about. */
  uris?: readonly string[] | undefined
  /** How many messages this one stands for (RFC 5965 §3.2); 1 when absent. */
  incidents?: number | undefined
}

/** Our own field: the type that we found, where `Feedback-Type` cannot say it. */
export const CLASS_FIELD = 'X-Signalpost-Type'

const valueCharsMax = 900
const repeatsMax = 50

/**
 * The fields of the machine-readable part (RFC 5965 §3), in a fixed order: those that must appear
 * exactly once first. A fact that will not go into one line of printable ASCII is left out rather
 * than folded or cut, for half an address is a wrong one. An unsolicited report has the type
 * `abuse` (RFC 6650 §5.4), because many readers know no other; what we found has a field of ours.
 */
export function feedbackFields(
  facts: FeedbackFacts,
  { isUnsolicited = false }: { isUnsolicited?: boolean | undefined } = {},
): [name: string, value: string][] {
  const { feedbackType, mailFrom, arrivedAt, reportingMta, incidents, sourcePort } = facts
  const isComplaint = feedbackType !== 'not-spam'
  const fields: [string, string | undefined][] = [
    ['Feedback-Type', isUnsolicited && isComplaint ? 'abuse' : feedbackType],
    ['User-Agent', facts.userAgent],
    ['Version', '1'],
    ['Original-Envelope-Id', facts.envelopeId],
    ['Original-Mail-From', mailFrom === undefined ? undefined : `<${mailFrom}>`],
    ['Arrival-Date', arrivedAt && composeMailDate(arrivedAt)],
    ['Reporting-MTA', reportingMta === undefined ? undefined : `dns; ${reportingMta}`],
    ['Source-IP', facts.sourceIp],
    ['Source-Port', sourcePort?.toString()],
    ['Incidents', incidents === undefined || incidents < 2 ? undefined : String(incidents)],
    [CLASS_FIELD, isUnsolicited && isComplaint ? feedbackType : undefined],
  ]
  for (const recipient of several(facts.recipients)) {
    fields.push(['Original-Rcpt-To', `<${recipient}>`])
  }
  for (const result of several(facts.authenticationResults)) {
    fields.push(['Authentication-Results', result])
  }
  for (const domain of several(facts.domains?.map(asciiDomain))) {
    fields.push(['Reported-Domain', domain])
  }
  for (const uri of several(facts.uris?.map(asciiUri))) fields.push(['Reported-URI', uri])
  return fields.filter((field): field is [string, string] => isWritable(field[1]))
}

/** An instant as mail writes it (RFC 5322 §3.3), in UTC. */
export function composeMailDate(date: Date): string {
  return date.toUTCString().replace(/GMT$/, '+0000')
}

function several<T>(values: readonly T[] = []): T[] {
  return [...new Set(values)].slice(0, repeatsMax)
}

function isWritable(value: string | undefined): boolean {
  return value !== undefined && value.length <= valueCharsMax && /^[\x20-\x7e]*\S$/.test(value)
}

/** The domain as DNS has it: lower case, other letters in Punycode (RFC 5890). */
function asciiDomain(domain: string): string | undefined {
  const { hostname } = URL.parse(`http://${domain}`) ?? {}
  return hostname === undefined || hostname === '' ? undefined : hostname
}

/** The URI with everything but printable ASCII percent-encoded (RFC 3986 §2.1). */
function asciiUri(uri: string): string {
  return uri.toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}
