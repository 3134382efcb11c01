import { domainOf, parseMailboxes } from '../address.ts'
import { fieldValue, type HeaderField } from '../header.ts'

// Marks where the returned message begins; the mail system did not write the text after it.
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

/** The text of a bounce before the returned message. */
export function systemText(text: string): string {
  const at = returnedMessage.exec(text)?.index ?? text.length
  return text.slice(0, at)
}

const replyLinesMax = 30

/**
 * Completes a multi-line reply that was cut to its first line, if the transcript contains the other
 * lines.
 */
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

/** The last status that a mail system itself states in a transcript. */
export function transcribedStatus(transcript: string): string | undefined {
  return [...transcript.matchAll(givenStatus)].at(-1)?.[1]
}

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
 * The text of a notification that a person forwarded, without quotation marks (`>`). Undefined when
 * the mail is not a forwarded notification.
 */
export function forwardedNotice(fields: readonly HeaderField[], text: string): string | undefined {
  if (!forwarded.test((fieldValue(fields, 'subject') ?? '').slice(0, 500))) return undefined
  const at = quotedNotice.exec(text)?.index
  if (at === undefined) return undefined
  return text.slice(at).replace(/^> ?/gm, '')
}

/**
 * A recipient named in a text, and what the text says about it. `hosts`: the remote host, then the
 * recipient's domain.
 */
export type RecipientSection = { recipient: string; text: string; hosts: string[] }

const sectionCharsMax = 1500
const lineCharsMin = 20
const recipientsMax = 50
const address = '[^\\s<>@:;"()]{1,64}@[A-Za-z0-9.-]{1,253}'
const bracketed = new RegExp(`<(${address})>`, 'g')
const bare = /(?<![\w.+-])([A-Za-z0-9][\w.+=/%-]{0,63}@[A-Za-z0-9][A-Za-z0-9.-]{0,252}[A-Za-z0-9])/g
const ownNames = /^(?:mailer-daemon|postmaster|mdaemon|(?:fb|lt)-[a-z2-7]{28}-[a-z2-7]{16})@/i

/** Patterns in which only a recipient's address occurs, the most reliable first. */
const surePlaces: readonly RegExp[] = [
  new RegExp(`^[45]\\d\\d <?(${address})>?\\.\\.\\. `, 'gm'),
  new RegExp(`^<(${address})>:`, 'gm'),
  new RegExp(`^[-=_ ]{0,9}undeliverable to <?(${address})`, 'gim'),
  new RegExp(`^(?:(?:failed|intended) recipient|unknown user|error-for): *<?(${address})`, 'gim'),
  /\brcpt to:\s*<?([^\s<>]{1,320}@[^\s<>]{1,253})>?/gi,
]
/**
 * Phrases that announce the recipients, the most reliable first. Addresses before such a phrase are
 * not those of recipients.
 */
const recipientMarks: readonly RegExp[] = [
  /following (?:recipient|address)[^\n@]{0,80}[:<\n]/i,
  /(?:did not reach|delivered to|delivering your mail to|affected)[^\n@]{0,80}[:<\n]/i,
  /addressed to (?:the )?e-?mail address[^\n@]{0,20}[:\n]/i,
]
/** A line of a list of recipients, with nothing but an address. */
const listedAddress = new RegExp(
  `^[ \\t]{0,20}(?:[-*•–][ \\t]{0,8})?<?(${address})>?[ \\t]{0,20}[:;,.]?[ \\t]{0,20}$`,
  'gm',
)
/** A list of names without a domain, which AOL and local mail systems write, below its title. */
const listedNames = new RegExp(
  '^.{0,200}following (?:recipient|address)[^:]{0,300}:[ \\t]*\\n\\s{0,9}' +
    '((?:[ \\t]+[a-z0-9][\\w.-]{0,63}[ \\t]*(?:\\n|$)){1,50})',
  'im',
)
/** Beginnings of lines that contain an address other than the recipient's. */
const othersNames = [
  'from|sender|original sender|mail from|reply-to|subject|message-id|in-reply-to|sent|x-\\S+',
  'references|return-path|(?:for further|please)\\b.{0,200}',
].join('|')
const othersLine = new RegExp(
  [
    `^[> \\t]*(?:${othersNames})\\s*:?.*$`,
    '\\bcontact\\b.*$|envelope-from.*$|after mail from:.*$',
    '\\((?:ultimately )?(?:generated|expanded) from:? .*$',
    '\\bfrom [^\\s@]{1,64}@\\S{1,253} via\\b.*$',
  ].join('|'),
  'gim',
)

/**
 * Finds the recipients of a bounced message in the text of the bounce, each with the part of the
 * text about that recipient: the recipients in X-Failed-Recipients, else those named before the
 * returned message begins, else the recipient of the returned message. Returns one section with an
 * empty recipient when none is named.
 */
export function recipientSections(
  fields: readonly HeaderField[],
  text: string,
): RecipientSection[] {
  const own = systemText(text)
  const listed = (fieldValue(fields, 'x-failed-recipients') ?? '').split(/[\s,]+/).filter(Boolean)
  const author = parseMailboxes((fieldValue(fields, 'from') ?? '').slice(0, 1000))[0]?.address
  const local = listed.length > 0 ? [] : localRecipients(own, author && domainOf(author))
  const given = listed.length > 0 ? unique(listed) : local
  const named = given.length > 0 ? given : recipientsInText(text)
  const to = /^to:\s*(?:.{0,200}<)?([^\s<>]{1,320}@[^\s<>]{1,253})>?/im.exec(text.slice(own.length))
  const others = to?.[1] ?? generatedFrom.exec(own)?.[1] ?? ''
  const recipients = (named.length > 0 ? named : [others]).slice(0, recipientsMax)
  const isOnly = recipients.length === 1
  return recipients.map((recipient) => {
    const section = isOnly ? own : sectionAbout(own, recipient)
    const remote = remoteHost.exec(section)?.[1]?.toLowerCase() ?? ''
    return { recipient, text: refusalsIn(section), hosts: [remote, domainOf(recipient) ?? ''] }
  })
}

/** Names the address from which a hidden or local recipient was made. */
export const generatedFrom = /\bgenerated (?:by|from) <?([^\s<>()]{1,64}@[\w.-]{1,253})/i

/** Names in a list of recipients, with the domain of the mail system that wrote the list. */
function localRecipients(own: string, domain: string | undefined): string[] {
  const names = domain === undefined ? undefined : listedNames.exec(own)?.[1]
  if (names === undefined) return []
  return unique(
    names
      .trim()
      .split(/\s+/)
      .map((name) => `${name}@${domain}`),
  )
}

/** The host that refused, as Exim, sendmail and Gmail name it. */
const remoteHost = new RegExp(
  '\\b(?:host|while talking to|server) (?:for the recipient domain \\S{1,253} by )?' +
    '((?:[\\w-]{1,63}\\.){1,8}[a-z]{2,24})\\b',
  'i',
)

/**
 * Finds the addresses that the text of a bounce names as recipients, before the returned message
 * begins: addresses in places where only a recipient occurs, else those in angle brackets, else
 * bare ones. Leaves out addresses of mail systems if there are others.
 */
export function recipientsInText(text: string): string[] {
  const own = systemText(text)
  const sure = surePlaces.map((form) => addressesIn(own, form)).find(({ length }) => length > 0)
  const announced = recipientMarks.map((form) => form.exec(own)?.index ?? 0)
  const start = announced.find((at) => at > 0)
  const listed = start === undefined ? [] : addressesIn(own.slice(start), listedAddress)
  if (listed.length > 1 && listed.length > (sure?.length ?? 0)) {
    return unique(listed).slice(0, recipientsMax)
  }
  if (sure !== undefined) return unique(sure).slice(0, recipientsMax)
  for (const from of new Set([...announced.filter((at) => at > 0), 0])) {
    const place = own.slice(from)
    const remaining = place.replace(othersLine, ' ')
    const found = addressesIn(remaining, bracketed)
    const all = unique(found.length > 0 ? found : addressesIn(remaining, bare))
    const recipients = all.filter((one) => !ownNames.test(one))
    if (recipients.length > 0) return recipients.slice(0, recipientsMax)
    if (all.length > 0) return all.slice(0, recipientsMax)
  }
  return []
}

const sectionEnds = [
  ...['\\n\\s*\\n', '\\n[^\\s@]{1,64}@[^\\s@]{1,253}[: ]', '\\n<[^\\s@]{1,64}@'],
  '\\n[ \\t]+<?[^\\s@]{1,64}@[^\\s@]{1,253}\\n',
].join('|')

/**
 * Finds the text about a recipient: the transcript line that names it, with the commands and
 * replies directly before it; else the text from its address to the next blank line or the next
 * address.
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
  for (const stop of rest.matchAll(new RegExp(sectionEnds, 'g'))) {
    if (stop.index > lineCharsMin) return rest.slice(0, stop.index)
  }
  return rest
}

/** Whether a line such as `550 <somebody@example.org>... User unknown` is about the recipient. */
function isAnswerAbout(line: string, recipient: string): boolean {
  const start = line.slice(0, recipient.length + 12).toLowerCase()
  return /^[45]\d\d </.test(start) && start.startsWith(`${recipient.toLowerCase()}>...`, 5)
}

/**
 * Returns only the refusals from a transcript that has both sides of a session; any other text is
 * returned unchanged.
 */
function refusalsIn(text: string): string {
  if (!/^[ \t]*Out: [245]\d\d/m.test(text)) return text
  const refused = [...text.matchAll(/^[ \t]*Out: ([45]\d\d[ -].{0,500})$/gm)].map(
    ([, line]) => line,
  )
  return refused.length === 0 ? text : refused.join('\n')
}

function addressesIn(text: string, form: RegExp): string[] {
  // X.400 gateways write the type of an address before it.
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
