import { decodeHeaderText } from './encoded-word.ts'
import { composeMailDate, feedbackTypes } from './feedback-fields.ts'
import type { FeedbackFacts, FeedbackType } from './feedback-fields.ts'
import type { HeaderField } from './header.ts'

/** What a person is told beyond the facts. Nothing in it may name the reporter. */
export type FeedbackExplanation = {
  /** What they quote when they write to us. */
  reportNumber: string
  /** Who runs this service, a name or a domain. */
  service: string
  network: {
    cidr: string
    asn?: number | undefined
    name?: string | undefined
    country?: string | undefined
  }
  /** The name the origin's address resolves to. */
  reverseName?: string | undefined
  /** How we know the message came from there, one sentence each. */
  why: readonly string[]
  /** Where to answer: pages that ask before they act. */
  answers?: { resolved?: string; notOurs?: string; stop?: string } | undefined
}

const openings: Record<FeedbackType, string> = {
  abuse: 'One of our users did not ask for it and reported it as spam.',
  fraud: 'One of our users reported it, and we take it for phishing or fraud.',
  virus: 'One of our users reported it, and it carries malware or leads to it.',
  'not-spam': 'It was reported to you as spam and turned out not to be.',
  other: 'One of our users did not want it and reported it.',
}

const lineCharsMax = 76
const labelChars = 15
const factCharsMax = 300

/**
 * The first part of a feedback report: everything an abuse desk needs to act, without opening
 * the other two. `fields` are those of the redacted message, `form` tells what of it is sent. Lines
 * end in LF.
 */
export function composeFeedbackText(
  facts: FeedbackFacts,
  explanation: FeedbackExplanation,
  { fields, form }: { fields: readonly HeaderField[]; form: 'whole' | 'headers' },
): string {
  const paragraphs = [
    wrap(`${firstSentence(facts)} ${openings[facts.feedbackType]}${countOf(facts)}`, ''),
    originLines(facts, explanation),
    messageLines(facts, fields),
    [
      'How we know it came from there:',
      ...explanation.why.flatMap((why) => wrap(clean(why), '- ')),
    ],
    requestLines(facts, form),
    answerLines(explanation),
    closingLines(explanation),
  ]
  return paragraphs.map((lines) => `${lines.join('\n')}\n`).join('\n')
}

/** In the words of RFC 5965 appendix B, by which some readers know a report. */
function firstSentence({ sourceIp, arrivedAt }: FeedbackFacts): string {
  const when = arrivedAt === undefined ? '' : ` on ${composeMailDate(arrivedAt)}`
  return `This is an email abuse report for an email message received from IP ${sourceIp}${when}.`
}

function countOf({ incidents = 1 }: FeedbackFacts): string {
  return incidents < 2 ? '' : ` This report stands for ${String(incidents)} messages of one kind.`
}

function originLines(
  facts: FeedbackFacts,
  { network, reverseName }: FeedbackExplanation,
): string[] {
  const { cidr, asn, name, country } = network
  const autonomousSystem = asn === undefined ? undefined : `AS${String(asn)}`
  const owner = country === undefined ? name : `${name ?? ''} (${country})`.trim()
  return [
    ...fact('IP address', facts.sourceIp),
    ...fact('Port', facts.sourcePort?.toString()),
    ...fact('Host name', reverseName),
    ...fact('Network', [cidr, autonomousSystem, owner].filter(Boolean).join(', ')),
    ...fact('Received', facts.arrivedAt && instant(facts.arrivedAt)),
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
    ...[...new Set(facts.uris?.map(defanged))].slice(0, 10).flatMap((uri) => fact('Link', uri)),
  ]
}

function requestLines({ feedbackType }: FeedbackFacts, form: 'whole' | 'headers'): string[] {
  const attached = form === 'whole' ? 'The message is' : 'The header of the message is'
  const request =
    feedbackType === 'not-spam'
      ? 'You need not do anything more about that message.'
      : 'Please find out who or what sent it and see that it stops.'
  return wrap(
    `${request} ${attached} attached; addresses of the person who received it are replaced ` +
      'by codes. The same code means the same address in all our reports to you.',
    '',
  )
}

function answerLines({ answers = {}, reportNumber }: FeedbackExplanation): string[] {
  const purpose = 'To answer, to ask, or to get no more reports'
  const reply = `${purpose}, reply to this mail and quote ${reportNumber}.`
  const links = [
    ...fact('Resolved', answers.resolved),
    ...fact('Not ours', answers.notOurs),
    ...fact('No more', answers.stop),
  ]
  if (links.length === 0) return wrap(reply, '')
  return ['Tell us with one click, or reply to this mail:', ...links]
}

function closingLines({ service, reportNumber }: FeedbackExplanation): string[] {
  return [
    ...wrap(`Report ${reportNumber}, made automatically by ${clean(service)}.`, ''),
    ...wrap('The second part says the same for machines (Abuse Reporting Format, RFC 5965).', ''),
  ]
}

function fact(label: string, value: string | undefined): string[] {
  if (value === undefined || value === '') return []
  return [`  ${`${label}:`.padEnd(labelChars)} ${clean(value).slice(0, factCharsMax)}`]
}

/** Written for people: nobody should follow it by a slip, and filters should let it pass. */
function defanged(uri: string): string {
  return uri.replace(/^http/i, 'hxxp').replace(/^([^/]*\/\/[^/.]*)\./, '$1[.]')
}

function instant(date: Date): string {
  return `${date.toISOString().replace('.000Z', 'Z')} (${date.toUTCString()})`
}

function clean(text: string): string {
  return text
    .replace(/[\0-\x1f\x7f\u0080-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim()
    .toWellFormed()
}

/** Lines of at most 76 characters; those after the first stand under the text of the first. */
function wrap(text: string, bullet: string): string[] {
  const lines: string[] = []
  let line = bullet
  for (const word of text.split(/\s+/)) {
    const isStart = line.length === bullet.length
    if (!isStart && line.length + 1 + word.length > lineCharsMax) {
      lines.push(line)
      line = ' '.repeat(bullet.length) + word
    } else {
      line += isStart ? word : ` ${word}`
    }
  }
  return [...lines, line]
}
