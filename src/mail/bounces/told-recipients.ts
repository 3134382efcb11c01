import { domainOf } from '../address.ts'
import { fieldValue } from '../header.ts'
import type { HeaderField } from '../header.ts'
import { systemText } from './bounce-text.ts'

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
const announcements: readonly RegExp[] = [
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
  const announced = announcements.map((form) => form.exec(own)?.index ?? 0)
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
