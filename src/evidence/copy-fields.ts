import { decodeHTML } from 'entities/decode'
import { parseMailboxes } from '../mail/address.ts'
import { decodeHeaderText } from '../mail/encoded-word.ts'
import { type HeaderField, writtenField } from '../mail/header.ts'
import { parseIp } from '../mail/ip.ts'
import { composeMailDate } from '../mail/mail-parts.ts'
import { parseMailDate } from '../mail/date.ts'
import { composeEncodedWords, foldText, utf8Words } from '../mail/seven-bit.ts'
import { cleanLine, remembered } from '../mail/text.ts'
import { wholeCode } from './codes.ts'
import type { Concealer } from './conceal.ts'
import { decoded, plainText, withoutCodes, withoutCutWord } from './plain-forms.ts'
import { between } from './text-words.ts'
import { mailboxFields } from './field-names.ts'
import { addressesIn } from './identity.ts'
import { receiverFields, type SenderField, senderFields } from './sender-fields.ts'

/**
 * Who wrote a field: a server of the reporter's side, the one that received the message from the
 * sender's side (`entry`), or the sender's side.
 */
type Side = 'ours' | 'entry' | 'sender'

/** What the rule of a field needs. */
type Context = {
  concealer: Concealer
  side: Side
  /** The value as it was written, of which up to 64 KB are read. */
  raw: string
}

/** Returns what may leave of the value of a field; undefined: nothing. */
type Rule = (value: string, context: Context) => string | undefined

/** The fields of a copy, and those that were left out: known names, and the number of others. */
export type CopyFields = { fields: HeaderField[]; omitted: string[]; unknown: number }

/** Maximum number of fields that are read, of those with one name, and of characters of a value. */
const FIELDS_MAX = 5_000
const SAME_NAME_MAX = 50
const VALUE_CHARS_MAX = 4_000
/** Lists are read further, because what is in front may only push the rest out. */
const LIST_CHARS_MAX = 64 * 1024

/**
 * Composes the header of a copy from a list of fields, each with a rule for its value. The first
 * `ours` of the Received fields were written by servers of the reporter's side.
 */
export function composeFields(
  fields: readonly HeaderField[],
  concealer: Concealer,
  ours: number,
): CopyFields {
  const composed: HeaderField[] = []
  const omitted = new Set<string>()
  const counts = new Map<string, number>()
  let unknown = 0
  let received = 0
  for (const { key, value } of fields.slice(0, FIELDS_MAX)) {
    if (key === 'received') received++
    const { rule, known } = kindOf(key)
    if (rule === undefined) {
      if (known !== undefined) omitted.add(known)
      else if (!replacedFields.has(key)) unknown++
      continue
    }
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    const side = received > ours ? 'sender' : received < ours ? 'ours' : entryOr(key)
    const raw = value.slice(0, LIST_CHARS_MAX)
    const text = rawRules.has(rule) ? '' : readable(withoutCutWord(value, VALUE_CHARS_MAX))
    const written = count > SAME_NAME_MAX ? undefined : rule(text, { concealer, side, raw })
    if (written === undefined) omitted.add(known ?? '')
    else composed.push(newField(known ?? '', written))
  }
  unknown += Math.max(0, fields.length - FIELDS_MAX)
  return { fields: composed, omitted: [...omitted], unknown }
}

function entryOr(key: string): Side {
  return key === 'received' ? 'entry' : 'sender'
}

/** The value of a field as a person would read it. */
function readable(value: string): string {
  if (isPlain(value)) return value.trim()
  const text = withoutCodes(cleanLine(plainText(decodeHeaderText(value))))
  return text.includes('&#') ? decodeHTML(text) : text
}

/** Whether a value is read as it is written: without encoded words, references and our codes. */
function isPlain(value: string): boolean {
  const isAscii = /^[\x20-\x7e]*$/.test(value)
  return isAscii && !value.includes('=?') && !value.includes('&#') && !/redacted/i.test(value)
}

/** Creates a field in 7 bits, folded. */
export function newField(name: string, value: string): HeaderField {
  const isAscii = /^[\x20-\x7e]*$/.test(value)
  const ascii = isAscii
    ? value
    : composeEncodedWords(Buffer.from(value.toWellFormed()).toString('latin1'))
  return writtenField(`${name}: ${foldText(ascii, name.length + 2)}`)
}

const text: Rule = (value, { concealer }) => concealer.text(value)
const words: Rule = (value, { concealer }) => concealer.words(value)

/** One of a few values; parameters after it are left out. */
function oneOf(...known: readonly string[]): Rule {
  return (value) => {
    const first = value.split(/[;\s]/, 1)[0] ?? ''
    return known.find((one) => one.toLowerCase() === first.toLowerCase())
  }
}

const usualDate =
  /^(?:[A-Z][a-z]{2}, ?)?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d(?::\d\d)? (?:[+-]\d{4}|[A-Z]{1,4})$/

const date: Rule = (value) => {
  const bare = value
    .slice(0, DATE_CHARS_MAX)
    .replace(/\([^()]*\)/g, '')
    .trim()
  if (usualDate.test(bare)) return bare
  const read = parseMailDate(bare)
  return read && composeMailDate(read)
}

const DATE_CHARS_MAX = 100

const RECIPIENTS_MAX = 100

const recipients: Rule = (_, { concealer, raw }) => {
  const found = addressesIn(decodeHeaderText(raw)).slice(0, RECIPIENTS_MAX)
  const codes = found.map(concealer.person)
  return codes.length === 0 ? 'undisclosed-recipients:;' : [...new Set(codes)].join(', ')
}

const AUTHORS_MAX = 10

/** Reads the list before the names are decoded: a decoded name may contain signs of a list. */
const authors: Rule = (_, { concealer, raw }) => {
  const written: string[] = []
  let name = ''
  for (const mailbox of parseMailboxes(lastMailboxes(raw))) {
    name = `${name} ${readable(mailbox.name)}`.trim()
    if (mailbox.address === '') continue
    const shown = nameOf(concealer.words(name))
    const address = concealer.mailbox(withoutCodes(plainText(decodeHeaderText(mailbox.address))))
    written.push(shown === '' ? `<${address}>` : `${shown} <${address}>`)
    name = ''
  }
  if (name !== '') written.push(nameOf(concealer.words(name)))
  return written.slice(0, AUTHORS_MAX).join(', ') || undefined
}

/** A list, or the end of a long one, where the address is. */
function lastMailboxes(raw: string): string {
  if (raw.length <= VALUE_CHARS_MAX) return raw
  const at = raw.lastIndexOf('<')
  return at < 0 ? raw : raw.slice(Math.max(0, at - NAME_CHARS_MAX))
}

const NAME_CHARS_MAX = 300

/** A display name: words beyond ASCII become encoded words (RFC 2047 §5). */
function nameOf(name: string): string {
  const shown = name.slice(0, NAME_CHARS_MAX)
  if (shown === '') return ''
  return /^[\x20-\x7e]*$/.test(shown) ? `"${shown.replace(/["\\]/g, '')}"` : utf8Words(shown)
}

const returnPath: Rule = (value, { concealer }) => {
  const [address] = /(?:"[^"]{1,126}"|[^\s<>]{1,320})@[^\s<>@]{1,253}/.exec(value) ?? []
  if (address === undefined) return value.replace(/\s/g, '') === '<>' ? '<>' : undefined
  return `<${concealer.mailbox(address)}>`
}

const IDS_MAX = 50

const messageIds: Rule = (value, { concealer }) => {
  const isQuoted = value.includes('<')
  const ids = value.match(isQuoted ? /<[^<>]{1,900}>/g : /[^\s<>]{1,900}/g) ?? [value]
  return ids.slice(0, IDS_MAX).map(concealer.messageId).join(' ')
}

const LINKS_MAX = 10

/** A list of links in angle brackets (RFC 2369). */
const links: Rule = (_, { concealer, raw }) => {
  const found = (raw.match(/<[^<>]{1,2000}>/g) ?? []).slice(0, LINKS_MAX)
  const written = found.map(
    (one) => `<${concealer.link(withoutCodes(one.slice(1, -1).replace(/\s+/g, '')))}>`,
  )
  return written.join(', ') || undefined
}

/** A description and a name like that of a host (RFC 2919). */
const listId: Rule = (value, { concealer }) => {
  const [, phrase = '', id = ''] = /^([^<]*)(?:<([^<>]*)>)?/.exec(value) ?? []
  const name = id === '' ? '' : ` <${concealer.host(id)}>`
  return `${concealer.words(phrase.trim())}${name}`.trim() || undefined
}

const host: Rule = (value, { concealer }) =>
  /^[\w.-]{1,253}$/.test(value) ? concealer.host(value) : undefined

/**
 * A Received field: hosts and addresses of machines stay, and the id of the hand-over, by which the
 * sender's log has the message. On the reporter's side, machines without a public name may be those
 * of a household.
 */
const received: Rule = (value, { concealer, side }) => {
  const plain = value.replace(/(?:%[\da-f]{2}){1,100}/gi, decoded)
  const direct = plain.replace(forClause, (_, before: string, person: string) => {
    return before + (person.includes('@') ? concealer.person(person) : concealer.token(person))
  })
  // The server's own log has the account and the id that it wrote.
  if (side === 'sender' && concealer.isIssuer(byClause.exec(plain)?.[1] ?? ''))
    return concealer.people(direct)
  const isKept = (clause: string) => side === 'entry' || versionId.test(clause)
  const codeOf = (id: string) => (wholeCode.test(id) ? id : concealer.token(id))
  const known =
    side === 'ours'
      ? direct.replace(ownMachine, (_, by: string, name: string) => by + concealer.token(name))
      : direct
  return between(
    known,
    idClause,
    (clause) => (isKept(clause) ? concealer.people(clause) : clause.replace(/\S+$/, codeOf)),
    (rest) => concealer.words(rest, { labelMin: HOST_LABEL_MIN }),
  )
}

/** Shorter labels of machines that handed the message over stay, even if they look like codes. */
export const HOST_LABEL_MIN = 16
const forClause = /(\sfor\s+<?)((?:"[^"]{1,126}"@)?[^\s<>;()]{1,320})/gi
const byClause = /\sby\s+([\w.-]{1,253})/i
/** Microsoft's servers write their version there. */
const versionId = /\sid\s+\d{1,2}(?:\.\d{1,5}){2,3}$/i
const ownMachine = /(\bby\s+)([\w-]+(?=\s|$)|[\da-f]{1,4}:[\da-f:]+)/gi
const idClause = /\sid\s+<?[^\s<>;()]{1,200}/gi

/** A signature (RFC 6376, RFC 8617): who signed, with which key, when, and what. */
const signature: Rule = (value, { concealer }) => {
  const kept = value.split(';').flatMap((tag) => {
    const [, name = '', rest = ''] = /^([a-z]{1,2})\s*=(.*)$/is.exec(tag.trim()) ?? []
    const written = signatureTags[name.toLowerCase()]?.(rest.replace(/\s+/g, ''), concealer)
    return written === undefined ? [] : [`${name}=${written}`]
  })
  return kept.join('; ') || undefined
}

type Tag = (value: string, concealer: Concealer) => string | undefined

const tagOf =
  (shape: RegExp): Tag =>
  (value) =>
    shape.test(value) ? value : undefined
const hostTag: Tag = (value, { host: write }) =>
  /^[\w.-]{1,253}$/.test(value) ? write(value) : undefined

/** Selectors are names in the DNS; those of services have a usual word and a number. */
const usualSelector = new RegExp(
  '^(?:s|k|m|d|selector|arcselector|scph|google|dkim|mail|smtp|arc|key|pm|fm|hs|em|mte|sig|' +
    'default|mandrill|krs|cm|sm|mailjet|zoho|ses|turbo|ngpweb|zendesk|protonmail)[-_]?\\d{0,8}$',
  'i',
)

const selectorTag: Tag = (value, { selector }) => {
  if (usualSelector.test(value)) return value
  return /^[\w.-]{1,253}$/.test(value) ? selector(value) : undefined
}

const signatureTags: Readonly<Record<string, Tag>> = {
  v: tagOf(/^1$/),
  a: tagOf(/^(?:rsa|ed25519)-sha(?:1|256)$/i),
  c: tagOf(/^(?:simple|relaxed)(?:\/(?:simple|relaxed))?$/i),
  q: tagOf(/^dns(?:\/txt)?$/i),
  cv: tagOf(/^(?:none|pass|fail)$/i),
  t: tagOf(/^1\d{9}$/),
  ...{ d: hostTag, s: selectorTag },
  // The identity of a person (RFC 6376 §3.5), or the number of an ARC set.
  i(value, { host: write }) {
    if (/^\d{1,2}$/.test(value)) return value
    const name = /@([\w.-]{1,253})$/.exec(value)?.[1]
    return name === undefined ? undefined : `@${write(name)}`
  },
  // Upper and lower case could be a code.
  h: (value) =>
    value
      .toLowerCase()
      .split(':')
      .filter((name) => kindOf(name).known !== undefined)
      .join(':'),
}

/** Results of authentication (RFC 8601): methods, results and domains, no comments. */
const results: Rule = (value, { concealer }) => {
  const bare = value.replace(/\([^()]*\)/g, ' ')
  const kept = bare.split(';').flatMap((part, index) => {
    const [first = '', ...rest] = part.trim().split(/\s+/)
    if (index === 0 && /^[\w.-]{1,253}$/.test(first)) return [concealer.host(first)]
    if (!resultShape.test(first)) return []
    return [
      [first.toLowerCase(), ...rest.flatMap((one) => propertyOf(one, concealer) ?? [])].join(' '),
    ]
  })
  return kept.join('; ') || undefined
}

/** Methods and results of RFC 8601, and a few that services write. */
const resultShape = new RegExp(
  '^(?:i=\\d{1,2}|(?:auth|spf|dkim|dmarc|arc|iprev|bimi|dkim-atps|dkim-adsp|domainkeys|sender-id|' +
    'compauth|x-[a-z-]{2,12})=(?:none|pass|fail|softfail|hardfail|neutral|policy|temperror|' +
    'permerror|bestguesspass|declined|skipped))$',
  'i',
)

/** Properties whose value is a domain, or an address of which only the domain leaves. */
const domainProperty = /^(?:header\.(?:d|i|from)|smtp\.(?:mailfrom|helo)|envelope-from|helo)$/i

function propertyOf(text: string, concealer: Concealer): string | undefined {
  const { host: write, selector } = concealer
  const [, name = '', value = ''] = /^([a-z.-]{3,30})=["<]?(.*?)[">]?$/i.exec(text) ?? []
  if (/^(?:client-ip|policy\.iprev)$/i.test(name)) {
    const ip = parseIp(value)
    return ip && `${name}=${ip.text}`
  }
  if (/^header\.s$/i.test(name) && /^[\w.-]{1,253}$/.test(value))
    return `${name}=${selector(value)}`
  if (!domainProperty.test(name)) return undefined
  const domain = value.slice(value.lastIndexOf('@') + 1)
  if (!/^[\w.-]{1,253}$/.test(domain)) return undefined
  return `${name}=${write(domain, /helo$/i.test(name) ? HOST_LABEL_MIN : 0)}`
}

const spfShape =
  /^(none|pass|fail|softfail|neutral|temperror|permerror|error)\b(?:\s*\([^()]*\))?\s*(.*)$/i

/** Received-SPF (RFC 7208 §9.1): the result, and the pairs that name hosts. */
const spf: Rule = (value, { concealer }) => {
  const [, result, pairs = ''] = spfShape.exec(value) ?? []
  if (result === undefined) return undefined
  const kept = pairs.split(/[;\s]+/).flatMap((one) => propertyOf(one, concealer) ?? [])
  return [result.toLowerCase(), kept.join('; ')].join(' ').trim()
}

const token: Rule = (value, { concealer }) => concealer.token(value)
const address: Rule = (value, { concealer }) => {
  const named = concealer.people(value, { keepsDomain: true })
  const found = addressesIn(named).map(concealer.mailbox)
  return found.length > 0 ? found.join(', ') : concealer.words(named)
}

/** Names of accounts. cPanel adds the recipient's domain, and PHP the address of a visitor. */
const described: Rule = (value, { concealer }) =>
  /^original domain\b|\bforwarder owner\b/i.test(value)
    ? undefined
    : concealer.words(value, { labelMin: HOST_LABEL_MIN })

/** Names and numbers of customers, in which digits stay for whoever issued them. */
const account: Rule = (value, context) =>
  context.concealer.isForIssuer ? context.concealer.people(value) : words(value, context)
const path: Rule = (value, context) =>
  context.concealer.isForIssuer ? context.concealer.people(value) : described(value, context)

/** The rule for each kind of field of the sender's side. */
const senderRules: Readonly<Record<SenderField['value'], Rule>> = {
  ...{ text: words, mixed: described, path, account, address },
  ip: (value) =>
    (value.match(/[\da-f]*[.:][\da-f.:]+/gi) ?? [])
      .map((one) => (parseIp(one) ? one : one.replace(/:\d+$/, '')))
      .filter((one) => parseIp(one))
      .join(', ') || undefined,
  message: token,
}

/** Rules that read the value as it was written. */
const rawRules = new Set([recipients, authors, links])

const rules: Readonly<Record<string, Rule>> = {
  ...{ received, 'return-path': returnPath, from: authors, sender: authors, 'reply-to': authors },
  ...{ to: recipients, cc: recipients, subject: text, date },
  ...{ 'message-id': messageIds, 'in-reply-to': messageIds, references: messageIds },
  'list-unsubscribe-post': oneOf('List-Unsubscribe=One-Click'),
  'auto-submitted': oneOf('no', 'auto-generated', 'auto-replied', 'auto-notified'),
  precedence: oneOf('bulk', 'list', 'junk', 'normal', 'first-class', 'special-delivery'),
  ...{ 'list-id': listId, 'list-unsubscribe': links, 'list-help': links, 'list-owner': links },
  ...{ 'list-post': links, 'list-subscribe': links, 'list-archive': links },
  ...{ 'dkim-signature': signature, 'arc-seal': signature, 'arc-message-signature': signature },
  ...{ 'authentication-results': results, 'arc-authentication-results': results },
  ...{ 'received-spf': spf, 'x-originatororg': host },
}

const senderByName = new Map(
  senderFields.filter(({ isPrefix }) => !isPrefix).map(({ name, value }) => [name, value]),
)
const senderPrefixes = senderFields.filter(({ isPrefix }) => isPrefix)
const receiverNames = new Set(
  receiverFields.filter(({ isPrefix }) => !isPrefix).map(({ name }) => name),
)
const receiverPrefixes = receiverFields.filter(({ isPrefix }) => isPrefix)

/** The rule of a field, if it leaves, and its name, if software writes it. */
const kindOf = remembered(
  (key): { rule: Rule | undefined; known: string | undefined } => {
    const rule = ruleOf(key)
    return { rule, known: knownName(key, rule) }
  },
  { max: 1_000, charsMax: 128 },
)

function ruleOf(key: string): Rule | undefined {
  if (Object.hasOwn(rules, key)) return rules[key]
  const value =
    senderByName.get(key) ?? senderPrefixes.find(({ name }) => key.startsWith(name))?.value
  return value && sendersOnly(senderRules[value])
}

/** Servers of the receiver add some of these fields, too, and then they describe the receiver. */
function sendersOnly(rule: Rule): Rule {
  return (value, context) => (context.side === 'sender' ? rule(value, context) : undefined)
}

/** Usual fields without evidence, which are named but not shown. */
const usualNames = new Set(
  (
    'content-language content-disposition content-id content-class bcc importance priority ' +
    'x-priority x-msmail-priority sensitivity ' +
    'thread-index thread-topic accept-language resent-from resent-to resent-cc resent-date ' +
    'resent-sender resent-message-id disposition-notification-to autocrypt openpgp face x-face ' +
    'errors-to keywords comments lines status x-status xref newsgroups domainkey-signature ' +
    'x-google-dkim-signature x-gm-message-state x-google-smtp-source x-received x-original-from'
  ).split(' '),
)

/** Fields that the copy has with values of its own. */
const replacedFields = new Set(['mime-version', 'content-type', 'content-transfer-encoding'])

/**
 * The name of a field that software writes, as standards write it; of a family, its beginning.
 * Undefined for any other, and for the fields that the copy has anyway.
 */
function knownName(key: string, rule: Rule | undefined): string | undefined {
  const family = [...receiverPrefixes, ...senderPrefixes].find((one) => key.startsWith(one.name))
  if (family) return capitalized(family.name.replace(/-$/, ''))
  const isKnown =
    rule !== undefined || usualNames.has(key) || mailboxFields.has(key) || receiverNames.has(key)
  return isKnown ? (shownNames.get(key) ?? capitalized(key)) : undefined
}

function capitalized(key: string): string {
  return key.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase())
}

/** Names as standards write them: the letters in a name could be a code. */
const shownNames = new Map(
  [
    'Received Return-Path From Sender Reply-To To Cc Subject Date Message-ID In-Reply-To',
    'References',
    'Auto-Submitted Precedence List-Unsubscribe-Post List-Id List-Unsubscribe List-Help List-Owner',
    'List-Post List-Subscribe List-Archive DKIM-Signature ARC-Seal ARC-Message-Signature',
    'Authentication-Results ARC-Authentication-Results Received-SPF X-OriginatorOrg Feedback-ID',
    'CFBL-Address CFBL-Feedback-ID X-Mailer User-Agent Organization',
  ]
    .join(' ')
    .split(' ')
    .map((name) => [name.toLowerCase(), name]),
)
