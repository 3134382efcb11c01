import { fieldValue } from '../header.ts'
import type { HeaderField } from '../header.ts'

// Where the message that comes back begins; what follows was not written by the mail system.
const announcements = [
  '(?:original|returned|unsent|old) (?:message|mail)|message header|included is',
  'below this line|(?:this is |below is )?an? copy of|message text follows',
  'the (?:header|message) (?:was|of|follows)',
  'the (?:header and )?(?:top|first) (?:\\d{1,4} )?lines of',
  'a summary of the (?:undelivered|returned) message',
].join('|')
const opening = '[-=_*> ]{0,40}(?:this is (?:a|the) |below (?:is|this line is) )?'
const fields =
  '(?:received|return-path|received-from): ?.{0,200}|content-type: ?message/rfc822.{0,80}'
const returnedMessage = new RegExp(`^(?:${opening}(?:${announcements}).{0,80}|${fields})$`, 'im')

/** The text of a bounce up to where the returned message begins. */
export function systemText(text: string): string {
  const at = returnedMessage.exec(text)?.index ?? text.length
  return text.slice(0, at)
}

const replyLinesMax = 30

/** A reply of which only the first line was kept, with the others where a transcript has them. */
export function wholeReply(firstLine: string, transcript: string): string {
  const code = /^\s*([245]\d\d)-(?!.*\n)/.exec(firstLine)?.[1]
  const at = code === undefined ? -1 : transcript.indexOf(`<<< ${firstLine.trim().slice(0, 60)}`)
  if (code === undefined || at < 0) return firstLine
  const lines = transcript.slice(at).split('\n', replyLinesMax)
  const replied = lines.map((line) => line.replace(/^<<< /, ''))
  const last = replied.findIndex((line) => !line.startsWith(`${code}-`))
  const isEnded = replied[last]?.startsWith(`${code} `) === true
  return replied.slice(0, isEnded ? last + 1 : Math.max(last, 1)).join('\n')
}

const givenStatus = /^[45]\d\d ([45]\.\d\.\d{1,3}) /gm

/** The status that a mail system itself gives at the end of a transcript. */
export function transcribedStatus(transcript: string): string | undefined {
  return [...transcript.matchAll(givenStatus)].at(-1)?.[1]
}

/** The text between the tags of HTML. */
export function withoutTags(html: string): string {
  return html
    .replace(/<(?:br|p|div|tr|li|h\d)\b[^>]{0,500}>/gi, '\n')
    .replace(/<[a-z/!][^>@]{0,500}>/gi, ' ')
    .replace(/&lt;/gi, '<')
    .replace(/&gt;/gi, '>')
    .replace(/&(?:nbsp|#160);/gi, ' ')
    .replace(/&#39;|&apos;/gi, "'")
    .replace(/&amp;/gi, '&')
}

const forwarded = /^\s*(?:fwd?|tr|wg|vs|enc|rv|пересл)\s*:/i
const quotedNotice = /^> ?from: .{0,200}(?:mailer-daemon|mail delivery|postmaster)/im

/**
 * The text of a notification that somebody passed on, without its quotation marks; undefined when
 * the mail is no such thing.
 */
export function forwardedNotice(fields: readonly HeaderField[], text: string): string | undefined {
  if (!forwarded.test((fieldValue(fields, 'subject') ?? '').slice(0, 500))) return undefined
  const at = quotedNotice.exec(text)?.index
  if (at === undefined) return undefined
  return text.slice(at).replace(/^> ?/gm, '')
}
