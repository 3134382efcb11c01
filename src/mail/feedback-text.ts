import { decodeHeaderText } from './encoded-word.ts'
import type { FeedbackFormat } from './feedback-format.ts'
import type { HeaderField } from './header.ts'
import { composeMailDate, type FeedbackFacts, feedbackTypes } from './mail-parts.ts'
import { cleanLine, fact, remembered, wrap } from './text.ts'
import type { AnswerKind, ResultKind } from './verp.ts'

/** The machine that handed one message over, and when. */
export type MessageSource = {
  ip: string
  port?: number | undefined
  at?: Date | undefined
}

/**
 * Statements in the readable part of a feedback report, in addition to the facts. They must not
 * identify the reporter.
 */
export type FeedbackExplanation = {
  /** The number that the recipient quotes in mail to us. */
  reportNumber: string
  /** The operator of this service: a name or a domain. */
  service: string
  network: {
    cidr: string
    asn?: number | undefined
    name?: string | undefined
    country?: string | undefined
  }
  /**
   * The sources of the messages that the report represents. `listed` may be shorter than `total`.
   */
  sources?: { listed: readonly MessageSource[]; total: number } | undefined
  /** The reverse DNS name of the origin's address. */
  reverseName?: string | undefined
  /** The reasons to believe that the message came from the origin, one sentence each. */
  why: readonly string[]
  /** Absent in a `not-spam` report. */
  complaint?: ExplainedComplaint | undefined
  /** Pages for answers; each asks for confirmation before it acts. */
  answers?: Readonly<Record<AnswerKind, string>> | undefined
  /** Whether the recipient can ask for the message as it was received. */
  mayAskOriginal?: boolean | undefined
  /** Whether the recipient never asked for reports; then the text explains why it receives one. */
  isUnsolicited?: boolean | undefined
  /** Whether the body is not the original one but rebuilt from what a mail program stored. */
  isRebuilt?: boolean | undefined
  /** The number of the report that this `not-spam` report withdraws. */
  takenBack?: string | undefined
}

/** What the reporter said about the message, and what we think of it. */
export type ExplainedComplaint = {
  kind: 'spam' | 'phishing'
  verdict: 'spam' | 'phishing' | 'malware' | 'marketing' | 'legitimate' | 'undecided'
  /** The signs of unwanted mail that we see in the message and its route, one sentence each. */
  signs: readonly string[]
  /**
   * Set if the sender continued although the recipient unsubscribed: by our request, which the
   * sender accepted, or as the recipient says after our advice.
   */
  continued?: 'unsubscribed' | 'advised' | undefined
}

/** The sent part of the message; `fields` are those of the redacted message. */
export type ReportSample = {
  fields: readonly HeaderField[]
  form: 'whole' | 'headers'
  isOriginal?: boolean
  format: FeedbackFormat
}

const opinions: Record<ExplainedComplaint['verdict'], string> = {
  spam: 'We think that it is spam.',
  phishing: 'We think that it is phishing or fraud.',
  malware: 'We think that it contains malware or links to malware.',
  marketing: 'We think that it is bulk mail.',
  legitimate: 'We could not confirm this.',
  undecided: 'We could not confirm this.',
}

/**
 * Composes the first part of a feedback report: everything that an abuse desk needs in order to act
 * without opening the other two parts. Lines end in LF.
 */
export function composeFeedbackText(
  facts: FeedbackFacts,
  explanation: FeedbackExplanation,
  { fields, form, format, isOriginal = false }: ReportSample,
): string {
  const paragraphs = [
    headLines(facts, explanation),
    wrap(`${firstSentence(facts)} ${openingOf(facts, explanation)}${countOf(facts)}`, ''),
    ...sourceLines(explanation),
    networkLines(facts, explanation),
    messageLines(facts, fields),
    [
      'How we know that it came from this address:',
      ...explanation.why.flatMap((why) => wrap(cleanLine(why), '- ')),
    ],
    ...signLines(explanation),
    wrapped(requestOf(facts, explanation)),
    wrapped(isOriginal ? originalNote : attachedOf(facts, form)),
    ...(explanation.isRebuilt === true ? [wrapped(rebuiltNote)] : []),
    answerLines(facts, explanation),
    ...(explanation.isUnsolicited === true ? [wrapped(unsolicitedOf(explanation))] : []),
    closingLines(explanation, format),
  ]
  return paragraphs.map((lines) => `${lines.join('\n')}\n`).join('\n')
}

/** Paragraphs that most reports have. */
const wrapped = remembered((text) => wrap(text, ''), { max: 50, charsMax: 500 })

/**
 * The first sentence of a report, in the words of RFC 5965 appendix B. Some mail systems recognize
 * a report by these words.
 */
function firstSentence({ feedbackType, sourceIp, arrivedAt }: FeedbackFacts): string {
  const when = arrivedAt === undefined ? '' : ` on ${composeMailDate(arrivedAt)}`
  const about = `This is an email abuse report for an email message received from IP ${sourceIp}`
  return `${about}${when}.${feedbackType === 'not-spam' ? ' It corrects an earlier one.' : ''}`
}

const confirmed: ReadonlySet<string> = new Set(['spam', 'phishing', 'malware'])

function openingOf({ feedbackType }: FeedbackFacts, { complaint }: FeedbackExplanation): string {
  if (feedbackType === 'not-spam') {
    return 'The message was not spam. We apologize for reporting it to you.'
  }
  if (!complaint) return 'One of our users complained about this message.'
  const { kind, verdict, continued } = complaint
  const opinion = continued ? continuations[continued] : opinions[verdict]
  return `One of our users reported this message as ${kind}. ${opinion}`
}

const continuations = {
  unsubscribed:
    'We sent the sender a one-click request to unsubscribe the recipient, which was accepted at ' +
    'least 15 days before. The sender continues.',
  advised:
    'The recipient was told at least 15 days before how to unsubscribe, and says that the sender ' +
    'continues after that.',
}

function signLines({ complaint }: FeedbackExplanation): string[][] {
  if (!complaint || complaint.signs.length === 0) return []
  const signs = complaint.signs.flatMap((sign) => wrap(cleanLine(sign), '- '))
  return [['What we see in it:', ...signs]]
}

function countOf({ incidents = 1 }: FeedbackFacts): string {
  if (incidents < 2) return ''
  return (
    ` This report covers ${String(incidents)} similar messages that were reported to us; ` +
    'the attached message is a sample.'
  )
}

/** The lines that a person looks for first: the IP address, the time, and the number to quote. */
function headLines(facts: FeedbackFacts, { reportNumber }: FeedbackExplanation): string[] {
  return [
    ...fact('IP address', facts.sourceIp),
    ...fact('Port', facts.sourcePort?.toString()),
    ...fact('Received', facts.arrivedAt && instant(facts.arrivedAt)),
    ...fact('Report number', reportNumber),
  ]
}

/** Lists the messages that the report represents, one per line. */
function sourceLines({ sources }: FeedbackExplanation): string[][] {
  if (!sources || sources.total < 2) return []
  const { listed, total } = sources
  const which =
    listed.length < total
      ? `This list is shortened: it has ${String(listed.length)} of the ${String(total)} messages.`
      : `All ${String(total)} messages:`
  const form = 'Address, port (if known), and time received (UTC).'
  return [
    [
      ...wrap(`${which} ${form}`, ''),
      ...listed.map(({ ip, port, at }) => {
        const from = port === undefined ? ip : `${ip} port ${String(port)}`
        return `- ${at === undefined ? from : `${from}, ${shortInstant(at)}`}`
      }),
    ],
  ]
}

function networkLines(
  facts: FeedbackFacts,
  { network, reverseName }: FeedbackExplanation,
): string[] {
  const { cidr, asn, name, country } = network
  const autonomousSystem = asn === undefined ? undefined : `AS${String(asn)}`
  const owner = country === undefined ? name : `${name ?? ''} (${country})`.trim()
  return [
    ...fact('Host name', reverseName),
    ...fact('Network', [cidr, autonomousSystem, owner].filter(Boolean).join(', ')),
    ...fact('Received by', facts.reportingMta),
  ]
}

function messageLines(facts: FeedbackFacts, fields: readonly HeaderField[]): string[] {
  const header = (key: string) => {
    const value = fields.find((field) => field.key === key)?.value
    return value === undefined ? undefined : decodeHeaderText(value)
  }
  return [
    ...fact('Kind', feedbackTypes[facts.feedbackType]),
    ...fact('Subject', header('subject')),
    ...fact('From', header('from')),
    ...fact('Return path', facts.mailFrom === undefined ? undefined : `<${facts.mailFrom}>`),
    ...fact('Message-ID', header('message-id')),
    ...fact('Date', header('date')),
    ...(facts.domains ?? []).slice(0, 10).flatMap((domain) => fact('Domain', domain)),
    ...linkLines(facts.uris ?? []),
  ]
}

const LINKS_MAX = 10

/** Lists the first links, with their hosts, and says how many more there are. */
function linkLines(uris: readonly string[]): string[] {
  const links = [...new Set(uris.map(defanged))]
  const more = links.length - LINKS_MAX
  return [
    ...links.slice(0, LINKS_MAX).flatMap((uri) => fact('Link', uri)),
    ...(more > 0 ? fact('More links', `${String(more)} in the copy below`) : []),
  ]
}

function requestOf(
  { feedbackType }: FeedbackFacts,
  { takenBack, reportNumber, complaint }: FeedbackExplanation,
): string {
  if (feedbackType !== 'not-spam') {
    const isConfirmed = complaint !== undefined && confirmed.has(complaint.verdict)
    return isConfirmed
      ? 'Please find what sent this message and stop it.'
      : 'Please find out why this message was sent, and stop it if it is unwanted.'
  }
  const earlier = takenBack ?? reportNumber.split('.')[0]
  return (
    `We retract our report ${earlier ?? ''} about this message. Please undo any action that you ` +
    'took because of it. No other action is needed.'
  )
}

function attachedOf({ incidents = 1 }: FeedbackFacts, form: 'whole' | 'headers'): string {
  const attached = form === 'whole' ? 'A copy of the message' : 'A copy of its header'
  const recipients = incidents < 2 ? 'the recipient' : 'the recipients'
  return (
    `${attached} is attached. It was composed from the message: codes ("redacted-...") replace ` +
    `what may identify ${recipients}, and files are only described. A code has the same meaning ` +
    'in all our reports to you.'
  )
}

const originalNote =
  'The message is attached as it was received. It identifies its recipient: use it only to stop ' +
  'the abuse, and do not pass it on.'

const rebuiltNote =
  "The reporter's mail program does not keep messages as they were sent. The header is the one " +
  'that it received. The body was rebuilt, so signatures over it cannot be verified.'

const answerLabels: readonly [ResultKind, string][] = [
  ['resolved', 'Resolved'],
  ['not-ours', 'Not ours'],
  ['wrong', 'Wrong'],
  ['stop', 'Stop'],
]

function answerLines(
  { feedbackType }: FeedbackFacts,
  { answers, reportNumber, mayAskOriginal }: FeedbackExplanation,
): string[] {
  const purpose = 'To answer, to ask a question, or to stop our reports'
  if (!answers) return wrap(`${purpose}, reply to this mail and quote ${reportNumber}.`, '')
  // A report that withdraws another requests nothing, so there is nothing to resolve or to dispute.
  if (feedbackType === 'not-spam') {
    const how = 'No answer is needed. To stop our reports, open this page, which asks for'
    return [...wrap(`${how} confirmation, or reply "stop".`, ''), ...fact('Stop', answers.stop)]
  }
  return [
    ...wrapped(
      'Please tell us the result: open one of these pages (each asks for confirmation), or ' +
        'reply to this mail with one of the words.',
    ),
    ...answerLabels.flatMap(([kind, label]) => fact(label, answers[kind])),
    ...wrapped(
      'Resolved: you have dealt with it. Not ours: you are not responsible for the address. ' +
        'Wrong: the message was not abuse. Stop: send us no more reports.',
    ),
    ...(mayAskOriginal === true
      ? [
          ...wrap('If you need the message as it was received, open this page:', ''),
          ...fact('Original', answers.original),
        ]
      : []),
  ]
}

function unsolicitedOf({ network }: FeedbackExplanation): string {
  return (
    `You did not ask for our reports. We sent you this one because your address is published as ` +
    `the abuse contact for ${network.cidr}. To stop our reports, open the page after "Stop" ` +
    'or reply "stop". This takes effect immediately.'
  )
}

const formats = {
  arf: 'second part has the same content for programs (Abuse Reporting Format, RFC 5965)',
  xarf: 'third part has the same content for programs (XARF 4, JSON) and includes the message',
} as const

function closingLines({ service }: FeedbackExplanation, format: ReportSample['format']): string[] {
  return [...fact('Operator', service), '', ...wrapped(`The ${formats[format]}.`)]
}

/** Changes a link so that nobody follows it by accident and filters accept the mail. */
export function defanged(uri: string): string {
  return uri.replace(/^([^/]*\/\/)([^/]*)/, (_, scheme: string, host: string) => {
    return scheme.replace(/^http/i, 'hxxp') + host.replaceAll('.', '[.]')
  })
}

function instant(date: Date): string {
  return `${shortInstant(date)} (${date.toUTCString()})`
}

function shortInstant(date: Date): string {
  return date.toISOString().replace('.000Z', 'Z')
}
