import {
  domainOf,
  parseMailboxes,
  registrableDomain,
  registrableDomainOf,
} from '../../mail/address.ts'
import { decodeHeaderText } from '../../mail/encoded-word.ts'
import { fieldValue, type HeaderField } from '../../mail/header.ts'
import { unsubscribeUris } from '../../mail/list-unsubscribe.ts'
import type { Attachment } from '../attachment.ts'
import { plainLinks } from '../disguise/plain-link.ts'
import { plainLine } from '../disguise/plain-text.ts'
import { lookPieces } from '../looks.ts'
import { shapeOf, withoutTokens } from './header-shingles.ts'
import type { ShingleList } from './shingle-list.ts'

/** A verified DKIM signature. */
export type Signer = { domain: string; selector: string }

const valueCharsMax = 4000
const signaturesMax = 8
/** Maximum length of the text in which the first mailbox of a list must end. */
const mailboxCharsMax = 600

/** Adds the author, the reply address, the return path and the signers. */
export function addAddresses(
  list: ShingleList,
  fields: readonly HeaderField[],
  signers: readonly Signer[],
): void {
  const from = firstMailbox(fields, 'from')
  addAddress(list, 'author', from?.address)
  list.add('author-local-part', withoutTokens(from?.address.split('@', 1)[0] ?? ''))
  const name = from?.name === undefined ? '' : plainLine(from.name)
  list.add('author-name', name)
  const organization = organizationOf(from?.address)
  if (name !== '' && organization !== undefined) {
    list.add('author-name-and-organization', `${name} ${organization}`)
  }
  addAddress(list, 'reply-to', firstMailbox(fields, 'reply-to')?.address)
  const sender = firstMailbox(fields, 'sender')?.address
  list.add('sender-address', sender)
  list.add('sender-organization', organizationOf(sender))
  addReturnPath(list, firstMailbox(fields, 'return-path')?.address)
  const recipient = firstMailbox(fields, 'to')?.address
  list.add('recipient-domain', recipient === undefined ? undefined : domainOf(recipient))
  addSigners(list, fields, signers)
  addLists(list, fields)
}

function addAddress(list: ShingleList, whose: 'author' | 'reply-to', address?: string): void {
  if (address === undefined) return
  list.add(`${whose}-address`, address)
  list.add(`${whose}-domain`, domainOf(address))
  list.add(`${whose}-organization`, organizationOf(address))
}

/**
 * Adds the return path. Parts that identify the individual message and its recipient (VERP) are
 * replaced by placeholders.
 */
export function addReturnPath(list: ShingleList, address?: string): void {
  if (address === undefined) return
  const local = address.slice(0, address.lastIndexOf('@'))
  const domain = domainOf(address)
  list.add('return-path-address', `${withoutTokens(local)}@${domain ?? ''}`)
  list.add('return-path-domain', domain)
  list.add('return-path-organization', organizationOf(address))
  list.add('return-path-shape', shapeOf(local))
}

function addSigners(
  list: ShingleList,
  fields: readonly HeaderField[],
  signers: readonly Signer[],
): void {
  const signatures = fields.filter(({ key }) => key === 'dkim-signature').slice(0, signaturesMax)
  for (const { value } of signatures) {
    const signature = value.slice(0, valueCharsMax)
    const domain = tagOf(signature, domainTag)?.toLowerCase()
    addSigner(list, 'claimed-signer', domain, tagOf(signature, selectorTag))
    list.add('claimed-signer-identity', tagOf(signature, identityTag)?.toLowerCase())
  }
  for (const { domain, selector } of signers) addSigner(list, 'signer', domain, selector)
}

function addSigner(
  list: ShingleList,
  whose: 'signer' | 'claimed-signer',
  domain?: string,
  selector?: string,
): void {
  if (domain === undefined) return
  list.add(`${whose}-domain`, domain)
  list.add(`${whose}-organization`, registrableDomain(domain))
  if (selector !== undefined) list.add(`${whose}-key`, `${domain} ${selector.toLowerCase()}`)
}

/** Returns the value of a tag of a DKIM signature (RFC 6376 §3.2). */
function tagOf(signature: string, tag: RegExp): string | undefined {
  return tag.exec(signature)?.[1]
}

const domainTag = /(?:^|;)\s{0,9}d\s{0,9}=\s{0,9}([^;\s]{1,255})/
const selectorTag = /(?:^|;)\s{0,9}s\s{0,9}=\s{0,9}([^;\s]{1,255})/
const identityTag = /(?:^|;)\s{0,9}i\s{0,9}=\s{0,9}([^;\s]{1,255})/

function addLists(list: ShingleList, fields: readonly HeaderField[]): void {
  const written = fieldValue(fields, 'list-id')?.slice(0, valueCharsMax)
  if (written !== undefined) {
    const id = (/<([^<>]{1,255})>/.exec(written)?.[1] ?? written).trim().toLowerCase()
    list.add('list-id', id)
    list.add('list-organization', registrableDomain(id))
  }
  const feedbackId = fieldValue(fields, 'feedback-id')?.trim()
  list.add('feedback-id', feedbackId?.slice(0, 300))
  for (const url of unsubscribeUris(fields)) {
    if (/^mailto:/i.test(url)) {
      const address = url.slice(7).split('?', 1)[0]
      list.add('unsubscribe-organization', organizationOf(address))
    } else addUnsubscribeLink(list, url)
  }
}

function addUnsubscribeLink(list: ShingleList, url: string): void {
  for (const { host, organization } of plainLinks(url)) {
    list.add('unsubscribe-host', host)
    list.add('unsubscribe-organization', organization)
  }
}

function organizationOf(address: string | undefined): string | undefined {
  return address === undefined ? undefined : registrableDomainOf(domainOf(address))
}

function firstMailbox(fields: readonly HeaderField[], key: string) {
  const value = fieldValue(fields, key)?.slice(0, mailboxCharsMax)
  const mailbox = value === undefined ? undefined : parseMailboxes(value)[0]
  if (!mailbox) return undefined
  const address = decodeHeaderText(mailbox.address).toLowerCase().replace(/\.$/, '')
  return { name: decodeHeaderText(mailbox.name), address }
}

/**
 * Minimum size of a counted file in bytes. Smaller files are spacer images in signatures, or empty
 * parts.
 */
const bytesMin = 20

/** Adds attached and embedded files, and the look of the largest picture. */
export function addFiles(
  list: ShingleList,
  attachments: readonly Attachment[],
  look?: string,
): void {
  const types = new Set<string>()
  for (const { name, type, bytes, sha256 } of attachments) {
    if (bytes < bytesMin) continue
    if (type.startsWith('image/')) {
      list.add('image', sha256)
      list.add('image-type-and-size', `${type} ${bytes}`)
      continue
    }
    types.add(type)
    list.add('attachment', sha256)
    list.add('attachment-type-and-size', `${type} ${bytes}`)
    if (name !== null) addName(list, name, type)
  }
  list.add('attachment-set', [...types].sort().join(' '))
  if (look !== undefined) for (const piece of lookPieces(look)) list.add('picture-look', piece)
}

function addName(list: ShingleList, name: string, type: string): void {
  const dot = name.lastIndexOf('.')
  const extension = dot < 0 ? '' : name.slice(dot + 1, dot + 12).toLowerCase()
  const stem = dot < 0 ? name : name.slice(0, dot)
  list.add('attachment-extension', `${extension} ${type}`)
  list.add('attachment-name', `${plainLine(stem)}.${extension}`)
  list.add('attachment-name-shape', `${withoutTokens(stem)}.${extension}`)
}
