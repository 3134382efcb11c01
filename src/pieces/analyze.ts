import { hash } from 'node:crypto'
import { type CfblFinding, judgeCfbl } from '../mail/cfbl.ts'
import { type Header, type HeaderField, parseHeader } from '../mail/header.ts'
import { parseListUnsubscribe, type Unsubscribe } from '../mail/list-unsubscribe.ts'
import {
  type BodyAttachment,
  type ExtractedFields,
  fieldsOf,
  type MessageBody,
  messageKind,
  type MessageKind,
  parseBody,
} from '../mail/message.ts'
import { exceedsLimits } from '../mail/mime-leaves.ts'
import { storableText } from '../mail/text.ts'
import type {
  Authenticated,
  Authentication,
  DnsFindings,
} from '../origin/authenticity/authenticate.ts'
import { type Submitter, withoutStamps } from '../origin/forwarders.ts'
import { findWhence, type Origin } from '../origin/origin.ts'
import { type Client, type Hop, readHops, type TracedHop } from '../origin/trace.ts'
import type { MessageFeatures } from './features/features.ts'
import type { Fingerprints } from './fingerprints.ts'
import { findLinks, type Link } from './links.ts'
import {
  type Bounce,
  type ReturnedFeedback,
  listClaims,
  type ListClaims,
  readBounce,
  readFeedback,
} from './list-claims.ts'
import type { RecognizedMarketer } from './marketer.ts'
import type { PackedShingles } from './shingles/packed-shingles.ts'
import type { Shingle } from './shingles/shingle-list.ts'
import type { takeApart } from './shingles/take-apart.ts'

/** A file that came with the message, known by its checksum; its content is not kept. */
export type Attachment = {
  name: string | null
  /** The media type it claims, in lower case. */
  type: string
  bytes: number
  /** Of the decoded content, in hexadecimal. */
  sha256: string
}

const attachmentsMax = 100
const nameCharsMax = 255

/** Names, sizes and checksums of at most 100 attachments, in order. */
function describeAttachments(attachments: readonly BodyAttachment[]): Attachment[] {
  return attachments.slice(0, attachmentsMax).map(({ name, type, content }) => ({
    name: name === undefined ? null : storableText(name, nameCharsMax),
    type: storableText(type.toLowerCase(), nameCharsMax),
    bytes: content.length,
    sha256: hash('sha256', content, 'hex'),
  }))
}

/**
 * Everything the analysis finds in a message: plain data, bounded in size, that survives
 * structured cloning, JSON and PostgreSQL. Null is what was not found, or is not looked for yet.
 */
export type PlainAnalysis = {
  bytes: number
  /** Of the raw bytes, in hexadecimal. */
  sha256: string
  kind: MessageKind
  headers: ExtractedFields
  hops: TracedHop[]
  origin: Origin | null
  /** Why there is no origin, as a sentence; null when there is one. */
  originObstacle: string | null
  submitter: Submitter | null
  /** Null when the DNS was not asked. */
  authentication: Authentication | null
  /** What blacklists say of the origin and the domains; null when they were not asked. */
  listings: DnsFindings['listings'] | null
  links: Link[]
  attachments: Attachment[]
  /** Whose mail it is; null when nobody is recognized, or nobody looked. */
  marketer: RecognizedMarketer | null
  unsubscribe: Unsubscribe | null
  /** What it says of its list; absent in analyses of before this was read. */
  claims?: ListClaims
  /** Whom it asks to be told of complaints, and whether it may; null when it asks for nothing. */
  cfbl: CfblFinding | null
  bounce: Bounce | null
  feedback: ReturnedFeedback | null
  /** Whether its body was put together anew, so that signatures say nothing; else absent. */
  isRebuilt?: true
}

/** The same, with the pieces the message is made of and what stands for all of it. */
export type Analysis = PlainAnalysis & { fingerprints: Fingerprints; shingles: Shingle[] }

/** What the reporter or an operator decides about an analysis. */
export type AnalysisOptions = {
  /** CIDRs of the relays of the reporter's provider; what cannot be read is left out. */
  trustedRelays: readonly string[]
  /** CIDRs learned from the reporter's earlier reports: believed, but less. */
  learnedRelays?: readonly string[]
  /** Addresses of the reporter, in lower case. */
  reporterAddresses?: readonly string[]
  /** Whether to pass over the verdicts the provider stamped on the message. */
  ignoreStamps: boolean
  /** What the DNS told; undefined when nobody was asked. */
  dns?: DnsFindings
  /** Who hands the message over just now, where a mail server asks that has not written it down. */
  client?: Client
  /** Whether its body was put together anew: then no signature is looked at. */
  isRebuilt?: boolean
  /** Of an origin that is less sure its pieces are only claims; 0 to 1, and 0 without it. */
  originConfidenceMin?: number
}

/** Beyond these the body is left unread: intake refuses such mail, other doors may not. */
const bodyLimits = { headersMax: 5000, partsMax: 1000, nestingMax: 100 }

const emptyBody: MessageBody = { text: '', html: '', attachments: [] }

/**
 * Works out what a message is, what it is made of and where it came from. Never throws on bad
 * mail: what cannot be read is null or empty. Asks nobody: no clock, no DNS, no database.
 */
export async function analyzeMessage(raw: Buffer, options: AnalysisOptions): Promise<Analysis> {
  const { plain, parts } = await read(raw, options)
  // Loaded for who wants the pieces, and not otherwise.
  const pieces = await import('./shingles/take-apart.ts')
  return { ...plain, ...pieces.takeApart(parts) }
}

/** An analysis as it is counted and judged. */
export type CountedAnalysis = {
  analysis: PlainAnalysis
  shingles: PackedShingles
  fingerprints: Fingerprints
  features: MessageFeatures
  /** Telephone numbers of the text, in their normal form. */
  telephones: string[]
}

/**
 * The same as the counters take it, the shingles packed, with the features it is judged by. Every
 * report comes through here, so they are made without names and digits for people.
 */
export async function analyzeForCounting(
  raw: Buffer,
  options: AnalysisOptions,
): Promise<CountedAnalysis> {
  const { plain, parts } = await read(raw, options)
  const pieces = await import('./shingles/take-apart.ts')
  const { messageFeatures } = await import('./features/features.ts')
  const { shingles, fingerprints, view, telephones } = pieces.takeApartPacked(parts)
  const features = messageFeatures({ ...plain, ...parts, view, shingles })
  return { analysis: plain, shingles, fingerprints, features, telephones }
}

/** The same without its pieces, which cost a third of the rest. */
export async function analyzePlainly(
  raw: Buffer,
  options: AnalysisOptions,
): Promise<PlainAnalysis> {
  return (await read(raw, options)).plain
}

async function read(
  raw: Buffer,
  options: AnalysisOptions,
): Promise<{ plain: PlainAnalysis; parts: Parameters<typeof takeApart>[0] }> {
  const header = parseHeader(raw)
  const fields = options.ignoreStamps ? withoutStamps(header.fields) : header.fields
  const hops = readHops(fields, options.client)
  const signed = options.isRebuilt ? withoutSignatures(header) : header
  const { cfbl, authentication } = await identified(raw, signed, hops, options.dns)
  const seals = sealsOf(authentication)
  const { originObstacle, ...way } = findWhence(fields, hops, { ...options, seals })
  const isBomb = exceedsLimits(raw, bodyLimits) !== undefined
  const body = isBomb ? emptyBody : ((await parseBody(raw, header)) ?? emptyBody)
  const bounce = isBomb ? null : readBounce(raw, fields)
  const feedback = isBomb ? null : readFeedback(raw)
  const links = findLinks(body)
  const attachments = describeAttachments(body.attachments)
  const signers = authentication?.dkim.filter(({ result }) => result === 'pass') ?? []
  const unsubscribe = parseListUnsubscribe(fields)
  const plain: PlainAnalysis = {
    bytes: raw.length,
    sha256: hash('sha256', raw, 'hex'),
    kind: feedback ? 'feedback-report' : bounce ? 'dsn' : messageKind(fields),
    headers: fieldsOf(fields),
    ...way,
    originObstacle,
    authentication,
    listings: options.dns?.listings ?? null,
    links,
    attachments,
    marketer: null,
    unsubscribe,
    claims: listClaims(fields, authentication, unsubscribe),
    cfbl,
    bounce,
    feedback,
    ...(options.isRebuilt && { isRebuilt: true }),
  }
  const { originConfidenceMin = 0 } = options
  const found = { ...way, originConfidenceMin, fields, body, links, attachments, signers }
  return { plain, parts: found }
}

/** A signature over a body that was not sent proves nothing, for or against anybody. */
function withoutSignatures(header: Header): Header {
  const isSignature = ({ key }: HeaderField) => key === 'dkim-signature' || key.startsWith('arc-')
  return { ...header, fields: header.fields.filter((field) => !isSignature(field)) }
}

async function identified(
  raw: Buffer,
  header: Header,
  hops: readonly Hop[],
  dns: DnsFindings | undefined,
): Promise<{ cfbl: CfblFinding | null; authentication: Authentication | null }> {
  if (!dns) return { cfbl: judgeCfbl(header.fields, []), authentication: null }
  const { cfbl, ...authentication } = await authenticated(raw, header, hops, dns)
  return { cfbl, authentication }
}

/** The library behind it is loaded when the DNS was asked, and not otherwise. */
async function authenticated(
  raw: Buffer,
  header: Header,
  hops: readonly Hop[],
  dns: DnsFindings,
): Promise<Authenticated> {
  const { authenticate } = await import('../origin/authenticity/authenticate.ts')
  return authenticate(raw, header, hops, dns)
}

/** Who sealed the message, newest first; none unless the chain verifies. */
function sealsOf(authentication: Authentication | null): { domain: string; clientIp?: string }[] {
  if (authentication?.arc.result !== 'pass') return []
  return authentication.arc.seals.toReversed().map(({ domain, clientIp }) => ({
    domain,
    ...(clientIp !== null && { clientIp }),
  }))
}
