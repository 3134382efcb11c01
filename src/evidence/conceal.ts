import { customersDomain, publicDomain, registrableDomain } from '../mail/address.ts'
import { parseIp } from '../mail/ip.ts'
import { freeMailDomains } from '../pieces/features/material.ts'
import { type Codes, codeShape, redactedDomain } from './codes.ts'
import { isDense, lettered, withoutEncodedBlocks, withoutSpelling } from './encodings.ts'
import type { Place } from './find-needles.ts'
import type { FindOptions, Identity } from './identity.ts'
import { LinkWriter } from './link-writer.ts'
import { decoded, plainText, withoutAccents, withoutHz } from './plain-forms.ts'
import { isMachineMade, isReadable, mailboxPieces } from './readable.ts'
import { between, eachSuspect, hasPath, trimmed } from './text-words.ts'

/** How to conceal. */
export type ConcealOptions = {
  identity: Identity
  codes: Codes
  /** Registrable domains of the consumer, which issued the identifiers under them. */
  issuers?: readonly string[]
}

/** `labelMin` as for `host`; without it, hosts are usual words. */
type WordOptions = FindOptions & { labelMin?: number }

/** Writes the parts of one message for one consumer, without anything that identifies people. */
export class Concealer {
  readonly #identity: Identity
  readonly #codes: Codes
  readonly #issuers: ReadonlySet<string>
  readonly #links = new LinkWriter(this)

  constructor({ identity, codes, issuers = [] }: ConcealOptions) {
    this.#identity = identity
    this.#codes = codes
    this.#issuers = new Set(issuers)
  }

  /** Whether identifiers of a host stay, because the consumer issued them. */
  readonly isIssuer = (host: string): boolean => {
    if (this.#issuers.size === 0) return false
    return this.#issuers.has(registrableDomain(host.toLowerCase()) ?? '')
  }

  /** An identifier, as one code. */
  readonly token = (text: string): string => this.#codes.ofToken(decoded(text))

  /** The code of a recipient, as an address. */
  readonly person = (address: string): string =>
    `${this.#codes.ofPerson(address)}@${redactedDomain}`

  /** A text in which only people are concealed. */
  readonly people = (text: string, options?: FindOptions): string =>
    replaced(text, this.#identity.find(text, options), this.#codes)

  /** A text for people: its links, addresses and machine-made words are concealed as well. */
  readonly text = (text: string): string =>
    this.words(plainText(withoutEncodedBlocks(withoutHz(text))))

  /** A text that software wrote. */
  readonly words = (text: string, options: WordOptions = {}): string => {
    const { labelMin } = options
    const isAboutHosts = labelMin !== undefined
    const named = this.people(text, isAboutHosts ? { ...options, keepsDomain: true } : options)
    const whole = withoutSpelling(named, this.token).replace(lettered, (one) =>
      /\d/.test(one) ? this.token(one) : one,
    )
    const written = eachSuspect(whole, (one) => this.#word(one, labelMin))
    return isAboutHosts ? this.people(written, options) : written
  }

  /** A link to the web or to another program. */
  readonly link = (url: string): string => this.#links.write(url)

  /** The name of a file. */
  readonly fileName = (name: string): string =>
    this.#links.path(this.people(plainText(name), { isLink: true }))

  /** A host name: the registrable domain stays, and so do labels shorter than `labelMin`. */
  readonly host = (name: string, labelMin = 0): string => {
    if (this.#identity.isOwnHost(name)) return `${this.#codes.ofPerson(name)}.invalid`
    if (name.startsWith('[') || parseIp(name)) return name
    if (/^(?:0x[\da-f]{1,8}|\d{8,10})$/i.test(name)) return canonicalIp(name) ?? this.token(name)
    const domain = customersDomain(name.toLowerCase())
    if (domain === undefined) return this.#labels(name, Math.min(labelMin, 1))
    const own = name.slice(0, -domain.length - 1)
    if (own === '') return name
    return `${this.#labels(own, labelMin)}.${name.slice(-domain.length)}`
  }

  /** The selector of a key, or another name without a registrable domain. */
  readonly selector = (name: string): string => this.#labels(name, 0)

  /** An address of the sender's side: the domain stays, and so do the words before it. */
  readonly mailbox = (address: string): string => {
    const at = address.lastIndexOf('@')
    if (at < 0) return this.#mailboxName(this.people(address, { isLink: true }))
    const domain = address.slice(at + 1)
    if (this.#identity.isOwn(address)) return this.person(address)
    if (domain === redactedDomain || this.isIssuer(domain)) return address
    const named = this.people(address, { keepsDomain: true, isLink: true })
    if (!named.includes('@')) return `${named}@${redactedDomain}`
    const local = this.people(named.slice(0, named.lastIndexOf('@')), { isLink: true })
    // An account of a provider of mailboxes belongs to the author; nobody makes one per recipient.
    const isAccount = freeMailDomains.has(domain.toLowerCase())
    return `${isAccount ? local : this.#mailboxName(local)}@${this.host(domain)}`
  }

  /** A Message-ID with or without angle brackets: the host stays. */
  readonly messageId = (id: string): string => {
    const [, local = '', name = ''] = /^<?([^@>]*)(?:@([^>]*))?>?$/s.exec(id.trim()) ?? []
    if (name !== '' && this.isIssuer(name)) return id.trim()
    return `<${this.token(local)}${name === '' ? '' : `@${this.host(name)}`}>`
  }

  #word(text: string, labelMin: number | undefined): string {
    if (text.includes('://') || /^(?:www\.|mailto:)/i.test(text)) return trimmed(text, this.link)
    if (text.includes(':') && parseIp(text)) return text
    if (text.includes('@')) return between(text, addressShape, this.mailbox, this.#loose)
    if (labelMin !== undefined) {
      const isHost = publicDomain(text.toLowerCase().replace(/[;,:]+$/, '')) !== undefined
      if (!isHost && isDense(text)) return this.token(text)
      return between(text, hostShape, (name) => this.host(name, labelMin), this.#loose)
    }
    if (text.startsWith('/')) return this.#links.path(text)
    return hasPath(text) ? trimmed(text, this.link) : this.#loose(text)
  }

  readonly #loose = (text: string): string =>
    this.#plainly(text, (one) =>
      isDense(one) ? this.token(one) : this.#pieces(one, (run) => !isMachineMade(run)),
    )

  #mailboxName(local: string): string {
    return this.#plainly(local, (one) =>
      isDense(one) ? this.token(one) : this.#pieces(one, mailboxPieces(one)),
    )
  }

  #labels(name: string, labelMin: number): string {
    if (isDense(name)) return this.token(name)
    const named = withoutSpelling(this.people(name, { isLink: true }), this.token)
    const isShown = (one: string) =>
      one.length < labelMin || isReadable(labelMin > 0 ? withoutIp(one) : one, 'label')
    const labels = named
      .split('.')
      .map((label) =>
        between(label, codeInText, asItIs, (one) => (isShown(one) ? one : this.token(one))),
      )
    return labels.join('.')
  }

  /** Codes the runs of letters and digits that are not kept. */
  #pieces(text: string, isKept: (piece: string) => boolean): string {
    return text.replace(piece, (one, code?: string) =>
      code === undefined && !isKept(one) ? this.token(one) : one,
    )
  }

  /** Writes a text; one that would be changed without escapes and accents is coded whole. */
  #plainly(text: string, write: (plain: string) => string): string {
    if (withoutSpelling(text, this.token) !== text) return this.token(text)
    const plain = withoutAccents(decoded(text))
    if (plain === text) return write(text)
    return write(plain) === plain ? text : this.token(text)
  }
}

const asItIs = (text: string) => text
const piece = new RegExp(`(${codeShape.source})|[A-Za-z0-9]+`, 'g')
const codeInText = new RegExp(codeShape, 'g')
const hostShape = /(?:[\w-]{1,200}\.)+[A-Za-z][\w-]{1,200}/g
const addressShape = /[^\s@<>:;,"]{1,128}@[\p{L}\p{N}.-]{1,253}/gu

/** A label of a machine without the address that is part of it: `ip-192-0-2-7`. */
function withoutIp(label: string): string {
  return label.replace(/\d{1,3}(?:[-_]\d{1,3}){3}/, '')
}

/** An IP address that is written as one number or in hexadecimal, as browsers read it. */
function canonicalIp(name: string): string | undefined {
  const read = URL.parse(`http://${name}/`)?.hostname
  return read !== undefined && parseIp(read) ? read : undefined
}

/** Replaces the places where people are named by their codes. */
function replaced(text: string, places: readonly Place[], codes: Codes): string {
  if (places.length === 0) return text
  const hosts = hostsIn(text)
  let result = ''
  let done = 0
  for (const { start, end, owner } of places) {
    if (start < done || hosts.some((host) => start >= host.start && end <= host.end)) continue
    result += text.slice(done, start) + codes.ofPerson(owner)
    done = end
  }
  return result + text.slice(done)
}

/**
 * Returns where the registrable domains of links are in a text: a spammer may give a host the name
 * of the recipient, and the host is the evidence.
 */
function hostsIn(text: string): { start: number; end: number }[] {
  if (!text.includes('//')) return []
  return Array.from(text.matchAll(/\/\/(?:[^\s/@?#]{1,200}@)?([\w.-]{1,253})/g), (found) => {
    const name = found[1] ?? ''
    const end = found.index + found[0].length
    return { start: end - (registrableDomain(name)?.length ?? name.length), end }
  })
}
