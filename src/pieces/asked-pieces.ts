import { parseMailboxes, registrableDomain } from '../mail/address.ts'
import type { HeaderField } from '../mail/header.ts'
import { parseIp } from '../mail/ip.ts'
import type { TracedHop } from '../origin/trace.ts'
import { phrase } from '../phrase.ts'
import type { Attachment } from './attachment.ts'
import { findMailAddresses, viewBody } from './body-view.ts'
import { plainLinks } from './disguise/plain-link.ts'
import { withoutMarks } from './disguise/plain-text.ts'
import type { Link } from './links.ts'
import { addAddresses, addFiles, type Signer } from './shingles/address-shingles.ts'
import { hexOf, shingleHash } from './shingles/hash.ts'
import { addHeader } from './shingles/header-shingles.ts'
import { type PieceName, pieceTypes } from './shingles/piece-types.ts'
import { ShingleList } from './shingles/shingle-list.ts'
import { addOrigin, type Way } from './shingles/take-apart.ts'
import { addContacts, addLinks, addTextShingles, addWholeText } from './shingles/text-shingles.ts'

/** Returns a draft with a link, which may be written defanged; undefined for other text. */
export function draftOfLink(value: string): Draft | undefined {
  const link = value.replaceAll(/^[<"'\s]+|[>"'\s]+$/g, '')
  const [plain] = plainLinks(link)
  if (!plain) return undefined
  return {
    links: [link],
    // A defanged address cannot be the source of a picture.
    html: imageHtml(`https://${plain.full}`),
    fields: { 'List-Unsubscribe': `<${link}>` },
  }
}

function imageHtml(link: string): string {
  const source = link.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  return `<img src="${source}">`
}

/**
 * Returns a draft with a mail address in every field where one may occur. The address may be
 * written as `user (at) host [dot] example`.
 */
export function draftOfAddress(value: string): Draft | undefined {
  const address = mailAddressIn(value)
  if (address === undefined) return undefined
  const mailbox = `<${address}>`
  return {
    fields: { From: mailbox, 'Reply-To': mailbox, 'Return-Path': mailbox, Sender: mailbox },
    text: address,
  }
}

/**
 * Returns the mail address in a text that contains exactly one, in lower case; it may be obfuscated
 * or have a display name. Undefined for other text.
 */
export function mailAddressIn(value: string): string | undefined {
  const [mailbox, ...more] = parseMailboxes(value.replace(/^mailto:/i, ''))
  const isWhole = mailbox !== undefined && /^[^\s@]+@[^\s@]+$/.test(mailbox.address)
  if (isWhole && more.length === 0 && !/[[(](?:at|dot|\.)[\])]/i.test(value)) {
    return mailbox.address.toLowerCase()
  }
  const found = findMailAddresses(withoutMarks(value))
  return found.length === 1 ? found[0] : undefined
}

/** Returns a draft with a domain in every field where one is counted. */
export function draftOfDomain(value: string): Draft | undefined {
  const domain = domainIn(value)
  if (domain === undefined) return undefined
  const [mailbox, link] = [`<someone@${domain}>`, `https://${domain}/`]
  return {
    fields: {
      From: mailbox,
      'Reply-To': mailbox,
      'Return-Path': mailbox,
      Sender: mailbox,
      To: mailbox,
      'Message-ID': `<1@${domain}>`,
      'List-Id': `<${domain}>`,
      'List-Unsubscribe': `<${link}>`,
      'DKIM-Signature': `v=1; d=${domain}`,
    },
    text: `someone@${domain}`,
    html: imageHtml(link),
    links: [link],
    signers: [{ domain, selector: '1' }],
    way: wayOf('192.0.2.1', { rdns: domain, helo: domain }),
  }
}

/**
 * Returns the host name that is the whole text, possibly obfuscated; in lower case, Punycode,
 * without `www.`.
 */
export function domainIn(value: string): string | undefined {
  const trimmed = value.trim().replace(/^[@.]/, '')
  const [link] = /[/@?#:]/.test(trimmed) ? [] : plainLinks(trimmed)
  return link && !link.isIp && registrableDomain(link.host) ? link.host : undefined
}

/**
 * Returns a draft with an IP address as origin, submitter, claimed hop and link. The address may be
 * written with `[.]`.
 */
export function draftOfIp(value: string): Draft | undefined {
  const ip = parseIp(value.trim().replaceAll(/\s*[[(]\.[\])]\s*/g, '.'))
  if (!ip) return undefined
  const link = `http://${ip.family === 6 ? `[${ip.text}]` : ip.text}/`
  return { way: wayOf(ip.text, {}), links: [link] }
}

/**
 * Returns a draft with a /24 (IPv4) or a /48 (IPv6); undefined for other text, because no other
 * networks are counted.
 */
export function draftOfNetwork(value: string): Draft | undefined {
  const [, address = '', bits] = /^\s*([^\s/]+)\/(24|48)\s*$/.exec(value) ?? []
  const ip = parseIp(address)
  if (!ip || bits !== (ip.family === 6 ? '48' : '24')) return undefined
  return draftOfIp(ip.text)
}

/**
 * Returns a draft with a machine as origin and as submitter, given its reverse DNS name and its
 * HELO name.
 */
export function draftOfMachine(names: { rdns?: string; helo?: string }): Draft {
  return { way: wayOf('192.0.2.1', names) }
}

function wayOf(ip: string, { rdns, helo }: { rdns?: string; helo?: string }): Way {
  const hop = (index: number, trust: TracedHop['trust']): TracedHop => ({
    index,
    from: { helo: helo ?? null, rdns: rdns ?? null, ip, port: null },
    by: { host: null, ip: null },
    with: null,
    id: null,
    for: null,
    at: null,
    auth: null,
    trust,
    because: null,
    notes: [],
  })
  return {
    hops: [hop(0, 'believed'), hop(1, 'claimed')],
    origin: { ip, hop: 0, confidence: 1, why: [] },
    submitter: { ip, how: phrase('submitter-in-seal', { provider: '', ip }), confidence: 1 },
  }
}

/** Returns a draft with a file as attachment and as picture, given its SHA-256. */
export function draftOfFile(value: string): Draft | undefined {
  const sha256 = value.trim().toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(sha256)) return undefined
  const file = { ...anyFile, sha256 }
  return { attachments: [file, { ...file, type: 'image/png' }] }
}

/** Returns a draft with an attached file of the given name. */
export function draftOfFileName(value: string): Draft {
  return { attachments: [{ ...anyFile, name: value.trim() }] }
}

const anyFile: Attachment = {
  name: null,
  type: 'application/octet-stream',
  bytes: 1_000,
  sha256: '',
}

/** Returns a draft whose author has the given display name, with or without an address. */
export function draftOfName(value: string): Draft {
  const [mailbox] = parseMailboxes(value)
  const hasAddress = /@/.test(mailbox?.address ?? '') && mailbox?.name !== ''
  // Encoded, so that no character has a special meaning in the header.
  const encoded = `=?utf-8?B?${Buffer.from(value.slice(0, 300)).toString('base64')}?=`
  return { fields: { From: hasAddress ? value : `${encoded} <someone@invalid>` } }
}

/**
 * Returns a draft with a DKIM signer: `example.com`, `selector._domainkey.example.com` or
 * `example.com selector`.
 */
export function draftOfSigner(value: string): Draft | undefined {
  const [, before, named] = /^\s*(\S+)\._domainkey\.(\S+)\s*$/i.exec(value) ?? []
  const [plain = '', after] = value.trim().split(/\s+/)
  const domain = domainIn(named ?? plain)
  if (domain === undefined) return undefined
  const selector = before ?? after
  const tags = [`d=${domain}`, ...(selector === undefined ? [] : [`s=${selector}`])]
  return {
    fields: { 'DKIM-Signature': `v=1; ${tags.join('; ')}` },
    signers: [{ domain, selector: selector ?? '' }],
  }
}

/** Returns a draft with a Message-ID, given completely or only by its domain. */
export function draftOfMessageId(value: string): Draft {
  const id = value.trim().replaceAll(/^<|>$/g, '')
  return { fields: { 'Message-ID': `<${id.includes('@') ? id : `@${id}`}>` } }
}

/** Returns a draft with an autonomous system: `AS64496` or only the number. */
export function draftOfAs(value: string): Draft | undefined {
  const number = Number(/^\s*(?:AS\s?)?(\d{1,10})\s*$/i.exec(value)?.[1])
  if (!(number <= 0xffffffff)) return undefined
  return { later: { 'origin-as': String(number), 'submitter-as': String(number) } }
}

/** Returns a draft with the id (a UUID) of a reporter or a campaign; undefined for other text. */
export function draftOfId(value: string, of: 'reporter' | 'campaign'): Draft | undefined {
  const id = value.trim().toLowerCase()
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)
    ? { later: { [of]: id } }
    : undefined
}

/** A piece to look up. */
export type AskedPiece = {
  name: PieceName
  /** The normalized text that is hashed. */
  piece: string
  /** 16 hexadecimal digits. */
  hash: string
}

/** A synthetic message that contains only the value to look up; see `questionKinds`. */
export type Draft = {
  /** Unicode values by field name. */
  fields?: Readonly<Record<string, string>>
  text?: string
  html?: string
  links?: readonly string[]
  attachments?: readonly Attachment[]
  signers?: readonly Signer[]
  way?: Way
  /** Pieces that are not in the message itself, already normalized. */
  later?: Readonly<Partial<Record<PieceName, string>>>
}

const nowhere: Way = { hops: [], origin: null, submitter: null }

/**
 * Returns the pieces of a draft that have one of the given types, in the order of the types. Uses
 * the same code as for real messages, so that the hashes equal those of the counters even if the
 * value is obfuscated.
 */
export function piecesOfDraft(draft: Draft, types: readonly PieceName[]): AskedPiece[] {
  const { text = '', html = '', links = [], attachments = [], signers = [] } = draft
  const fields = Object.entries(draft.fields ?? {}).map(fieldOf)
  const view = viewBody({ text, html })
  const list = new NotedList()
  addAddresses(list, fields, signers)
  addOrigin(list, draft.way ?? nowhere)
  addHeader(list, fields)
  addLinks(list, links.map(linkOf), view)
  addContacts(list, view)
  addFiles(list, attachments)
  addWholeText(list, view)
  addTextShingles(list, view)
  for (const [name, piece] of Object.entries(draft.later ?? {})) list.add(name as PieceName, piece)
  const found = list.noted()
  return types.flatMap((name) => found.filter((one) => one.name === name))
}

/** Returns a piece of a type from text that is already normalized. */
export function pieceAsWritten(name: PieceName, piece: string): AskedPiece {
  return { name, piece, hash: hexOf(shingleHash(pieceTypes[name].number, piece)) }
}

/** Maximum number of pieces of one type. Messages are limited to the same number for most types. */
const typeMax = 8

/** A shingle list that keeps the text of the pieces, which is otherwise hashed and discarded. */
class NotedList extends ShingleList {
  readonly #pieces = new Map<string, AskedPiece>()
  readonly #ofType = new Map<PieceName, number>()

  override add(name: PieceName, piece: string | null | undefined): void {
    if (piece === null || piece === undefined || piece === '') return
    // A signer without a selector has no key to look up.
    if (name === 'signer-key' && piece.endsWith(' ')) return
    const asked = pieceAsWritten(name, piece)
    const known = this.#ofType.get(name) ?? 0
    if (known >= typeMax || this.#pieces.has(asked.hash)) return
    this.#pieces.set(asked.hash, asked)
    this.#ofType.set(name, known + 1)
  }

  noted(): AskedPiece[] {
    return [...this.#pieces.values()]
  }
}

/** Builds a field as `parseHeader` does: unfolded, one character per byte. */
function fieldOf([name, text]: [string, string]): HeaderField {
  const value = Buffer.from(text.replaceAll(/[\r\n]+/g, ' ')).toString('latin1')
  return { name, key: name.toLowerCase(), value, raw: `${name}: ${value}` }
}

/** Builds a link with the target of a form, which is counted both as a link and as a form. */
function linkOf(url: string): Link {
  return { url, host: '', domain: null, where: 'form' }
}
