import { domainToASCII } from 'node:url'
import { domainOf, parseMailboxes } from '../mail/address.ts'
import { decodeHeaderText } from '../mail/encoded-word.ts'
import { fieldValue, fieldValues } from '../mail/header.ts'
import type { HeaderField } from '../mail/header.ts'
import type { Unsubscribe } from '../mail/list-unsubscribe.ts'
import { storableText } from '../mail/storable-text.ts'
import { parseTagList } from '../mail/tag-list.ts'
import type { Authentication } from './authenticity/authenticate.ts'
import { chooseSignatures } from './authenticity/signatures.ts'

/** What a message says of its list, where it says it once. */
export type ListClaims = {
  /** In lower case; null without one, or with several: a forwarder or forger may add another. */
  listId: string | null
  /** The domain of its only author, in lower case and ASCII. */
  authorDomain: string | null
  /**
   * Who signed how to unsubscribe with one click: domains of verified signatures that cover both
   * fields, each of which stands in the message once (RFC 8058 §4).
   */
  oneClickSigners: string[]
}

const idCharsMax = 255
const valueCharsMax = 4_000

/** Reads them. Nothing of it proves anything by itself. */
export function listClaims(
  fields: readonly HeaderField[],
  authentication: Pick<Authentication, 'dkim'> | null,
  unsubscribe: Unsubscribe | null,
): ListClaims {
  const isClickable = unsubscribe?.oneClick === true && isOnce(fields, unsubscribeFields)
  return {
    listId: readListId(fields),
    authorDomain: readAuthorDomain(fields),
    oneClickSigners: isClickable && authentication ? signersOver(fields, authentication.dkim) : [],
  }
}

const unsubscribeFields = ['list-unsubscribe', 'list-unsubscribe-post']

function isOnce(fields: readonly HeaderField[], keys: readonly string[]): boolean {
  return keys.every((key) => fields.filter((field) => field.key === key).length === 1)
}

function signersOver(fields: readonly HeaderField[], findings: Authentication['dkim']): string[] {
  const { chosen } = chooseSignatures(fields)
  const signers = chosen.flatMap(({ field, domain }, index) => {
    const finding = findings[index]
    if (finding?.result !== 'pass' || finding.domain !== domain) return []
    const signed = (parseTagList(field.value)?.get('h') ?? '').toLowerCase().split(':')
    const names = new Set(signed.map((name) => name.trim()))
    return unsubscribeFields.every((key) => names.has(key)) ? [domain] : []
  })
  return [...new Set(signers)]
}

/** RFC 2919 §2: what stands in angle brackets; many write it bare. */
function readListId(fields: readonly HeaderField[]): string | null {
  if (!isOnce(fields, ['list-id'])) return null
  const written = (fieldValue(fields, 'list-id') ?? '').slice(0, valueCharsMax)
  const open = written.lastIndexOf('<')
  const close = written.indexOf('>', open)
  const id = open >= 0 && close > open ? written.slice(open + 1, close) : written
  return storableText(id.replaceAll(/\s/g, ''), idCharsMax).toLowerCase() || null
}

function readAuthorDomain(fields: readonly HeaderField[]): string | null {
  const [from, ...more] = fieldValues(fields, 'from')
  if (from === undefined || more.length > 0) return null
  const [mailbox, ...others] = parseMailboxes(from.slice(0, valueCharsMax))
  if (!mailbox || others.length > 0) return null
  // Decoded before its letters are made small: until then it is bytes.
  const domain = domainOf(decodeHeaderText(mailbox.address))
  return (domain && domainToASCII(domain).toLowerCase()) || null
}
