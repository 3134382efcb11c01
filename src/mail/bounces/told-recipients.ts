import { domainOf } from '../address.ts'
import { fieldValue, type HeaderField } from '../header.ts'

// Where the message that comes back begins; what follows was not written by the mail system.
const returnedMessageMarks = [
  '(?:original|returned|unsent|old) (?:message|mail)|message header|included is',
  'below this line|(?:this is |below is )?an? copy of|message text follows',
  'the (?:header|message) (?:was|of|follows)',
  'the (?:header and )?(?:top|first) (?:\\d{1,4} )?lines of',
  'a summary of the (?:undelivered|returned) message',
].join('|')
const opening = '[-=_*> ]{0,40}(?:this is (?:a|the) |below (?:is|this line is) )?'
const fields =
  '(?:received|return-path|received-from): ?.{0,200}|content-type: ?message/rfc822.{0,80}'
const returnedMessage = new RegExp(
  `^(?:${opening}(?:${returnedMessageMarks}).{0,80}|${fields})$`,
  'im',
)

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

/** A recipient a text names, and what it says of them; the far host first, then their domain. */
export type RecipientSection = { recipient: string; text: string; hosts: string[] }

const sectionCharsMax = 1500
const lineCharsMin = 20
const recipientsMax = 50
const address = '[^\\s<>@:;"()]{1,64}@[A-Za-z0-9.-]{1,253}'
const bracketed = new RegExp(`<(${address})>`, 'g')
const bare = /(?<![\w.+-])([A-Za-z0-9][\w.+=/%-]{0,63}@[A-Za-z0-9][A-Za-z0-9.-]{0,252}[A-Za-z0-9])/g
const ownNames = /^(?:mailer-daemon|postmaster|mdaemon)@/i

/** Forms in which only a recipient's address stands, the surest first. */
const surePlaces: readonly RegExp[] = [
  new RegExp(`^[45]\\d\\d <?(${address})>?\\.\\.\\. `, 'gm'),
  new RegExp(`^<(${address})>:`, 'gm'),
  new RegExp(`^[-=_ ]{0,9}undeliverable to <?(${address})`, 'gim'),
  new RegExp(`^(?:(?:failed|intended) recipient|unknown user|error-for): *<?(${address})`, 'gim'),
  /\brcpt to:\s*<?([^\s<>]{1,320}@[^\s<>]{1,253})>?/gi,
]
/** Announcements of recipients, the surest first: what stands before them is about others. */
const recipientMarks: readonly RegExp[] = [
  /following (?:recipient|address)[^\n@]{0,80}[:<\n]/i,
  /(?:did not reach|delivered to|delivering your mail to|affected)[^\n@]{0,80}[:<\n]/i,
]
/** Lines of which the address is somebody else's. */
const othersNames = [
  'from|sender|original sender|mail from|reply-to|subject|message-id|in-reply-to|sent|x-\\S+',
  'references|return-path|(?:for further|please)\\b.{0,200}',
].join('|')
const othersLine = new RegExp(
  [
    `^[> \\t]*(?:${othersNames})\\s*:?.*$`,
    '\\bcontact\\b.*$|envelope-from.*$|after mail from:.*$',
    '\\((?:ultimately )?(?:generated|expanded) from:? .*$',
  ].join('|'),
  'gim',
)

/**
 * The recipients that the text of a bounce is about, each with what is said of it: those of
 * X-Failed-Recipients, else those the text names before the returned message begins, else the one
 * the returned message itself went to. One without a name when nothing names anybody.
 */
export function recipientSections(
  fields: readonly HeaderField[],
  text: string,
): RecipientSection[] {
  const own = systemText(text)
  const listed = (fieldValue(fields, 'x-failed-recipients') ?? '').split(/[\s,]+/).filter(Boolean)
  const named = listed.length > 0 ? unique(listed) : recipientsInText(text)
  const to = /^to:\s*(?:.{0,200}<)?([^\s<>]{1,320}@[^\s<>]{1,253})>?/im.exec(text.slice(own.length))
  const recipients = (named.length > 0 ? named : [to?.[1] ?? '']).slice(0, recipientsMax)
  const isOnly = recipients.length === 1
  return recipients.map((recipient) => {
    const said = isOnly ? own : sectionAbout(own, recipient)
    const far = farHost.exec(said)?.[1]?.toLowerCase() ?? ''
    return { recipient, text: refusalsIn(said), hosts: [far, domainOf(recipient) ?? ''] }
  })
}

/** As Exim, sendmail and Gmail name the host that refused. */
const farHost = new RegExp(
  '\\b(?:host|while talking to|server) (?:for the recipient domain \\S{1,253} by )?' +
    '((?:[\\w-]{1,63}\\.){1,8}[a-z]{2,24})\\b',
  'i',
)

/**
 * The addresses that the text of a bounce names as its recipients, before the returned message
 * begins: those in places where only a recipient stands, else those in angle brackets, else bare
 * ones. Those of mail systems are left out.
 */
export function recipientsInText(text: string): string[] {
  const own = systemText(text)
  const sure = surePlaces.map((form) => addressesIn(own, form)).find(({ length }) => length > 0)
  if (sure !== undefined) return unique(sure).slice(0, recipientsMax)
  const announced = recipientMarks.map((form) => form.exec(own)?.index ?? 0)
  for (const from of new Set([...announced.filter((at) => at > 0), 0])) {
    const place = own.slice(from)
    const told = place.replace(othersLine, ' ')
    const found = addressesIn(told, bracketed)
    const all = unique(found.length > 0 ? found : addressesIn(told, bare))
    const recipients = all.filter((one) => !ownNames.test(one))
    if (recipients.length > 0) return recipients.slice(0, recipientsMax)
    if (all.length > 0) return all.slice(0, recipientsMax)
  }
  return []
}

/**
 * What a text says of a recipient: the line of a transcript that names it with what was sent and
 * answered before, else from its name to the next blank line or the next address.
 */
export function sectionAbout(text: string, recipient: string): string {
  const at = recipient === '' ? -1 : text.toLowerCase().indexOf(recipient.toLowerCase())
  if (at < 0) return text.slice(0, sectionCharsMax)
  const lines = text.slice(0, 16 * 1024).split('\n')
  const named = lines.findLastIndex((line) => isAnswerAbout(line, recipient))
  if (named >= 0) {
    let first = named
    while (/^(?:>>>|<<<)/.test(lines[first - 1] ?? '')) first -= 1
    return lines.slice(first, named + 1).join('\n')
  }
  const rest = text.slice(at + recipient.length, at + sectionCharsMax)
  const end = /\n\s*\n|\n[^\s@]{1,64}@[^\s@]{1,253}[: ]|\n<[^\s@]{1,64}@/g
  for (const stop of rest.matchAll(end)) {
    if (stop.index > lineCharsMin) return rest.slice(0, stop.index)
  }
  return rest
}

/** `550 <somebody@example.org>... User unknown` */
function isAnswerAbout(line: string, recipient: string): boolean {
  const start = line.slice(0, recipient.length + 12).toLowerCase()
  return /^[45]\d\d </.test(start) && start.startsWith(`${recipient.toLowerCase()}>...`, 5)
}

/** Of a transcript with both sides of a session, what the server refused. */
function refusalsIn(text: string): string {
  if (!/^[ \t]*Out: [245]\d\d/m.test(text)) return text
  const refused = [...text.matchAll(/^[ \t]*Out: ([45]\d\d[ -].{0,500})$/gm)].map(
    ([, line]) => line,
  )
  return refused.length === 0 ? text : refused.join('\n')
}

function addressesIn(text: string, form: RegExp): string[] {
  // X.400 names the kind of an address before it.
  return [...text.matchAll(form)].map(([, found = '']) => found.replace(/^smtp=/i, ''))
}

function unique(addresses: readonly string[]): string[] {
  const seen = new Map<string, string>()
  for (const one of addresses) {
    const key = one.toLowerCase()
    if (!seen.has(key)) seen.set(key, one)
  }
  return [...seen.values()]
}
