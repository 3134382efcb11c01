import { HOUR_MS } from '../../durations.ts'
import { registrableDomain } from '../../mail/address.ts'
import { parseMailDate } from '../../mail/date.ts'
import { decodeHeaderText } from '../../mail/encoded-word.ts'
import {
  areForeign,
  freeMailDomains,
  type HeaderIndex,
  type Material,
  type People,
} from './material.ts'
import { disguiseOf } from './text-features.ts'

/** Mailers used by scripts on web sites, legitimate or compromised; in lower case. */
const scripts = /phpmailer|^php|swiftmailer|nodemailer|python|leaf|mass ?mail|bulk|blat|libwww|perl/

/** Whether a script on a web site or a command line wrote the message, not a mail program. */
function isScriptMailer(mailer: string, header: HeaderIndex): boolean {
  return (
    header.count('x-php-originating-script') + header.count('x-php-script') > 0 ||
    scripts.test(mailer)
  )
}

/** MIME boundary formats of mailers that always use the same one. */
const boundaries: readonly (readonly [mailer: RegExp, boundary: RegExp])[] = [
  [/^microsoft (?:office )?outlook|^microsoft windows (?:live )?mail/, /^----=_NextPart_/],
  [/^apple mail|^iphone mail|^ipad mail/, /^Apple-(?:Mail|Webmail)|^--?Apple-Mail/],
  [/thunderbird/, /^-{12}[\dA-Za-z]/],
]

/** Whether the message names a mailer but has a MIME boundary that this mailer never writes. */
function contradictsMailer(mailer: string, header: HeaderIndex): boolean {
  if (mailer === '') return false
  const type = (header.value('content-type') ?? '').slice(0, 1_000)
  const found = /boundary\s{0,9}=\s{0,9}(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(type)
  const boundary = found?.[1] ?? found?.[2]
  if (boundary === undefined) return false
  return boundaries.some(([name, start]) => name.test(mailer) && !start.test(boundary))
}

const valueCharsMax = 2_000
const mailerCharsMax = 60

/**
 * Computes features of the header: date, addresses, Message-ID, subject, recipients, encoding and
 * mailer.
 */
export function headerFeatures({ fields, hops }: Material, header: HeaderIndex, people: People) {
  const isAnswer = header.count('in-reply-to') > 0 || header.count('references') > 0
  return {
    fields: fields.length,
    ...dateFeatures(header, hops),
    from_missing: header.count('from') === 0,
    from_duplicate: header.count('from') > 1,
    from_addresses: people.authors,
    ...messageIdFeatures(header, people),
    ...subjectFeatures(header, people, isAnswer),
    ...recipientFeatures(header, people),
    ...writingFeatures(header),
    ...otherPeople(header, people),
    ...mailerFeatures(header),
    priority_high: isUrgent(header),
    is_answer: isAnswer,
  }
}

function dateFeatures(header: HeaderIndex, hops: Material['hops']) {
  const written = header.value('date')
  const date = written === undefined ? undefined : parseMailDate(written)
  const received = hops.find(({ at }) => at !== null)?.at
  const ahead = date && received ? (date.getTime() - Date.parse(received)) / HOUR_MS : 0
  return {
    date_missing: written === undefined,
    date_duplicate: header.count('date') > 1,
    date_malformed: written !== undefined && !date,
    // Adding 0 turns -0 into 0.
    date_hours_ahead: Math.round(ahead * 10) / 10 + 0,
  }
}

function messageIdFeatures(header: HeaderIndex, { author, returnPathOrganization }: People) {
  const written = header.value('message-id')?.slice(0, valueCharsMax)
  const found = written === undefined ? undefined : /^<[^<>\s@]+@([^<>\s@]+)>$/.exec(written)
  const domain = found?.[1]?.toLowerCase()
  const organization = domain === undefined ? undefined : registrableDomain(domain)
  return {
    message_id_missing: written === undefined || written === '',
    message_id_duplicate: header.count('message-id') > 1,
    message_id_malformed: Boolean(written) && !found,
    message_id_local: domain !== undefined && organization === undefined,
    message_id_foreign:
      areForeign(organization, author?.organization) && organization !== returnPathOrganization,
  }
}

function subjectFeatures(header: HeaderIndex, { recipient }: People, isAnswer: boolean) {
  const written = header.value('subject')
  const subject = decodeHeaderText((written ?? '').slice(0, valueCharsMax))
  const { length: upper } = subject.match(/\p{Lu}/gu) ?? []
  const { length: letters } = subject.match(/\p{L}/gu) ?? []
  const { hidden, lookAlikes } = disguiseOf(subject)
  const lower = subject.toLowerCase()
  const local = recipient?.local ?? ''
  return {
    subject_missing: written === undefined,
    subject_duplicate: header.count('subject') > 1,
    subject_chars: subject.length,
    subject_upper_share: letters < 8 ? 0 : Math.round((upper / letters) * 100) / 100,
    subject_exclamations: subject.split('!').length - 1,
    subject_disguised: hidden + lookAlikes > 0,
    subject_names_recipient: local.length >= 4 && lower.includes(local),
    subject_claims_reply: !isAnswer && /^\s*(?:re|aw|sv|antw)\s*:/.test(lower),
    subject_long_blank: /\S\s{8,}\S/.test(subject),
  }
}

function recipientFeatures(header: HeaderIndex, { author, recipient, recipients }: People) {
  const to = header.value('to')
  return {
    to_missing: to === undefined && header.count('cc') === 0,
    to_undisclosed: to !== undefined && /undisclosed|recipients?\s*:?\s*;/i.test(to.slice(0, 200)),
    to_is_author: Boolean(author?.address) && author?.address === recipient?.address,
    recipients,
  }
}

function writingFeatures(header: HeaderIndex) {
  const type = (header.value('content-type') ?? '').slice(0, valueCharsMax)
  const isMultipart = /^\s*multipart\//i.test(type)
  const shown = [header.value('subject') ?? '', header.value('from') ?? '']
  return {
    mime_version_missing: isMultipart && header.count('mime-version') === 0,
    boundary_missing: isMultipart && !/boundary\s{0,9}=/i.test(type),
    needlessly_encoded: shown.some(isNeedlesslyEncoded),
    raw_eight_bit: shown.some((value) => /[\x80-\xff]/.test(value)),
  }
}

/** Whether a value is encoded without need, which hides its text from simple filters. */
function isNeedlesslyEncoded(value: string): boolean {
  const text = value.slice(0, valueCharsMax)
  if (!/=\?[^?\s]{1,40}\?b\?/i.test(text)) return false
  return /^[ -~]*$/.test(decodeHeaderText(text))
}

function otherPeople(header: HeaderIndex, people: People) {
  const { author, replyTo, sender, returnPathOrganization } = people
  const answersTo = replyTo?.organization
  const isFree = (domain: string | undefined) => domain !== undefined && freeMailDomains.has(domain)
  const returnPath = header.value('return-path')
  return {
    reply_to_given: Boolean(replyTo?.address),
    reply_to_other_domain: areForeign(answersTo, author?.organization),
    reply_to_free_mail: isFree(replyTo?.domain) && replyTo?.address !== author?.address,
    sender_other_domain: areForeign(sender?.organization, author?.organization),
    return_path_other_domain: areForeign(returnPathOrganization, author?.organization),
    return_path_empty: returnPath !== undefined && /^\s*<\s*>\s*$/.test(returnPath),
  }
}

function mailerFeatures(header: HeaderIndex) {
  const written = header.value('x-mailer') ?? header.value('user-agent') ?? ''
  const mailer = written.slice(0, mailerCharsMax).toLowerCase()
  return {
    mailer: mailer.replace(/[^ -~]/g, '').replace(/[\s/(]*[\d.]{1,20}.*$/, ''),
    mailer_is_script: isScriptMailer(mailer, header),
    mailer_contradicted: contradictsMailer(mailer, header),
  }
}

function isUrgent(header: HeaderIndex): boolean {
  const priority = (header.value('x-priority') ?? '').trim()
  const importance = (header.value('importance') ?? header.value('x-msmail-priority') ?? '').trim()
  return /^[12]\b/.test(priority) || importance.toLowerCase() === 'high'
}
