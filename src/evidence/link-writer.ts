import { customersDomain } from '../mail/address.ts'
import { parseIp } from '../mail/ip.ts'
import { shorteners } from '../pieces/features/material.ts'
import { anyCode, codeInText } from './codes.ts'
import { isDense, withoutSpelling } from './encodings.ts'
import type { FindOptions } from './find-needles.ts'
import { decoded, plainText } from './plain-forms.ts'
import { isReadable } from './readable.ts'
import { between } from './text-words.ts'

const LINK_DEPTH_MAX = 3
const LINKS_MAX = 5_000

type LinkParts = {
  host: (name: string) => string
  mailbox: (address: string) => string
  token: (text: string) => string
  people: (text: string, options?: FindOptions) => string
  isIssuer: (host: string) => boolean
  /** Whether a part that is no word stays, because it cannot identify a recipient. */
  isShared: (part: string) => boolean
  /** Whether a part that reads like a word or a number is known to be of one recipient. */
  isPersonal: (part: string) => boolean
}

/** Writes links: scheme, host, and the parts of path and query that are words. */
export class LinkWriter {
  readonly #concealer: LinkParts
  /** A message repeats most of its links, and so does the text about it. */
  readonly #known = new Map<string, string>()

  constructor(concealer: LinkParts) {
    this.#concealer = concealer
  }

  write(url: string, depth = 0): string {
    const known = this.#known.get(url)
    if (known !== undefined) return known
    const written = this.#newLink(plainText(url), depth)
    if (this.#known.size < LINKS_MAX) this.#known.set(url, written)
    return written
  }

  /** A path in which people are concealed already. */
  path(path: string, depth = 0): string {
    return path.replace(/[^/\\;=&,!|]+/g, (segment) => {
      if (isNested(segment)) return this.#nested(segment, depth)
      const ending = fileEnding.exec(segment)?.[0] ?? ''
      const stem = ending === '' ? segment : segment.slice(0, -ending.length)
      return this.#part(stem, 'path') + ending
    })
  }

  #newLink(url: string, depth: number): string {
    const { host, token, isIssuer, people } = this.#concealer
    const [, scheme = '', slashes = '', authority = '', rest = ''] =
      /^([a-z][a-z\d+-]{0,20}:)?([\\/]{2})?([^/?#\\]*)(.*)$/is.exec(url) ?? []
    if (/^mailto:$/i.test(scheme)) return this.#mailto(authority + rest)
    const isPlace = scheme === '' || /^(?:https?|ftp|wss?|hxxps?):$/i.test(scheme)
    // Other schemes may carry anything: `tel:`, `sms:`, `data:`, `javascript:`.
    if (!isPlace) {
      const shown = usualSchemes.test(scheme) ? scheme : 'other:'
      return `${shown}${token(authority + rest)}`
    }
    const at = authority.lastIndexOf('@')
    const [name = '', port] = authority.slice(at + 1).split(/:(?=\d*$)/)
    const user = at < 0 ? '' : `${token(authority.slice(0, at))}@`
    const where = `${scheme}${slashes}${user}${host(name)}${portOf(port)}`
    if (isIssuer(name)) return where + people(rest, { isLink: true })
    // Without its short path, a link of a shortener leads nowhere.
    const isShort = shorteners.has(name.toLowerCase()) && /^[/][\w-]{1,12}$/.test(rest)
    return where + (isShort ? people(rest, { isLink: true }) : this.#tail(rest, depth))
  }

  #mailto(rest: string): string {
    const [, address = '', query = ''] = /^([^?]*)(.*)$/s.exec(rest) ?? []
    return `mailto:${this.#concealer.mailbox(decoded(address))}${this.#tail(query, 0)}`
  }

  /** The path, query and fragment of a link. */
  #tail(rest: string, depth: number): string {
    if (rest === '') return ''
    const { people, token } = this.#concealer
    // A path that ends with `=` is cut at a soft line break, perhaps within a name.
    const whole = rest.includes('?') ? rest : rest.replace(/[^/]{1,200}=$/, token)
    const named = withoutSpelling(people(whole, { isLink: true }), token)
    const [, path = '', query = ''] = /^([^?#]*)(.*)$/s.exec(named) ?? []
    return this.path(path, depth) + this.#query(query, depth)
  }

  #query(query: string, depth: number): string {
    return query.replace(/[^?#&;=]+/g, (text, at: number) => {
      const isName = query[at + text.length] === '=' && query[at - 1] !== '='
      if (isName) return this.#part(text, 'path')
      return isNested(text) ? this.#nested(text, depth) : this.#part(text, 'query')
    })
  }

  #part(text: string, kind: 'path' | 'query'): string {
    const { token, isShared, isPersonal } = this.#concealer
    const write = (one: string) => {
      const plain = decoded(one)
      if (isReadable(plain, kind) && !isDense(plain) && !isPersonal(plain)) return one
      // What remains of a part in which a person was concealed is never shared.
      return one === text && isShared(one) ? one : token(one)
    }
    return between(text, codeInText, (code) => code, write)
  }

  #nested(text: string, depth: number): string {
    const inner = decoded(text)
    if (depth >= LINK_DEPTH_MAX) return this.#concealer.token(text)
    if (inner === text) return this.write(text, depth + 1)
    return encodeURIComponent(this.write(inner, depth + 1))
  }
}

/** Longer parts are not shared. */
const PART_CHARS_MAX = 200
const LINKS_READ_MAX = 100
/** Maximum number of parts of a message that are compared with those of others. */
const CODED_PARTS_MAX = 32

/**
 * Returns a function that recognizes the parts of links that contain something of the addresses for
 * unsubscribing: a run of at least three letters and digits, at least one of them a digit. Each
 * recipient has another such address, in which a short number, or what looks like the name of a
 * page, stands for a person.
 */
export function personalIn(unsubscribing: readonly string[]): (part: string) => boolean {
  const runs = new Set<string>()
  for (const uri of unsubscribing) {
    const [, host = '', rest = ''] =
      /^(?:https?:[\\/]{2}([^\\/?#]*)|mailto:)?(.*)$/is.exec(uri) ?? []
    const own = parseIp(host) ? '' : ownLabels(host)
    for (const run of runsIn(`${own} ${rest}`)) runs.add(run)
  }
  return (part) => runs.size > 0 && runsIn(part).some((run) => runs.has(run))
}

/** The labels of a host before the domain of a customer, with the dot after them. */
function ownLabels(host: string): string {
  const domain = customersDomain(host.toLowerCase())
  return domain === undefined ? host : host.slice(0, -domain.length)
}

function runsIn(text: string): string[] {
  const runs = decoded(plainText(text)).match(/[\p{L}\d]{3,}/gu) ?? []
  return runs.filter((run) => /\d/.test(run))
}

/**
 * Returns the first parts of links that would be replaced by codes, as they are written.
 * `unsubscribing`: the addresses in List-Unsubscribe.
 */
export function codedParts(
  urls: readonly string[],
  unsubscribing: readonly string[] = [],
): string[] {
  const isPersonal = personalIn(unsubscribing)
  const parts = new Set<string>()
  const add = (part: string) => {
    if (part.length <= PART_CHARS_MAX) parts.add(part)
    return false
  }
  const asItIs = (text: string) => text
  const writer = new LinkWriter({
    ...{ mailbox: asItIs, people: asItIs, isIssuer: () => false, isPersonal },
    host: (name) => {
      for (const label of ownLabels(name).split('.')) {
        if (!isReadable(label, 'label') || isPersonal(label)) add(label)
      }
      return name
    },
    token: () => anyCode,
    isShared: add,
  })
  for (const url of urls.slice(0, LINKS_READ_MAX)) {
    if (parts.size >= CODED_PARTS_MAX) break
    writer.write(url)
  }
  return [...parts].slice(0, CODED_PARTS_MAX)
}

const fileEnding = new RegExp(
  '\\.(?:[sx]?html?|php\\d?|aspx?|jsp|cgi|css|js|png|jpe?g|gif|svg|webp|ico|pdf|zip|rar|7z|docx?|' +
    'xlsx?|pptx?|exe|apk|txt|xml|json|ics|eml|mp[34])$',
  'i',
)

const usualSchemes = new RegExp(
  '^(?:tel|sms|callto|whatsapp|tg|viber|skype|intent|market|bitcoin|ethereum|data|javascript|cid|' +
    'file|geo|webcal|magnet|sftp|ms-[a-z]{2,12}|itms-apps|fax|sip|about|blob|xmpp|news|irc):$',
  'i',
)

/** A port is shown unless it has so many digits that each recipient may have another. */
function portOf(port: string | undefined): string {
  if (port === undefined) return ''
  return port.length < 5 ? `:${port}` : ':0'
}

/** Whether a part of a link is a link. */
function isNested(text: string): boolean {
  return /^(?:https?|ftp)(?::|%3a|%253a)/i.test(text)
}
