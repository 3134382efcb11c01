import { hourOf } from '../durations.ts'
import type { Concealer } from '../evidence/conceal.ts'
import { parseIp } from '../mail/ip.ts'
import { registrableDomain } from '../mail/address.ts'
import type { MessageCopy } from '../mail/arf.ts'
import { parseHeader } from '../mail/header.ts'
import { parseBody } from '../mail/message-body.ts'
import {
  composePageNotice,
  type Exactness,
  type PageFacts,
  type PageNotice,
} from '../mail/page-notice.ts'
import type { FeedbackContent, FeedbackMail, NoticedPage } from './feedback-content.ts'

/** What a notice about a page is composed from. */
type NoticeInput = {
  content: FeedbackContent
  page: NoticedPage
  /** Writes links as the reporter's message may leave; the second one codes only people. */
  concealer: Concealer
  lenient: Concealer
  original: MessageCopy
  userAgent: string
  /** Replaces the keys of the answers. */
  masked: (text: string) => string
}

/**
 * The fields of the message that a notice shows. Who stops a page needs no other, and may pass the
 * notice on to the sender, whose log has the time and the queue id of each delivery.
 */
export const noticeFields: ReadonlySet<string> = new Set(['from', 'reply-to', 'subject'])

/**
 * Returns the notice about a page to somebody who can stop it, with the composed copy of a message
 * that led there. The address of the page is exact only if independent reporters received the same
 * one, or if the reporter agreed.
 */
export async function composeNotice(input: NoticeInput): Promise<FeedbackMail> {
  const { content, page, original, userAgent, masked } = input
  const written = writtenAddress(input)
  const facts: PageFacts = {
    ...page,
    ...written,
    host: askedAbout(written.url, page),
    // The second of a delivery would lead its sender to the recipient.
    firstSeen: hourOf(page.firstSeen),
    lastSeen: hourOf(page.lastSeen),
  }
  const compose = (write: (text: string) => string) =>
    composePageNotice({
      from: content.from,
      operator: content.operator,
      to: content.to,
      date: content.createdAt,
      replyTo: write(content.answerAddress),
      unsubscribe: content.isUnsolicited ? write(content.answerLinks.stop) : undefined,
      corrects:
        content.takenBack === undefined
          ? undefined
          : `<${content.reportId}.${content.takenBack}@${content.domain}>`,
      token: `${content.reportId}.${content.number}`,
      domain: content.domain,
      page: facts,
      service: content.service,
      userAgent,
      answers: writtenAnswers(content.answerLinks, write),
      isUnsolicited: content.isUnsolicited,
      isWithdrawal: content.feedbackType === 'not-spam',
      original,
      readable,
    })
  const readable = await readableText(original)
  return {
    raw: compose((text) => text),
    copy: compose(masked),
    line: {
      kind: content.feedbackType,
      sourceIp: facts.host,
      messages: page.reports,
      arrivedAt: page.lastSeen,
      subject: facts.host,
    },
  }
}

function writtenAnswers(
  { resolved, 'not-ours': notOurs, wrong, stop, original }: PageNotice['answers'],
  write: (text: string) => string,
): PageNotice['answers'] {
  return {
    resolved: write(resolved),
    'not-ours': write(notOurs),
    wrong: write(wrong),
    stop: write(stop),
    original: write(original),
  }
}

/** The address of a page as it may leave. */
function writtenAddress({
  page,
  concealer,
  lenient,
}: Pick<NoticeInput, 'page' | 'concealer' | 'lenient'>): { url: string; exactness: Exactness } {
  const { url, isAgreed, isShared } = page
  if (isAgreed) return { url, exactness: 'agreed' }
  // Several reporters may share a mailbox, whose name is in the address.
  if (isShared && lenient.link(url) === url) return { url, exactness: 'shared' }
  const coded = codedAddress(page, concealer)
  return { url: coded, exactness: coded === url ? 'plain' : 'coded' }
}

/**
 * The address with codes for what may identify the recipient: what the concealer does not know as
 * words, and what the key of the page has placeholders for.
 */
function codedAddress({ url, key }: NoticedPage, concealer: Concealer): string {
  const written = concealer.link(url)
  const [host = '', ...segments] = written.replace(/^[a-z]+:\/\//i, '').split('/')
  const [scheme = 'https:'] = /^[a-z]+:/i.exec(url) ?? []
  const [keyHost = '', ...keySegments] = key.split('/')
  const keyLabels = keyHost.split('.')
  const labels = host.split('.').map((label, at) => (keyLabels[at] === '*' ? code(label) : label))
  const path = segments.map((segment, at) => {
    return /^[*@]/.test(keySegments[at] ?? '') && !segment.includes('?') ? code(segment) : segment
  })
  return `${scheme}//${[labels.join('.'), ...path].join('/')}`

  function code(part: string): string {
    if (part === '' || part.includes('redacted-') || concealer.isShared(part)) return part
    return concealer.token(part)
  }
}

/** What the recipient is asked about: the domain, or the host. */
function askedAbout(url: string, { role }: NoticedPage): string {
  const host = URL.parse(url)?.hostname ?? ''
  const address = host.replace(/^\[|\]$/g, '')
  if (parseIp(address)) return address
  return role === 'registrar' ? (registrableDomain(host) ?? host) : host
}

const READABLE_CHARS_MAX = 8_000

async function readableText({ content, form }: MessageCopy): Promise<string> {
  if (form === 'headers') return ''
  const bytes = Buffer.from(content, 'latin1')
  const { text } = await parseBody(bytes, parseHeader(bytes))
  return text.slice(0, READABLE_CHARS_MAX)
}
