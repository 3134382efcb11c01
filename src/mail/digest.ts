import { dateOf } from '../durations.ts'
import type { ReportLine } from './arf.ts'
import {
  checkHeader,
  composeMailDate,
  feedbackTypes,
  fromLine,
  textPart,
  unsubscribeLines,
  unusedBoundary,
} from './mail-parts.ts'
import { cleanLine, fact, wrap } from './text.ts'

export type DigestReport = {
  /** As composed by `composeFeedback`: redacted, 7-bit. */
  raw: Buffer
  line: ReportLine
  /** The report number, which the consumer quotes in answers. */
  number: string
  /** A label shared by messages of the same campaign; absent if the message belongs to none. */
  campaign?: string | undefined
}

/** One mail with several feedback reports for one consumer. */
export type DigestContent = {
  from: string
  /** The name of the operator of this service: the display name of From. */
  operator?: string | undefined
  to: string
  replyTo?: string | undefined
  date: Date
  /** In angle brackets. */
  messageId: string
  /** The operator of this service: a name or a domain. */
  service: string
  /** A page that stops feedback reports with one click (RFC 8058). */
  unsubscribe?: string | undefined
  reports: readonly DigestReport[]
}

const attachedMax = 100
const attachedBytesMax = 8 * 1024 * 1024
const groupsMax = 500
const numbersMax = 5

/**
 * Composes one mail with a list for people and the feedback reports, each complete and attached as
 * message/rfc822, so that a program can process them like reports that were sent separately.
 * Attaches at most 100 reports and 8 MiB: one report of each group (`groupsOf`) before a second one
 * of any group. The other reports are only in the list, and the text says so. 7-bit with CRLF line
 * ends; the same content gives the same bytes.
 *
 * Throws a RangeError when an address, the Message-ID or the link could break the header.
 */
export function composeDigest(content: DigestContent): Buffer {
  const { from, to, replyTo, messageId, unsubscribe, reports } = content
  checkHeader({ addresses: [from, to, replyTo], messageIds: [messageId], links: [unsubscribe] })
  const groups = groupsOf(reports)
  const attached = chosen(groups)
  const parts = [
    textPart(textOf(content, groups, attached.size)),
    ...[...attached].map(
      ({ raw }) =>
        'Content-Type: message/rfc822\r\nContent-Transfer-Encoding: 7bit\r\n\r\n' +
        raw.toString('latin1'),
    ),
  ]
  const boundary = unusedBoundary(messageId, parts)
  const header = [
    fromLine(from, content.operator),
    `To: ${to}`,
    ...(replyTo === undefined ? [] : [`Reply-To: ${replyTo}`]),
    `Subject: ${String(reports.length)} feedback reports, ${dateOf(content.date)}`,
    `Date: ${composeMailDate(content.date)}`,
    `Message-ID: ${messageId}`,
    'Auto-Submitted: auto-generated',
    ...unsubscribeLines(unsubscribe),
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed;\r\n boundary="${boundary}"`,
  ].join('\r\n')
  const body = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')
  return Buffer.from(`${header}\r\n\r\n${body}--${boundary}--\r\n`, 'latin1')
}

type Group = { line: ReportLine; reports: DigestReport[] }

/**
 * Groups reports by campaign, kind and IP address; the group with the most messages comes first.
 */
function groupsOf(reports: readonly DigestReport[]): Group[] {
  const groups = new Map<string, Group>()
  for (const report of reports) {
    const { line } = report
    const key = JSON.stringify([report.campaign ?? report.number, line.kind, line.sourceIp])
    groups.getOrInsertComputed(key, () => ({ line, reports: [] })).reports.push(report)
  }
  const bySize = (one: Group, other: Group) => messagesOf(other) - messagesOf(one)
  return [...groups.values()].sort(bySize)
}

function messagesOf({ reports }: Group): number {
  return reports.reduce((sum, { line }) => sum + line.messages, 0)
}

/**
 * Chooses the reports to attach: the first report of each group, then the second of each, and so
 * on; skips reports that no longer fit.
 */
function chosen(groups: readonly Group[]): Set<DigestReport> {
  const attached = new Set<DigestReport>()
  let bytes = 0
  const rounds = Math.max(0, ...groups.map(({ reports }) => reports.length))
  for (let round = 0; round < rounds && attached.size < attachedMax; round += 1) {
    for (const { reports } of groups) {
      const report = reports[round]
      if (report === undefined || attached.size >= attachedMax) continue
      if (bytes + report.raw.length > attachedBytesMax) continue
      attached.add(report)
      bytes += report.raw.length
    }
  }
  return attached
}

function textOf(content: DigestContent, groups: readonly Group[], attached: number): string {
  const { reports } = content
  const rest = reports.length - attached
  const paragraphs = [
    wrap(
      `This mail has ${String(reports.length)} feedback reports about mail from your network. ` +
        `${rest === 0 ? 'All of them are' : `${String(attached)} of them are`} attached, each in ` +
        'the Abuse Reporting Format (RFC 5965) with the reported message.' +
        (rest === 0 ? '' : ' The others are only listed here. To get one, reply with its number.'),
      '',
    ),
    ...groups.slice(0, groupsMax).map(groupLines),
    ...(groups.length <= groupsMax
      ? []
      : [wrap(`${String(groups.length - groupsMax)} smaller groups are not listed.`, '')]),
    answerLines(content),
  ]
  return paragraphs.map((lines) => `${lines.join('\n')}\n`).join('\n')
}

function groupLines(group: Group): string[] {
  const { line } = group
  const times = group.reports.flatMap((one) => one.line.arrivedAt?.getTime() ?? [])
  const numbers = group.reports.map(({ number }) => number)
  const more = numbers.length - numbersMax
  return [
    `${feedbackTypes[line.kind]} from ${cleanLine(line.sourceIp)}`,
    ...fact('Messages', String(messagesOf(group))),
    ...fact('First', times.length === 0 ? undefined : instant(Math.min(...times))),
    ...fact('Last', times.length === 0 ? undefined : instant(Math.max(...times))),
    ...fact('Subject', line.subject),
    ...numbers.slice(0, numbersMax).flatMap((number) => fact('Number', number)),
    ...(more > 0 ? [`  and ${String(more)} more numbers`] : []),
  ]
}

function answerLines({ unsubscribe, service }: DigestContent): string[] {
  return [
    ...wrap(
      'To answer a report, open the page that it names, or reply to this mail, quote the report ' +
        'number and say "resolved", "not ours", "wrong" or "stop".',
      '',
    ),
    ...fact('Stop', unsubscribe),
    ...fact('Operator', service),
  ]
}

function instant(time: number): string {
  return new Date(time).toISOString().replace('.000Z', 'Z')
}
