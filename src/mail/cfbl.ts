import { domainToASCII } from 'node:url'
import { domainOf, isSharedSuffix, parseMailboxes } from './address.ts'
import { decodeHeaderText } from './encoded-word.ts'
import type { FeedbackFormat } from './feedback-format.ts'
import { fieldValues, type HeaderField } from './header.ts'
import { authorAddress } from './message.ts'

/** An address to which a message requests complaints, and the requested report format. */
export type CfblAddress = {
  /** With its domain in lower case and in ASCII. */
  address: string
  /** `xarf` only when the message requests it. */
  format: FeedbackFormat
}

/** Why an address is not permitted. */
type CfblObstacle =
  | 'too-many-addresses'
  | 'address-invalid'
  | 'not-one-author'
  | 'no-valid-signature'
  | 'some-address-invalid'
  | 'author-signature-invalid'
  | 'address-not-covered'
  | 'own-signature-invalid'
  | 'address-not-covered-by-own'
  | 'fields-partly-covered'

/**
 * The complaint addresses that a message requests (RFC 9477), and whether its signatures permit
 * them.
 */
export type CfblFinding = {
  /** The permitted addresses in header order; empty when no signature counts. */
  addresses: CfblAddress[]
  /** The identifier to return with a complaint, without white space and comments. */
  feedbackId: string | null
  /** Why some or all of the addresses are not permitted. */
  obstacle: CfblObstacle | null
}

/** The properties of a DKIM signature that the rules in this file evaluate. */
export type CfblSignature = {
  /** d=, in lower case. */
  domain: string
  /** h=, in lower case, with repetitions. */
  covered: readonly string[]
  /** Whether the signature was valid, over the whole body, when the message was received. */
  isValid: boolean
}

const addressesMax = 5
const valueCharsMax = 2000
const idCharsMax = 500
const addressKey = 'cfbl-address'
const idKey = 'cfbl-feedback-id'

/**
 * Applies RFC 9477 §3.1 to a received message. The author's domain must have signed: a valid
 * signature of that domain, or of a domain above it, must cover every CFBL-Address and
 * CFBL-Feedback-ID field. This permits an address in the author's domain or below it. Any other
 * address also needs a valid signature of its own domain that covers these fields. In that case the
 * author's signature may also cover neither field, because a sending service may have added the
 * fields later. Null when the message has no CFBL-Address field.
 */
export function judgeCfbl(
  fields: readonly HeaderField[],
  signatures: readonly CfblSignature[],
): CfblFinding | null {
  const asked = fieldValues(fields, addressKey)
  if (asked.length === 0) return null
  const nobody = (obstacle: CfblObstacle) => ({ addresses: [], feedbackId: null, obstacle })
  if (asked.length > addressesMax) return nobody('too-many-addresses')
  const read = asked.map(parseCfblAddress)
  const named = read.filter((one) => one !== undefined)
  if (named.length === 0) return nobody('address-invalid')
  const author = onlyAuthorDomain(fields)
  if (author === undefined) return nobody('not-one-author')
  const valid = signatures.filter(({ isValid }) => isValid)
  if (valid.length === 0) return nobody('no-valid-signature')
  const faults = named.map((one) => faultOf(domainOf(one.address) ?? '', author, valid, fields))
  const addresses = named.filter((_, index) => faults[index] === undefined)
  const unreadable = read.includes(undefined) ? 'some-address-invalid' : null
  const obstacle = faults.find((fault) => fault !== undefined) ?? unreadable
  return { addresses, feedbackId: addresses.length > 0 ? feedbackIdOf(fields) : null, obstacle }
}

/**
 * Parses a CFBL-Address field: an address, optionally followed by a semicolon and the report format
 * (RFC 9477 §5.1), with comments anywhere. Undefined for anything else, so that no complaint is
 * sent to a misread address.
 */
export function parseCfblAddress(value: string): CfblAddress | undefined {
  if (value.length > valueCharsMax) return undefined
  const [written = '', parameter, ...more] = withoutComments(value).split(';')
  if (more.length > 0) return undefined
  const shape = /^([^\s<>@:;,"()[\]\\]{1,64})@([^\s<>@:;,"()[\]\\]{1,253})$/
  const [, local, host = ''] = shape.exec(decodeHeaderText(written.trim())) ?? []
  const domain = domainToASCII(host).toLowerCase()
  if (local === undefined || !hostShape.test(domain)) return undefined
  const format = parameter === undefined ? 'report=arf' : parameter.trim()
  if (format !== 'report=arf' && format !== 'report=xarf') return undefined
  return { address: `${local}@${domain}`, format: format === 'report=xarf' ? 'xarf' : 'arf' }
}

const hostShape = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,20}[a-z][a-z0-9-]{0,61}[a-z0-9]$/

/** Why an address of a domain is not permitted; undefined when it is. */
function faultOf(
  domain: string,
  author: string,
  valid: readonly CfblSignature[],
  fields: readonly HeaderField[],
): CfblObstacle | undefined {
  const authors = valid.filter((signature) => matches(signature.domain, author))
  if (authors.length === 0) return 'author-signature-invalid'
  const isCovering = ({ covered }: CfblSignature) => covers(covered, fields)
  const hasAuthors = authors.some(isCovering)
  if (isSameOrBelow(domain, author)) {
    return hasAuthors ? undefined : 'address-not-covered'
  }
  const own = valid.filter((signature) => matches(signature.domain, domain))
  if (own.length === 0) return 'own-signature-invalid'
  if (!own.some(isCovering)) return 'address-not-covered-by-own'
  const isSignedBefore = authors.some(
    ({ covered }) => !covered.includes(addressKey) && !covered.includes(idKey),
  )
  if (hasAuthors || isSignedBefore) return undefined
  return 'fields-partly-covered'
}

/** Whether a signature covers every CFBL field in the header; a field added later is not signed. */
function covers(covered: readonly string[], fields: readonly HeaderField[]): boolean {
  return [addressKey, idKey].every((key) => {
    const times = covered.filter((name) => name === key).length
    return times >= fields.filter((field) => field.key === key).length
  })
}

/** Whether a signer's domain is the given domain, or one above it that is not a shared suffix. */
function matches(signer: string, domain: string): boolean {
  return signer === domain || (isSameOrBelow(domain, signer) && !isSharedSuffix(signer))
}

function isSameOrBelow(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`)
}

/** The author's domain, if the header names exactly one author. */
function onlyAuthorDomain(fields: readonly HeaderField[]): string | undefined {
  const [from, ...others] = fieldValues(fields, 'from')
  if (from === undefined || others.length > 0 || from.length > 4 * valueCharsMax) return undefined
  if (parseMailboxes(from).filter(({ address }) => address !== '').length !== 1) return undefined
  return domainToASCII(domainOf(authorAddress(from) ?? '') ?? '').toLowerCase() || undefined
}

function feedbackIdOf(fields: readonly HeaderField[]): string | null {
  const [value, ...others] = fieldValues(fields, idKey)
  if (value === undefined || others.length > 0 || value.length > valueCharsMax) return null
  const id = withoutComments(value).replace(/\s+/g, '')
  return id.length <= idCharsMax && /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~:-]+$/.test(id) ? id : null
}

/**
 * Removes comments, which may be nested (RFC 5322 §3.2.2). An unclosed comment extends to the end.
 */
function withoutComments(value: string): string {
  if (!value.includes('(')) return value
  let depth = 0
  let text = ''
  for (const char of value) {
    if (char === '(') depth += 1
    else if (char === ')' && depth > 0) depth -= 1
    else if (depth === 0) text += char
  }
  return text
}
