import { fieldValue } from '../header.ts'
import type { HeaderField } from '../header.ts'

// Where the message that comes back begins; what follows was not written by the mail system.
const announcements = [
  'original (?:message|mail)|returned message|unsent message|message header|included is',
  'below this line|(?:this is |below is )?an? copy of|message text follows',
  'the (?:header|message) (?:was|of|follows)',
].join('|')
const opening = '[-=_*> ]{0,40}(?:this is (?:a|the) |below (?:is|this line is) )?'
const returnedMessage = new RegExp(
  `^(?:${opening}(?:${announcements}).{0,80}|(?:received|return-path|received-from): ?.{0,200})$`,
  'im',
)

/** The text of a bounce up to where the returned message begins. */
export function systemText(text: string): string {
  const at = returnedMessage.exec(text)?.index ?? text.length
  return text.slice(0, at)
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
