import type { KeptAnalysis } from '../../src/db/analyses.ts'
import type { Feedback } from '../../src/db/feedback-reports.ts'
import { pictureText } from '../../src/cli/picture-text.ts'
import { inEnglish } from '../../src/texts/phrases.ts'
import { sayMeaning } from '../../src/web/history/symbols.ts'
import { paint, type Screen } from './progress.ts'

/** The results that are shown for one reported message. */
export type Story = {
  file: string
  kind: string
  subject: string | null
  author: string | null
  /** The time in milliseconds from the 202 to the last event. */
  tookMs: number
  analysis: KeptAnalysis
  feedback: Feedback | undefined
  /** The feedback report in the form in which it would be sent. */
  mail: string | undefined
}

const WIDTH_MAX = 100
const HEADER_LINES_SHOWN = 8

/** Formats the results of one message. */
export function tell(screen: Screen, story: Story, place: string): string {
  const { analysis } = story
  const { verdict, consequence } = analysis.details
  const network = networkWords(analysis)
  const symbols = verdict.symbols.map((one) => sayMeaning(one, 'en', 'operator').text).join(' ')
  const told = story.feedback
    ? `${story.feedback.address}. A feedback report was composed and is held; nothing is sent.`
    : `No one. ${inEnglish(consequence.why)}`
  return [
    heading(screen, `${place}  ${story.subject ?? '(no subject)'}`),
    '',
    ...field(screen, 'Author', story.author ?? 'unknown'),
    ...field(screen, 'Reported', `as ${story.kind} (${story.file}); done in ${story.tookMs} ms`),
    '',
    pictureText({ ...analysis.details, network }, (style, text) => paint(screen, style, text)),
    '',
    ...field(screen, 'Verdict', `${verdict.class}, score ${verdict.score}. ${symbols}`),
    ...field(screen, 'Notified', told),
    '',
    ...(story.mail === undefined ? [] : mailLines(screen, story.mail)),
  ].join('\n')
}

/** Formats one line for each message, shown at the end. */
export function summary(screen: Screen, stories: readonly Story[]): string {
  const rows = stories.map(({ subject, analysis, feedback }) => [
    (subject ?? '').slice(0, 36).padEnd(37),
    (analysis.originIp ?? 'origin unknown').padEnd(22),
    feedback
      ? paint(screen, 'green', `→ ${feedback.address}`)
      : paint(screen, 'dim', 'no one notified'),
  ])
  const held = stories.filter(({ feedback }) => feedback).length
  return [
    heading(screen, 'Summary'),
    '',
    ...rows.map((cells) => `  ${cells.join('')}`),
    '',
    `  ${stories.length} messages reported, ${held} feedback reports composed and held.`,
    '  "npm start" runs a permanent instance with a report form and admin pages.',
    '',
  ].join('\n')
}

function heading(screen: Screen, text: string): string {
  const rule = '━'.repeat(Math.max(2, width(screen) - text.length - 6))
  const cyan = (line: string) => paint(screen, 'cyan', line)
  return `${cyan('━━')} ${paint(screen, 'bold', text)} ${cyan(rule)}`
}

function field(screen: Screen, name: string, value: string): string[] {
  const [first = '', ...rest] = wrap(value, 14, 0)
  return [`  ${paint(screen, 'bold', name.padEnd(12))}${first.trimStart()}`, ...rest]
}

function networkWords({ network }: KeptAnalysis): string {
  if (!network) return 'unknown, not in any imported table'
  const asn = network.asn === null ? '' : `AS${network.asn} `
  const country = network.country === null ? '' : ` (${network.country})`
  return `${network.cidr}, ${asn}${network.name ?? ''}${country}`
}

/**
 * Returns parts one and two of a feedback report in full, and some header lines of part three, the
 * reported message.
 */
function mailLines(screen: Screen, mail: string): string[] {
  const frame = (text: string) => paint(screen, 'dim', text)
  const title = ' The feedback report, as the abuse desk would read it '
  const lines = shownLines(mail).map((line) =>
    line.startsWith('…') ? frame(`  │ ${line}`) : `${frame('  │')} ${line}`,
  )
  const rule = '─'.repeat(Math.max(2, width(screen) - title.length - 5))
  return [frame(`  ┌─${title}${rule}`), ...lines, frame(`  └${'─'.repeat(width(screen) - 4)}`), '']
}

function shownLines(mail: string): string[] {
  const lines = mail.trimEnd().split(/\r?\n/)
  const boundary = /boundary="?([^";\s]+)/i.exec(mail)?.[1]
  const starts = lines.flatMap((line, index) => (line === `--${boundary}` ? [index] : []))
  const [first = 0, second = 0, third] = starts
  if (third === undefined) return lines
  const messageAt = lines.indexOf('', third) + 1
  const shownTo = messageAt + HEADER_LINES_SHOWN
  const hidden = lines.length - shownTo - 1
  if (hidden <= 0) return lines
  const words = lines.slice(first, second)
  const isQuoted = words.some((line) => /^content-transfer-encoding: *quoted/i.test(line))
  const rest = `… ${hidden} more lines of the reported message, with the reporter's address hidden`
  return [
    ...lines.slice(0, first),
    ...(isQuoted ? unquoted(words) : words),
    ...lines.slice(second, shownTo),
    rest,
    ...lines.slice(-1),
  ]
}

/** Decodes quoted-printable for display. */
function unquoted(lines: readonly string[]): string[] {
  const text = lines.join('\n').replace(/=\n/g, '')
  const bytes = text.replace(/=([0-9A-F]{2})/g, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Buffer.from(bytes, 'latin1').toString('utf8').split('\n')
}

/**
 * Wraps text to the width of the screen, indented; all lines but the first are indented by `hang`
 * more.
 */
function wrap(text: string, indent: number, hang: number): string[] {
  const room = WIDTH_MAX - indent - hang
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > room) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  lines.push(line)
  return lines.map((one, at) => ' '.repeat(at === 0 ? indent : indent + hang) + one)
}

function width({ out }: Screen): number {
  return Math.max(60, Math.min(out.columns ?? WIDTH_MAX, WIDTH_MAX))
}
