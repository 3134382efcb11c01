import { domainToASCII } from 'node:url'
import { customersDomain, domainOf, publicDomain, registrableDomain } from '../mail/address.ts'
import { parseIp } from '../mail/ip.ts'
import { type Codes, codeInText, redactedDomain, wholeCode } from './codes.ts'
import { isDense, lettered, withoutEncodedBlocks, withoutSpelling } from './encodings.ts'
import type { FindOptions, Place } from './find-needles.ts'
import { type Identity, isMailboxProvider, untagged } from './identity.ts'
import { LinkWriter, personalIn } from './link-writer.ts'
import { decoded, plainText, withoutAccents, withoutHz } from './plain-forms.ts'
import { isMachineMade, isReadable, mailboxPieces } from './readable.ts'
import { between, eachSuspect, hasPath, trimmed } from './text-words.ts'

export type ConcealOptions = {
  identity: Identity
  codes: Codes
  /** Registrable domains of the consumer, which issued the identifiers under them. */
  issuers?: readonly string[]
  /** Whether independent reporters share a part of a link. */
  isShared?: ((part: string) => boolean) | undefined
  /** The addresses in List-Unsubscribe, which belong to one recipient. */
  unsubscribing?: readonly string[]
}

/** `labelMin` as for `host`; without it, hosts are usual words. */
type WordOptions = FindOptions & { labelMin?: number }

/** Writes the parts of one message for one consumer, without anything that identifies people. */
export class Concealer {
  readonly #identity: Identity
  readonly #codes: Codes
  readonly #issuers: ReadonlySet<string>
  readonly #isShared: ((part: string) => boolean) | undefined
  readonly isPersonal: (part: string) => boolean
  readonly #links = new LinkWriter(this)
  /** A message repeats most of its addresses, and each of its hosts in the next Received field. */
  readonly #mailboxes = new Map<string, string>()
  readonly #hosts = new Map<string, string>()

  constructor({ identity, codes, issuers = [], isShared, unsubscribing = [] }: ConcealOptions) {
    this.isPersonal = personalIn(unsubscribing)
    this.#identity = identity
    this.#codes = codes
    this.#issuers = new Set(issuers)
    this.#isShared = isShared
  }

  /** Whether a part of a link is shown although it is no word; never if it names a person. */
  readonly isShared = (part: string): boolean => {
    if (this.#isShared?.(part) !== true) return false
    const plain = decoded(part)
    const spelled = (['base64', 'hex'] as const).map((form) => Buffer.from(plain, form).toString())
    return [plain, ...spelled].every((text) => this.people(text, { isLink: true }) === text)
  }

  /** Whether the consumer gets identifiers back. */
  get isForIssuer(): boolean {
    return this.#issuers.size > 0
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
    `${this.#codes.ofPerson(untagged(address))}@${redactedDomain}`

  /** A text in which only people are concealed. */
  readonly people = (text: string, options?: FindOptions): string =>
    replaced(text, this.#identity.find(text, options), {
      codes: this.#codes,
      isOwnHost: this.#identity.isOwnHost,
    })

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

  readonly fileName = (name: string): string =>
    this.#links.path(this.people(plainText(name), { isLink: true }))

  /** A host name: the registrable domain stays, and so do labels shorter than `labelMin`. */
  readonly host = (name: string, labelMin = 0): string =>
    known(this.#hosts, `${labelMin} ${name}`, () => this.#newHost(name, labelMin))

  #newHost(name: string, labelMin: number): string {
    if (this.#identity.isOwnHost(name)) return `${this.#codes.ofPerson(name)}.invalid`
    if (name.startsWith('[')) {
      return parseIp(name.slice(1, -1).replace(/^ipv6:/i, '')) ? name : this.token(name)
    }
    if (parseIp(name)) return name
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
  readonly mailbox = (address: string): string =>
    known(this.#mailboxes, address, () => this.#newMailbox(address))

  #newMailbox(address: string): string {
    const at = address.lastIndexOf('@')
    if (at < 0) return this.#mailboxName(this.people(address, { isLink: true }))
    const domain = address.slice(at + 1)
    if (this.#identity.isOwn(address)) return this.person(address)
    if (domain === redactedDomain || this.isIssuer(domain)) return address
    const named = this.people(address, { keepsDomain: true, isLink: true })
    if (wholeCode.test(named)) return `${named}@${redactedDomain}`
    if (!named.includes('@')) return named
    const local = this.people(named.slice(0, named.lastIndexOf('@')), { isLink: true })
    // An account of a provider of mailboxes belongs to the author; nobody makes one per recipient.
    const isAccount = isMailboxProvider(domain.toLowerCase())
    return `${isAccount ? local : this.#mailboxName(local)}@${this.host(asciiOf(domain))}`
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
    if (labelMin !== undefined && !text.includes('%')) {
      const isHost = () => publicDomain(text.toLowerCase().replace(/[;,:]+$/, '')) !== undefined
      if (isDense(text) && !isHost()) return this.token(text)
      return between(text, hostShape, (name) => this.host(name, labelMin), this.#loose)
    }
    if (text.startsWith('/')) return this.#links.path(text)
    return hasPath(text) ? trimmed(text, this.link) : this.#loose(text)
  }

  readonly #loose = (text: string): string => {
    if (!mayBeIdentifier.test(text)) return text
    return this.#plainly(text, (one) =>
      isDense(one) ? this.token(one) : this.#pieces(one, (run) => !isMachineMade(run)),
    )
  }

  #mailboxName(local: string): string {
    return this.#plainly(local, (one) => {
      if (isDense(one)) return this.token(one)
      const isWord = mailboxPieces(one)
      return this.#pieces(one, (piece) => isWord(piece) && !this.isPersonal(piece))
    })
  }

  #labels(name: string, labelMin: number): string {
    if (isDense(name)) return this.token(name)
    const named = withoutSpelling(this.people(name, { isLink: true }), this.token)
    const isShown = (one: string) => {
      if (labelMin > 0) return one.length < labelMin || isReadable(withoutIp(one), 'label')
      return isReadable(one, 'label') && !this.isPersonal(one)
    }
    const labels = named
      .split('.')
      .map((label) =>
        between(label, codeInText, asItIs, (one) =>
          isShown(one) || (one === label && this.isShared(one)) ? one : this.token(one),
        ),
      )
    return labels.join('.')
  }

  /** Codes the runs of letters and digits that are not kept. */
  #pieces(text: string, isKept: (piece: string) => boolean): string {
    return between(text, codeInText, asItIs, (rest) =>
      rest.replace(piece, (one) => (isKept(one) ? one : this.token(one))),
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
const piece = /[A-Za-z\d]+/g
/** Shorter runs of letters and digits are no identifiers unless they are encoded. */
const mayBeIdentifier = /[A-Za-z\d]{6}|[%\\=&+#.]|[^\0-\x7f]/
const KNOWN_MAX = 1_000

/** Returns what is known of a text, or makes and remembers it. */
function known(all: Map<string, string>, text: string, make: () => string): string {
  const earlier = all.get(text)
  if (earlier !== undefined) return earlier
  const made = make()
  if (all.size < KNOWN_MAX) all.set(text, made)
  return made
}

const hostShape = /(?<![\w.-])(?:[\w-]{1,200}\.)+[A-Za-z][\w-]{1,200}/g
const addressShape = /(?<![^\s@<>:;,"])[^\s@<>:;,"]{1,128}@[\p{L}\p{N}.-]{1,253}/gu

/** A label of a machine without the address that is part of it: `ip-192-0-2-7`. */
function withoutIp(label: string): string {
  return label.replace(/\d{1,3}(?:[-_]\d{1,3}){3}/, '')
}

/** Replaces the places where people are named by their codes, except within the evidence. */
function replaced(
  text: string,
  places: readonly Place[],
  { codes, isOwnHost }: Pick<Identity, 'isOwnHost'> & { codes: Codes },
): string {
  if (places.length === 0) return text
  const evidence = evidenceIn(text, isOwnHost)
  const isFree = ({ start, end, owner, isProven }: Place) => {
    if (isProven) return true
    const its = registrableDomain(domainOf(owner) ?? owner)
    return evidence.every((one) => end <= one.start || start >= one.end || one.domain === its)
  }
  let result = ''
  let done = 0
  for (const place of places) {
    if (place.start < done || !isFree(place)) continue
    result += text.slice(done, place.start) + codes.ofPerson(place.owner)
    done = place.end
  }
  return result + text.slice(done)
}

/** Where an address of a machine or a registrable domain is in a text. */
type Evidence = { start: number; end: number; domain: string }

const evidenceShape = new RegExp(
  [
    /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])/,
    /(?<![\p{L}\p{N}_.-])(?:[\w-]{1,63}\.){1,20}[A-Za-z]{2,24}(?![\p{L}\p{N}_-])/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
)

/**
 * Returns the addresses of machines and the registrable domains in a text: the sender may choose a
 * recipient whose name is part of them. The domains of the reporter are no evidence.
 */
function evidenceIn(text: string, isOwnHost: Identity['isOwnHost']): Evidence[] {
  if (!text.includes('.')) return []
  return Array.from(text.matchAll(evidenceShape)).flatMap(({ 0: found, index }) => {
    const end = index + found.length
    if (/^[\d.]+$/.test(found)) return [{ start: index, end, domain: found }]
    const domain = publicDomain(found.toLowerCase())
    return domain === undefined || isOwnHost(domain)
      ? []
      : [{ start: end - domain.length, end, domain }]
  })
}

/** An IP address that is written as one number or in hexadecimal, as browsers read it. */
function canonicalIp(name: string): string | undefined {
  const read = URL.parse(`http://${name}/`)?.hostname
  return read !== undefined && parseIp(read) ? read : undefined
}

function asciiOf(domain: string): string {
  return /^[\0-\x7f]*$/.test(domain) ? domain : domainToASCII(domain) || domain
}
