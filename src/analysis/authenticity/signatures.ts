import { domainToASCII } from 'node:url'
import { domainOf } from '../../mail/address.ts'
import { parseCfblAddress } from '../../mail/cfbl.ts'
import { houseOf } from '../../mail/domain.ts'
import { authorAddress } from '../../mail/extract-fields.ts'
import { fieldValue, fieldValues } from '../../mail/header.ts'
import type { HeaderField } from '../../mail/header.ts'
import { parseTagList } from '../../mail/tag-list.ts'
import type { TagList } from '../../mail/tag-list.ts'

/** A DKIM signature (RFC 6376 §3.5) as far as it must be read to know whose it is. */
export type Signature = {
  field: HeaderField
  /** In lower case. */
  domain: string
  selector: string
  /** Where its key is kept. */
  keyName: string
  /** Whether the domain and the author's have the same owner. */
  isAligned: boolean
  /** The names of the fields it covers, in lower case, as often as each stands there. */
  covered: readonly string[]
  /** Why no verifier would take it, as a sentence; undefined when it is sound. */
  fault: string | undefined
}

const fieldsReadMax = 50
/** Signatures are one kilobyte; what is longer makes verifiers compare names for seconds. */
export const signatureCharsMax = 8 * 1024
/** Of each kind: the author's own say most, one for each algorithm. */
const alignedMax = 2
const othersMax = 2

/**
 * The signatures worth verifying, the author's own first, from the top: at most two whose domain
 * has the owner of the author's, and two others, first of those whom the message asks to tell of
 * complaints (RFC 9477). `passedOver` counts the rest.
 */
export function chooseSignatures(fields: readonly HeaderField[]): {
  chosen: Signature[]
  passedOver: number
} {
  const all = fields.filter(({ key }) => key === 'dkim-signature')
  const house = houseOf(authorDomain(fields))
  const read = all
    .slice(0, fieldsReadMax)
    .map((field) => readSignature(field, house))
    .filter((signature) => signature !== undefined)
  const others = read.filter(({ isAligned }) => !isAligned)
  const told = fieldValues(fields, 'cfbl-address').slice(0, fieldsReadMax).flatMap(houseTold)
  const rank = ({ domain }: Signature) => Number(told.includes(houseOf(domain) ?? ''))
  const chosen = [
    ...read.filter(({ isAligned }) => isAligned).slice(0, alignedMax),
    ...others.toSorted((one, other) => rank(other) - rank(one)).slice(0, othersMax),
  ]
  return { chosen, passedOver: all.length - chosen.length }
}

function houseTold(value: string): string[] {
  const asked = parseCfblAddress(value)
  return asked === undefined ? [] : [houseOf(domainOf(asked.address)) ?? '']
}

/** The domain of the first author in lower case, in ASCII; undefined when there is none. */
export function authorDomain(fields: readonly HeaderField[]): string | undefined {
  const address = authorAddress(fieldValue(fields, 'from')?.slice(0, signatureCharsMax) ?? '')
  const domain = address === null ? undefined : domainOf(address)
  return domain === undefined ? undefined : domainToASCII(domain) || undefined
}

/** The tags of a signature or seal, with whose it is; undefined where that cannot be told. */
export function readSigner(
  field: HeaderField,
): { tags: TagList; domain: string; selector: string; keyName: string } | undefined {
  if (field.value.length > signatureCharsMax) return undefined
  const tags = parseTagList(field.value)
  const domain = tags?.get('d')?.toLowerCase()
  const selector = tags?.get('s')?.toLowerCase()
  if (!tags || domain === undefined || selector === undefined) return undefined
  const keyName = `${selector}._domainkey.${domain}`
  if (!isHostName(domain) || !isHostName(`${selector}.x`) || keyName.length > 253) return undefined
  return { tags, domain, selector, keyName }
}

function readSignature(field: HeaderField, house: string | undefined): Signature | undefined {
  const signer = readSigner(field)
  if (!signer) return undefined
  const { tags, domain, selector, keyName } = signer
  const isAligned = house !== undefined && houseOf(domain) === house
  const covered = coveredBy(tags)
  return { field, domain, selector, keyName, isAligned, covered, fault: faultOf(tags, covered) }
}

function coveredBy(tags: TagList): string[] {
  const names = (tags.get('h') ?? '').toLowerCase().split(':')
  return names.map((name) => name.trim())
}

function faultOf(tags: TagList, covered: readonly string[]): string | undefined {
  const algorithm = (tags.get('a') ?? '').toLowerCase()
  if (algorithm === 'rsa-sha1') return 'It is made by SHA-1, which proves nothing any more.'
  if (!['rsa-sha256', 'ed25519-sha256'].includes(algorithm)) return 'Its algorithm is not known.'
  if (tags.get('v') !== '1') return 'Its version is not known.'
  const canons = (tags.get('c') ?? 'simple/simple').toLowerCase().split('/')
  if (!canons.every((canon) => canon === 'relaxed' || canon === 'simple')) {
    return 'Its canonicalization is not known.'
  }
  if (!covered.includes('from')) return 'It does not cover the From field.'
  return undefined
}

const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const hostName = new RegExp(`^${label}(?:\\.${label})+$`)

/** Whether it can be asked for; underscores occur in selectors. */
function isHostName(name: string): boolean {
  return name.length <= 253 && hostName.test(name)
}
