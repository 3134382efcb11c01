import { registrableDomain } from '../../mail/address.ts'
import type { HeaderField } from '../../mail/header.ts'
import { parseIp } from '../../mail/ip.ts'
import type { MessageBody } from '../../mail/message.ts'
import type { Submitter } from '../../origin/forwarders.ts'
import type { Origin } from '../../origin/origin.ts'
import type { TracedHop } from '../../origin/trace.ts'
import type { Attachment } from '../analyze.ts'
import { type BodyView, viewBody } from '../body-view.ts'
import { plainHost } from '../disguise/plain-link.ts'
import { type Fingerprints, fingerprintsOf } from '../fingerprints.ts'
import type { Link } from '../links.ts'
import { addAddresses, addFiles, type Signer } from './address-shingles.ts'
import { hexOf, shingleHash } from './hash.ts'
import { addHeader, networkOf, withoutTokens } from './header-shingles.ts'
import {
  appendShingles,
  hashesByType,
  type PackedShingles,
  unpackShingles,
} from './packed-shingles.ts'
import { pairTypes } from './pair-types.ts'
import { type PieceName, pieceTypes } from './piece-types.ts'
import { pairsOf, type Shingle, ShingleList } from './shingle-list.ts'
import { addContacts, addLinks, addPassages, addWholeText } from './text-shingles.ts'

/** What is known of the way of a message. */
export type Way = {
  hops: readonly TracedHop[]
  origin: Origin | null
  submitter: Submitter | null
  /** What is less sure than this is only a claim; nothing is without it. */
  originConfidenceMin?: number
}

/**
 * Adds where the message came from. What strangers wrote below that is only a claim; and so is an
 * origin that is not sure, because counting against it would be an accusation.
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
  list.add(whose === 'claimed' ? 'claimed-ip-network' : `${whose}-network`, networkOf(address))
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
}

/** What is known of a message only beside its bytes. */
export type ReportContext = {
  /** Who reported it; undefined for traffic that is only checked. */
  reporterId?: string | undefined
  /** Autonomous system of the origin. */
  originAsn?: number | null | undefined
  submitterAsn?: number | null | undefined
  /** The campaign it was found to be of. */
  campaignId?: string | null | undefined
}

const laterPieces = ['reporter', 'origin-as', 'submitter-as', 'campaign'] as const
const isLater = (name: PieceName) => laterPieces.some((later) => later === name)
const laterPairs = pairTypes.filter(({ counted, unique }) => isLater(counted) || isLater(unique))
const pairedTypes = new Set(
  laterPairs.flatMap(({ counted, unique }) => [pieceTypes[counted], pieceTypes[unique]]),
)
const pairedNumbers = new Set([...pairedTypes].map(({ number }) => number))

/**
 * The shingles of a message with those that its analysis could not know: its reporter, the
 * autonomous systems, its campaign, and their pairs with the pieces already found.
 */
export function withLaterShingles(
  shingles: PackedShingles,
  { reporterId, originAsn, submitterAsn, campaignId }: ReportContext,
): PackedShingles {
  const byType = hashesByType(shingles, pairedNumbers)
  const pieces: Shingle[] = []
  const add = (name: (typeof laterPieces)[number], piece: string | number | null | undefined) => {
    if (piece === null || piece === undefined) return
    const { number } = pieceTypes[name]
    const hash = hexOf(shingleHash(number, String(piece)))
    pieces.push({ type: number, name, hash })
    ;(byType[number] ??= []).push(hash)
  }
  add('reporter', reporterId)
  add('origin-as', originAsn)
  add('submitter-as', submitterAsn)
  add('campaign', campaignId)
  return appendShingles(shingles, [...pieces, ...pairsOf(byType, laterPairs)])
}

/** What the analysis has found of a message so far. */
export type Findings = Way & {
  fields: readonly HeaderField[]
  body: MessageBody
  links: readonly Link[]
  attachments: readonly Attachment[]
  /** Verified signatures; what the header only claims is found in its fields. */
  signers: readonly Signer[]
}

/**
 * Takes a message apart into the pieces that are counted, and makes the fingerprints that stand
 * for the whole of it. At most 480 shingles, the telling ones first. Linear in the message; asks
 * nobody. What is known only beside the message comes by `withLaterShingles`.
 */
export function takeApartPacked(findings: Findings): {
  shingles: PackedShingles
  fingerprints: Fingerprints
  /** The body as it was read for this. */
  view: BodyView
  telephones: string[]
} {
  const { fields, body, links, attachments, signers } = findings
  const view = viewBody(body)
  list.clear()
  addAddresses(list, fields, signers)
  addOrigin(list, findings)
  addHeader(list, fields)
  addLinks(list, links, view)
  const telephones = addContacts(list, view)
  addFiles(list, attachments)
  addWholeText(list, view)
  list.addPairs()
  addPassages(list, view)
  const fingerprints = fingerprintsOf(view, attachments, list)
  return { shingles: list.packed(), fingerprints, view, telephones }
}

/** One for all messages: nothing is awaited between the first piece and the last. */
const list = new ShingleList()

/** The same with names and in hexadecimal, for people. */
export function takeApart(findings: Findings): {
  shingles: Shingle[]
  fingerprints: Fingerprints
} {
  const { shingles, fingerprints } = takeApartPacked(findings)
  return { shingles: unpackShingles(shingles), fingerprints }
}
