import { registrableDomain } from '../../mail/address.ts'
import { decodeHeaderText } from '../../mail/encoded-word.ts'
import { fieldValue, type HeaderField } from '../../mail/header.ts'
import { remembered } from '../../mail/text.ts'
import { plainLine, withoutMarks } from '../disguise/plain-text.ts'
import type { ShingleList } from './shingle-list.ts'

const shapeCharsMax = 120
const tokenCharsMin = 6

/**
 * Returns the shape of a token: `a` for a run of lower-case letters, `A` for capitals, `x` for
 * mixed hexadecimal digits, `0` for digits; punctuation stays unchanged.
 */
export function shapeOf(token: string): string {
  return token.slice(0, shapeCharsMax).replace(/[a-z0-9]+/gi, (run) => {
    const width = Math.min(run.length, 40)
    if (/^\d+$/.test(run)) return `0${width}`
    if (/^[0-9a-f]+$/.test(run) && /\d/.test(run)) return `x${width}`
    if (/^[0-9A-F]+$/.test(run) && /\d/.test(run)) return `X${width}`
    if (/^[a-z]+$/.test(run)) return 'a'
    if (/^[A-Z]+$/.test(run)) return 'A'
    return /\d/.test(run) ? 'm' : 'Aa'
  })
}

/** Lower-cases a text, and replaces numbers by 0 and random tokens by `*`. */
export function withoutTokens(text: string): string {
  return text.toLowerCase().replace(/[a-z0-9]+/g, (run) => {
    if (!/\d/.test(run)) return run
    const isToken = run.length >= tokenCharsMin && /[a-z]/.test(run) && !/^[a-z]+\d+$/.test(run)
    return isToken ? '*' : run.replace(/\d+/g, '0')
  })
}

const valueCharsMax = 2000
const dateCharsMax = 100
const namesMax = 60
const subjectWordsMax = 3
const startWordsMax = 4

/** Adds the pieces of the header: its content, and its form. */
export function addHeader(list: ShingleList, fields: readonly HeaderField[]): void {
  const subject = fieldValue(fields, 'subject')
  if (subject !== undefined) addSubject(list, decodeHeaderText(subject.slice(0, valueCharsMax)))
  addMessageId(list, fieldValue(fields, 'message-id'))
  addMailer(list, fields)
  addWriting(list, fields)
  addContentType(list, fields)
  const date = fieldValue(fields, 'date')?.slice(0, dateCharsMax)
  list.add('date-zone', date && /([+-]\d{4}|[A-Z]{2,5})(?:\s*\(.*\))?\s*$/.exec(date)?.[1])
}

function addSubject(list: ShingleList, subject: string): void {
  const answered = subject.replace(/^(?:\s*(?:re|fwd?|aw|wg|tr|sv|vs|antw|res|enc)\s*:)+/i, '')
  const line = plainLine(answered)
  const hasNumbers = /\d/.test(line)
  list.add('subject', hasNumbers ? withNumbers(line, answered) : line)
  const template = hasNumbers ? plainLine(answered.replaceAll(mixedToken, '0')) : line
  const words = template.split(' ').filter((word) => word !== '' && !/\d/.test(word))
  if (words.length > 1) list.add('subject-template', words.join(' '))
  if (words.length > startWordsMax) {
    list.add('subject-start', words.slice(0, startWordsMax).join(' '))
  }
  for (let at = 0; at + subjectWordsMax <= words.length; at++) {
    list.add('subject-words', words.slice(at, at + subjectWordsMax).join(' '))
  }
}

const mixedToken = /\b(?=\w{0,40}\d)(?=\w{0,40}[a-z])\w{6,40}\b/gi

/**
 * Keeps the numbers of a subject, which distinguish subjects; a number between letters is not kept.
 */
function withNumbers(line: string, subject: string): string {
  const numbers = withoutMarks(subject).match(/(?<![a-z0-9])\d+(?![a-z])/gi)
  return numbers ? `${line} #${numbers.join(' ')}` : line
}

function addMessageId(list: ShingleList, value: string | undefined): void {
  if (value === undefined) return
  const id = /<([^<>]{1,998})>/.exec(value.slice(0, valueCharsMax))?.[1] ?? value.trim()
  const at = id.lastIndexOf('@')
  const domain = id.slice(at + 1).toLowerCase()
  if (at >= 0) {
    list.add('message-id-domain', domain)
    list.add('message-id-organization', registrableDomain(domain))
  }
  list.add('message-id-shape', shapeOf(at < 0 ? id : id.slice(0, at)))
}

function addMailer(list: ShingleList, fields: readonly HeaderField[]): void {
  const mailer = fieldValue(fields, 'x-mailer') ?? fieldValue(fields, 'user-agent')
  if (mailer === undefined) return
  list.add('mailer', decodeHeaderText(mailer.slice(0, 200)).toLowerCase())
  const family = plainLine(mailer.slice(0, 200).replace(/[\d.]+.*$/, ''))
  list.add('mailer-family', family)
}

/** Fields added by relays. They say nothing about the author. */
const relayFields = new RegExp(
  `^(?:${[
    'received|return-path|delivered-to|authentication-results|dkim-signature|arc-|x-ms-',
    'x-microsoft|x-forefront|x-google|x-gm-|x-pm-|x-spam|x-sender-ip|x-originating|x-incoming',
    'x-eop|x-received|x-sid-|x-exchange|x-virus|x-mozilla',
  ].join('|')})`,
)

const isOfRelay = remembered((key) => relayFields.test(key), { max: 1000, charsMax: 128 })

const usual = new Set(['message-id', 'mime-version', 'reply-to', 'content-transfer-encoding'])

function addWriting(list: ShingleList, fields: readonly HeaderField[]): void {
  const own = fields.filter(({ key }) => !isOfRelay(key)).slice(0, namesMax)
  if (own.length === 0) return
  const names = own.map(({ key }) => key)
  list.add('header-order', names.join(' '))
  list.add('header-names', [...new Set(names)].sort().join(' '))
  const spelled = own.filter(({ key }) => usual.has(key)).map(({ name }) => name)
  list.add('header-case', spelled.sort().join(' '))
  for (const name of names) if (name.startsWith('x-')) list.add('unusual-field', name)
}

function addContentType(list: ShingleList, fields: readonly HeaderField[]): void {
  const type = fieldValue(fields, 'content-type')?.slice(0, valueCharsMax)
  const encoding = fieldValue(fields, 'content-transfer-encoding')?.slice(0, 40).toLowerCase()
  if (type === undefined) return
  const boundary = /boundary\s{0,9}=\s{0,9}(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(type)
  const value = boundary?.[1] ?? boundary?.[2]
  const charset = /charset\s{0,9}=\s{0,9}"?([\w-]{1,40})/i.exec(type)?.[1]?.toLowerCase()
  if (charset !== undefined) list.add('charset', `${charset} ${encoding ?? ''}`)
  list.add('content-shape', value === undefined ? type : type.replace(value, '*'))
  if (value !== undefined) list.add('boundary-shape', shapeOf(value))
}
