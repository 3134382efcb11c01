import { registrableDomain } from '../../mail/address.ts'
import type { HeaderField } from '../../mail/header.ts'
import { block24Or48 } from '../../mail/ip-blocks.ts'
import { parseIp } from '../../mail/ip.ts'
import type { MessageBody } from '../../mail/message-body.ts'
import type { Submitter } from '../../origin/forwarders.ts'
import type { Origin } from '../../origin/origin.ts'
import type { TracedHop } from '../../origin/trace.ts'
import type { Attachment } from '../attachment.ts'
import { type BodyView, viewBody } from '../body-view.ts'
import { plainHost } from '../disguise/plain-link.ts'
import { isGenericName } from '../features/features.ts'
import { type Fingerprints, fingerprintsOf } from '../fingerprints.ts'
import type { Link } from '../links.ts'
import { addAddresses, addFiles, addReturnPath, type Signer } from './address-shingles.ts'
import { addHeader, withoutTokens } from './header-shingles.ts'
import { type PackedShingles, type Shingle, unpackShingles } from './packed-shingles.ts'
import { pairTypes, type PieceName, pieceTypes } from './piece-types.ts'
import {
  appendPaired,
  type LaterPiece,
  numbersOf,
  partnersMax,
  ShingleList,
} from './shingle-list.ts'
import { addContacts, addLinks, addTextShingles, addWholeText } from './text-shingles.ts'

/** The route of a message. */
export type Way = {
  hops: readonly TracedHop[]
  origin: Origin | null
  submitter: Submitter | null
  /**
   * Minimum confidence of an origin; a less certain origin counts as a claim. Default: no minimum.
   */
  originConfidenceMin?: number
}

/**
 * Adds the origin of the message. Fields written by untrusted hosts count as claims. So does an
 * uncertain origin, because counting the message under it would be an accusation.
 */
export function addOrigin(list: ShingleList, way: Way): void {
  const { hops, origin, submitter, originConfidenceMin = 0 } = way
  const isSure = (one: { confidence: number }) => one.confidence >= originConfidenceMin
  if (origin && isSure(origin)) {
    addIp(list, 'origin', origin.ip)
    const from = hops[origin.hop]?.from
    addName(list, 'origin-rdns', from?.rdns)
    addName(list, 'origin-helo', from?.helo)
  } else if (origin) addIp(list, 'claimed', origin.ip)
  if (submitter && isSure(submitter)) {
    addIp(list, 'submitter', submitter.ip)
    const line = hops.find(({ from, trust }) => from.ip === submitter.ip && trust === 'believed')
    list.add('submitter-helo', line?.from.helo?.toLowerCase())
  }
  const lowest = hops.findLast(({ from }) => from.ip !== null)
  const isClaim = lowest?.trust === 'claimed' || lowest?.trust === 'forged'
  if (isClaim && lowest.from.ip !== null) addIp(list, 'claimed', lowest.from.ip)
}

function addIp(list: ShingleList, whose: 'origin' | 'submitter' | 'claimed', ip: string): void {
  const address = parseIp(ip)
  if (!address) return
  list.add(`${whose}-ip`, address.text)
  list.add(whose === 'claimed' ? 'claimed-ip-network' : `${whose}-network`, block24Or48(address))
}

function addName(
  list: ShingleList,
  whose: 'origin-rdns' | 'origin-helo',
  written: string | null | undefined,
): void {
  if (written === null || written === undefined) return
  const name = plainHost(written)
  list.add(whose, name)
  list.add(`${whose}-organization`, registrableDomain(name))
  list.add(`${whose}-shape`, withoutTokens(name))
  if (whose === 'origin-rdns' && isGenericName(name)) list.add('origin-line-name', name)
}

/** Properties of a report that are not in the bytes of the message. */
export type ReportContext = {
  /** The reporter; undefined for traffic that is only checked. */
  reporterId?: string | undefined
  /** Autonomous system of the origin. */
  originAsn?: number | null | undefined
  submitterAsn?: number | null | undefined
  /** Country of the network of the origin: ISO 3166-1 alpha-2. */
  originCountry?: string | null | undefined
  campaignId?: string | null | undefined
}

const laterPieces = [
  ...(['reporter', 'origin-as', 'submitter-as', 'campaign', 'origin-country'] as const),
]
const isLater = (name: PieceName) => laterPieces.some((later) => later === name)
const laterPairs = pairTypes
  .filter(({ counted, unique }) => isLater(counted) || isLater(unique))
  .map(numbersOf)
/**
 * Adds the shingles that the analysis could not know: reporter, autonomous systems and campaign,
 * and their pairs with the existing pieces. The country of the origin is counted only in pairs.
 */
export function withLaterShingles(
  shingles: PackedShingles,
  { reporterId, originAsn, submitterAsn, originCountry, campaignId }: ReportContext,
): PackedShingles {
  const pieces = [
    ...laterPiece('reporter', reporterId),
    ...laterPiece('origin-as', originAsn),
    ...laterPiece('submitter-as', submitterAsn),
    ...laterPiece('campaign', campaignId),
    ...asPartner(laterPiece('origin-country', originCountry)),
  ]
  return appendPaired(shingles, pieces, laterPairs)
}

function laterPiece(
  name: (typeof laterPieces)[number],
  piece: string | number | null | undefined,
): LaterPiece[] {
  if (piece === null || piece === undefined) return []
  return [{ type: pieceTypes[name].number, piece: String(piece) }]
}

function asPartner(pieces: readonly LaterPiece[]): LaterPiece[] {
  return pieces.map((one) => ({ ...one, isPartner: true }))
}

/** Properties of a checked message that are not in its bytes. */
export type CheckContext = Pick<ReportContext, 'originCountry' | 'campaignId'> & {
  /** The recipients of the envelope; the first ten are counted. */
  recipients: readonly string[]
}

/** Pieces of which the spread is counted: from where, and to whom. */
const spreading: readonly PieceName[] = ['author-address', 'link-organization', 'text', 'campaign']
const spreadPairs = pairTypes
  .filter(({ counted, unique }) => spreading.includes(counted) && !areInMessage(counted, unique))
  .map(numbersOf)

function areInMessage(...names: readonly PieceName[]): boolean {
  return !names.some(isLater)
}

/**
 * Adds the campaign of a checked message, and the pairs that show how far the message is spread: by
 * countries of origin and by recipients, which count as reporters do in reports.
 */
export function withSpreadShingles(
  shingles: PackedShingles,
  { recipients, originCountry, campaignId }: CheckContext,
): PackedShingles {
  const different = new Set(recipients.slice(0, partnersMax).map((one) => one.toLowerCase()))
  const pieces = [
    ...laterPiece('campaign', campaignId),
    ...asPartner(laterPiece('origin-country', originCountry)),
    ...asPartner([...different].flatMap((one) => laterPiece('reporter', one))),
  ]
  return appendPaired(shingles, pieces, spreadPairs)
}

export type Findings = Way & {
  fields: readonly HeaderField[]
  body: MessageBody
  links: readonly Link[]
  attachments: readonly Attachment[]
  /** Verified signatures. Unverified ones are found in the header fields. */
  signers: readonly Signer[]
  /** The look of the largest picture, if the message has hardly any text. */
  look?: string | undefined
}

/**
 * Splits a message into the pieces that are counted, and computes its fingerprints. At most 480
 * shingles, the most informative first. `view` is that of the body. Linear time; no lookups.
 * `withLaterShingles` adds pieces that are not in the message.
 */
export function takeApartPacked(
  findings: Findings,
  view: BodyView = viewBody(findings.body),
): { shingles: PackedShingles; fingerprints: Fingerprints; view: BodyView; telephones: string[] } {
  const { fields, links, attachments, signers, look } = findings
  list.clear()
  addAddresses(list, fields, signers)
  addOrigin(list, findings)
  addHeader(list, fields)
  addLinks(list, links, view)
  const telephones = addContacts(list, view)
  addFiles(list, attachments, look)
  addWholeText(list, view)
  list.addPairs()
  addTextShingles(list, view)
  const fingerprints = fingerprintsOf(view, attachments, list, look)
  return { shingles: list.packed(), fingerprints, view, telephones }
}

/** Values of the SMTP envelope. */
type EnvelopePieces = {
  ip: string | undefined
  helo: string | undefined
  /** Confirmed reverse DNS name of the client. */
  hostname: string | undefined
  returnPath: string | undefined
}

/** Returns the pieces that are known before a message is read: the client and the return path. */
export function envelopeShingles({
  ip,
  helo,
  hostname,
  returnPath,
}: EnvelopePieces): PackedShingles {
  list.clear()
  addReturnPath(list, returnPath?.toLowerCase() || undefined)
  if (ip !== undefined) addIp(list, 'origin', ip)
  addName(list, 'origin-rdns', hostname)
  addName(list, 'origin-helo', helo)
  list.addPairs()
  return list.packed()
}

/** Shared by all messages: there is no await between the first and the last piece. */
const list = new ShingleList()

/** Like `takeApartPacked`, with names and hexadecimal hashes, for people. */
export function takeApart(
  findings: Findings,
  view?: BodyView,
): { shingles: Shingle[]; fingerprints: Fingerprints } {
  const { shingles, fingerprints } = takeApartPacked(findings, view)
  return { shingles: unpackShingles(shingles), fingerprints }
}
