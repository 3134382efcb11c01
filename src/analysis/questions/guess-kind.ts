import { isPublicName } from '../../mail/domain.ts'
import { parseIp } from '../../mail/ip.ts'
import { findBankAccounts, findTelephones } from '../pieces/contacts.ts'
import { findCryptoAddresses } from '../pieces/crypto-addresses.ts'
import { domainIn, draftOfIp, draftOfLink, draftOfNetwork, mailAddressIn } from './drafts.ts'
import type { QuestionName } from './question-kinds.ts'

/** With more words it is no subject any more. */
const subjectWordsMax = 15
const subjectCharsMax = 200

/**
 * What a value most likely is: each form that nothing else has is known by it, and what is left is
 * a subject, or a text when it is long.
 */
export function guessKind(value: string): QuestionName {
  const text = value.trim()
  const isLong = text.length > subjectCharsMax || text.split(/\s+/).length > subjectWordsMax
  if (isLong || text.includes('\n')) return isSchemed(text) && !/\s/.test(text) ? 'link' : 'text'
  return guesses.find(([, fits]) => fits(text))?.[0] ?? 'subject'
}

const guesses: readonly [QuestionName, (text: string) => boolean][] = [
  ['file', (text) => /^[0-9a-f]{64}$/i.test(text)],
  ['campaign', (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)],
  ['as', (text) => /^AS\s?\d{1,10}$/i.test(text)],
  ['network', (text) => draftOfNetwork(text) !== undefined],
  ['ip', (text) => parseIp(text) !== undefined || draftOfIp(text) !== undefined],
  ['link', (text) => isSchemed(text) && draftOfLink(text) !== undefined],
  ['signer', (text) => /^\S+\._domainkey\.\S+$/i.test(text)],
  ['name', (text) => /^[^<@]*[^<@\s][^<@]*<[^<>\s@]+@[^<>\s@]+>$/.test(text)],
  ['address', (text) => mailAddressIn(text) !== undefined && !/[^\s)\]]\s+[^\s([]/.test(text)],
  ['domain', (text) => isLikelyDomain(text)],
  ['link', (text) => /^[^\s/@]+\/\S*$/.test(text) && isLikelyDomain(hostOf(text))],
  ['payment', (text) => isWhole(text, [...findBankAccounts(text), ...findCryptoAddresses(text)])],
  ['telephone', (text) => /^[\d\s()+./-]+$/.test(text) && findTelephones(text).length === 1],
  ['file-name', (text) => /^[^\s/\\][^/\\]*\.[a-z][a-z0-9]{1,4}$/i.test(text)],
]

/** With a scheme, as people write it also when nobody is to follow the link, or `www.`. */
function isSchemed(text: string): boolean {
  return /^[<"'\s]*(?:(?:h(?:tt|xx|\*\*|__)ps?|f[tx]p)\s*[[({]?\s*:|www\.)/i.test(text)
}

/** Under a public suffix, or what documents use in place of one: no name of a file. */
function isLikelyDomain(text: string): boolean {
  const domain = domainIn(text)
  return domain !== undefined && (isPublicName(domain) || /\.(?:example|test)$/.test(domain))
}

function hostOf(text: string): string {
  return text.slice(0, text.indexOf('/'))
}

function isWhole(text: string, found: readonly string[]): boolean {
  const bare = text.replaceAll(/\s/g, '').toLowerCase()
  return found.some((one) => one.toLowerCase() === bare || bare.endsWith(one.toLowerCase()))
}
