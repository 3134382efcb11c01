import { isPublicName } from '../mail/address.ts'
import { parseIp } from '../mail/ip.ts'
import {
  type AskedPiece,
  domainIn,
  type Draft,
  draftOfAddress,
  draftOfAs,
  draftOfDomain,
  draftOfFile,
  draftOfFileName,
  draftOfId,
  draftOfIp,
  draftOfLink,
  draftOfMachine,
  draftOfMessageId,
  draftOfName,
  draftOfNetwork,
  draftOfSigner,
  mailAddressIn,
  piecesOfDraft,
} from './asked-pieces.ts'
import { findBankAccounts, findTelephones } from './body-view.ts'
import { findCryptoAddresses } from './crypto-addresses.ts'
import type { PieceName } from './shingles/piece-types.ts'

export type QuestionKind = {
  name: string
  /** Description of a value, as a part of a sentence. */
  is: string
  example: string
  /** The piece types to look up, the most informative first. */
  types: readonly PieceName[]
  /**
   * Returns a synthetic message that contains only the value; undefined for a value of another
   * kind.
   */
  draft: (value: string) => Draft | undefined
}

const kinds = [
  {
    name: 'link',
    is: 'a URL',
    example: 'https://shop.example/offer',
    types: [
      ...['link', 'link-path', 'link-host', 'link-organization', 'link-ip', 'link-network'],
      ...['link-pattern', 'link-parameters', 'redirector', 'form-organization'],
      ...['image-link', 'image-link-organization', 'unsubscribe-host', 'unsubscribe-organization'],
    ],
    draft: draftOfLink,
  },
  {
    name: 'address',
    is: 'a mail address',
    example: 'offers@shop.example',
    types: [
      ...['author-address', 'author-domain', 'author-organization', 'author-local-part'],
      ...['reply-to-address', 'reply-to-domain', 'reply-to-organization'],
      ...['return-path-address', 'return-path-domain', 'return-path-organization'],
      ...['sender-address', 'sender-organization', 'body-address', 'body-address-organization'],
    ],
    draft: draftOfAddress,
  },
  {
    name: 'domain',
    is: 'a domain',
    example: 'shop.example',
    types: [
      ...['author-domain', 'author-organization', 'link-host', 'link-organization'],
      ...['reply-to-domain', 'reply-to-organization', 'return-path-domain'],
      ...['return-path-organization', 'sender-organization', 'signer-domain'],
      ...['signer-organization', 'claimed-signer-domain', 'claimed-signer-organization'],
      ...['origin-rdns', 'origin-rdns-organization', 'origin-helo', 'origin-helo-organization'],
      ...['submitter-helo', 'message-id-domain', 'message-id-organization', 'list-organization'],
      ...['unsubscribe-host', 'unsubscribe-organization', 'form-organization'],
      ...['image-link-organization', 'body-address-organization', 'recipient-domain'],
    ],
    draft: draftOfDomain,
  },
  {
    name: 'ip',
    is: 'an IP address',
    example: '192.0.2.7',
    types: [
      ...['origin-ip', 'origin-network', 'submitter-ip', 'submitter-network'],
      ...['claimed-ip', 'claimed-ip-network', 'link-ip', 'link-network'],
    ],
    draft: draftOfIp,
  },
  {
    name: 'network',
    is: 'an IPv4 /24 or an IPv6 /48',
    example: '192.0.2.0/24',
    types: ['origin-network', 'submitter-network', 'claimed-ip-network', 'link-network'],
    draft: draftOfNetwork,
  },
  {
    name: 'as',
    is: 'an autonomous system',
    example: 'AS64496',
    types: ['origin-as', 'submitter-as'],
    draft: draftOfAs,
  },
  {
    name: 'subject',
    is: 'a subject',
    example: 'Your parcel is waiting',
    types: ['subject', 'subject-template', 'subject-start', 'subject-words'],
    draft: (value) => ({ fields: { Subject: value } }),
  },
  {
    name: 'name',
    is: 'a display name, with or without its address',
    example: 'Your Bank <service@shop.example>',
    types: ['author-name', 'author-name-and-organization'],
    draft: draftOfName,
  },
  {
    name: 'file',
    is: 'the SHA-256 of a file',
    example: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    types: ['attachment', 'image'],
    draft: draftOfFile,
  },
  {
    name: 'file-name',
    is: 'the name of an attached file',
    example: 'invoice.pdf',
    types: ['attachment-name', 'attachment-name-shape'],
    draft: draftOfFileName,
  },
  {
    name: 'telephone',
    is: 'a telephone number',
    example: '+44 20 7946 0958',
    types: ['telephone'],
    draft: (value) => ({ text: value }),
  },
  {
    name: 'payment',
    is: 'a cryptocurrency address or an IBAN',
    example: 'GB33BUKB20201555555555',
    types: ['cryptocurrency-address', 'bank-account'],
    draft: (value) => ({ text: value }),
  },
  {
    name: 'text',
    is: 'a text: all of it or a passage',
    example: 'You have won a prize. Click below to claim it.',
    types: [
      ...['text', 'text-letters', 'paragraph', 'sentence', 'words', 'text-start', 'text-end'],
      'long-words',
    ],
    draft: (value) => ({ text: value }),
  },
  {
    name: 'list',
    is: 'a mailing list (List-Id)',
    example: 'news.shop.example',
    types: ['list-id', 'list-organization'],
    draft: (value) => ({ fields: { 'List-Id': value } }),
  },
  {
    name: 'feedback-id',
    is: 'a Feedback-ID',
    example: 'campaign7:customer3:mail:esp',
    types: ['feedback-id'],
    draft: (value) => ({ fields: { 'Feedback-ID': value } }),
  },
  {
    name: 'signer',
    is: 'the domain of a DKIM signature, with or without its selector',
    example: 's1._domainkey.shop.example',
    types: [
      ...['signer-key', 'signer-domain', 'signer-organization', 'claimed-signer-key'],
      ...['claimed-signer-domain', 'claimed-signer-organization'],
    ],
    draft: draftOfSigner,
  },
  {
    name: 'helo',
    is: 'a HELO name of a machine',
    example: 'mail7.shop.example',
    types: ['origin-helo', 'origin-helo-organization', 'origin-helo-shape', 'submitter-helo'],
    draft: (value) => draftOfMachine({ helo: value.trim() }),
  },
  {
    name: 'rdns',
    is: 'a reverse DNS name of a machine',
    example: 'mail7.shop.example',
    types: ['origin-rdns', 'origin-rdns-organization', 'origin-rdns-shape'],
    draft: (value) => draftOfMachine({ rdns: value.trim() }),
  },
  {
    name: 'message-id',
    is: 'a Message-ID or its domain',
    example: '<4711.abc@shop.example>',
    types: ['message-id-domain', 'message-id-organization', 'message-id-shape'],
    draft: draftOfMessageId,
  },
  {
    name: 'mailer',
    is: 'a mail program',
    example: 'Bulk Mailer 4.2',
    types: ['mailer', 'mailer-family'],
    draft: (value) => ({ fields: { 'X-Mailer': value } }),
  },
  {
    name: 'reporter',
    is: 'a reporter (id)',
    example: '0190a5b4-0000-7000-8000-000000000000',
    types: ['reporter'],
    draft: (value) => draftOfId(value, 'reporter'),
  },
  {
    name: 'campaign',
    is: 'a campaign (id)',
    example: '0190a5b4-0000-7000-8000-000000000000',
    types: ['campaign'],
    draft: (value) => draftOfId(value, 'campaign'),
  },
] as const satisfies readonly QuestionKind[]

export type QuestionName = (typeof kinds)[number]['name']

/** All kinds, the most used first. */
export const questionKinds: readonly (QuestionKind & { name: QuestionName })[] = kinds

/**
 * Returns the pieces to look up for a value, the most informative first. Empty for a value of
 * another kind. Linear time; at most about 60 pieces.
 */
export function askedPieces(name: QuestionName, value: string): AskedPiece[] {
  const kind = questionKinds.find((one) => one.name === name)
  const draft = kind?.draft(value)
  return kind && draft ? piecesOfDraft(draft, kind.types) : []
}

/** Maximum length of a subject in words and characters; longer values are texts. */
const subjectWordsMax = 15
const subjectCharsMax = 200

/**
 * Guesses the kind of a value: by its unambiguous form if it has one, otherwise a text if it is
 * long, or a subject.
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

/** Whether a value begins with a scheme, possibly defanged, or with `www.`. */
function isSchemed(text: string): boolean {
  return /^[<"'\s]*(?:(?:h(?:tt|xx|\*\*|__)ps?|f[tx]p)\s*[[({]?\s*:|www\.)/i.test(text)
}

/**
 * Whether a name ends in a public suffix or in a suffix reserved for documentation, and is not a
 * file name.
 */
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
