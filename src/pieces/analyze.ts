import { hash } from 'node:crypto'
import { registrableDomainOf } from '../mail/address.ts'
import { type CfblFinding, judgeCfbl } from '../mail/cfbl.ts'
import { decodeHeaderText } from '../mail/encoded-word.ts'
import { fieldValue, type Header, type HeaderField, parseHeader } from '../mail/header.ts'
import { parseListUnsubscribe, type Unsubscribe } from '../mail/list-unsubscribe.ts'
import { type ExtractedFields, fieldsOf, messageKind, type MessageKind } from '../mail/message.ts'
import { type BodyAttachment, type MessageBody, parseBody } from '../mail/message-body.ts'
import { exceedsLimits } from '../mail/mime-leaves.ts'
import { storableText } from '../mail/text.ts'
import type { Authenticated, Authentication } from '../origin/authenticity/authenticate.ts'
import type { DnsFindings } from '../origin/authenticity/dns-findings.ts'
import { type ListPoster, type Submitter, withoutStamps } from '../origin/forwarders.ts'
import { type ExchangerHosts, findOrigin, type Origin } from '../origin/origin.ts'
import { type TracedHop } from '../origin/trace.ts'
import { type Client, type Hop, readHops } from '../origin/hop.ts'
import type { Phrase } from '../phrase.ts'
import type { MessageFeatures } from './features/features.ts'
import type { Fingerprints } from './fingerprints.ts'
import { htmlView, type HtmlView } from './html-view.ts'
import { type FileLinks, findLinks, leadsSomewhere, type Link } from './links.ts'
import { DISTINCTIVE_WORDS_MIN } from './looks.ts'
import {
  type Bounce,
  listClaims,
  type ListClaims,
  readBounce,
  readFeedback,
  type ReturnedFeedback,
} from './list-claims.ts'
import type { RecognizedMarketer } from './marketer.ts'
import { reducedBody } from './reduced-body.ts'
import type { PackedShingles, Shingle } from './shingles/packed-shingles.ts'
import type { takeApart } from './shingles/take-apart.ts'
import type { WrittenTexts } from './written-texts.ts'
import { lookInto } from './attached-files.ts'
import {
  type Attachment,
  describeAttachments,
  type FileFault,
  type UnpackedContents,
} from './attachment.ts'
import { cellPictures } from './cell-pictures.ts'
import { picturesIn } from './file-text.ts'

/**
 * All findings about a message: plain data of bounded size that survives structured cloning, JSON
 * and PostgreSQL. Null means not found, or not searched for yet.
 */
export type PlainAnalysis = {
  bytes: number
  /** The SHA-256 of the raw bytes, in hexadecimal. */
  sha256: string
  kind: MessageKind
  headers: ExtractedFields
  /** The value of Cc, decoded; absent without one. */
  cc?: string
  hops: TracedHop[]
  origin: Origin | null
  /** Why there is no origin; null when there is one. */
  originObstacle: Phrase | null
  submitter: Submitter | null
  /** Null when there was no DNS lookup. */
  authentication: Authentication | null
  /** Blacklist entries of the origin and the domains; null when there was no lookup. */
  listings: DnsFindings['listings'] | null
  links: Link[]
  /** How many more links there are than those in `links`; absent when there are none. */
  moreLinks?: number
  attachments: Attachment[]
  /**
   * The marketer that sent the message; null when none was recognized, or recognition has not run.
   */
  marketer: RecognizedMarketer | null
  unsubscribe: Unsubscribe | null
  /**
   * The message's statements about its mailing list; absent in analyses stored before this field
   * existed.
   */
  claims?: ListClaims
  /**
   * The complaint feedback address that the message requests (CFBL), and whether it is entitled to
   * request it; null without a request.
   */
  cfbl: CfblFinding | null
  bounce: Bounce | null
  feedback: ReturnedFeedback | null
  /** Present when the body was reconstructed, so that signatures prove nothing. */
  isRebuilt?: true
  /** Present when the body could not be read: only the header, and the links in the body, are. */
  isReduced?: true
}

export type Analysis = PlainAnalysis & { fingerprints: Fingerprints; shingles: Shingle[] }

/** What was found in attached files. */
export type FileFindings = {
  links: FileLinks[]
  /** What is inside those that were unpacked. */
  contents: UnpackedContents[]
  /** The look of the largest picture (`pictureLook` in `parsing`). */
  look: string | undefined
  /** One for each file that was not read to its end. */
  faults: FileFault[]
}

/**
 * `needsLook`: the message has hardly any text, so that the look of its picture is needed.
 * `pictures`: those that are written in its pages.
 */
export type FileWishes = { needsLook: boolean; pictures?: readonly Buffer[] }

type ReadFiles = (
  attachments: readonly BodyAttachment[],
  wishes: FileWishes,
) => FileFindings | Promise<FileFindings>

/** Settings of an analysis, from the reporter or an operator. */
export type AnalysisOptions = {
  /** CIDR blocks of the relays of the reporter's provider; invalid ones are ignored. */
  trustedRelays: readonly string[]
  /** CIDR blocks learned from the reporter's earlier reports; trusted with a lower confidence. */
  learnedRelays?: readonly string[]
  /** CIDR blocks of machines that the reporter said are not the provider's. */
  deniedRelays?: readonly string[]
  /** The hosts that receive mail for the reporter's domains; absent when they are not known. */
  exchangers?: ExchangerHosts | undefined
  /** The names of hosts that received a test letter for the reporter. */
  borders?: readonly string[]
  /** Addresses of the reporter, in lower case. */
  reporterAddresses?: readonly string[]
  /** Whether to ignore the authentication results that the provider added to the message. */
  ignoreStamps: boolean
  /** Results of DNS lookups; undefined when there were none. */
  dns?: DnsFindings
  /**
   * The SMTP client that is delivering the message, when a mail server checks it before adding its
   * own Received field.
   */
  client?: Client
  /** Whether the body was reconstructed; signatures are then ignored. */
  isRebuilt?: boolean
  /**
   * Minimum confidence of an origin, 0 to 1; the pieces of a less certain origin count as claims
   * only. Default 0.
   */
  originConfidenceMin?: number
  /**
   * Returns what is in attached PDF files and pictures; undefined: not read. Called before anything
   * else of the message is analyzed.
   */
  readFiles?: ReadFiles | undefined
  readsText?: boolean
  /** Whether to return the texts that rules can match. */
  readsWritten?: boolean
  /** Whether to analyze only the header and the links, because a complete analysis failed. */
  isReduced?: boolean
}

/**
 * Limits beyond which the body is not parsed. Intake rejects mail beyond them, but other callers
 * may not.
 */
export const bodyLimits = { headersMax: 5000, partsMax: 1000, nestingMax: 100 }

/**
 * Analyzes what a message is, what it consists of and where it came from. Never throws on malformed
 * mail: what cannot be parsed is null or empty. Uses no clock, DNS or database.
 */
export async function analyzeMessage(raw: Buffer, given: AnalysisOptions): Promise<Analysis> {
  return orReduced(given, async (options) => {
    const { plain, parts, page } = await read(raw, options)
    const [{ viewBody }, { takeApart: cut }] = [await viewModule(), await piecesModule()]
    return { ...plain, ...cut(parts, viewBody(parts.body, page)) }
  })
}

/**
 * Analyzes with the given options; if that throws, analyzes only the header and the links. If that
 * throws too, throws the first error.
 */
export async function orReduced<Options extends { isReduced?: boolean }, Made>(
  options: Options,
  analyze: (options: Options) => Promise<Made>,
): Promise<Made> {
  try {
    return await analyze(options)
  } catch (error) {
    if (options.isReduced) throw error
    return analyze({ ...options, isReduced: true }).catch(() => Promise.reject(error as Error))
  }
}

// Loaded only if they are requested, and only once: every `import()` takes 40 µs.
const viewModule = once(() => import('./body-view.ts'))
const piecesModule = once(() => import('./shingles/take-apart.ts'))
const authenticateModule = once(() => import('../origin/authenticity/authenticate.ts'))
const featuresModule = once(() => import('./features/features.ts'))
const textModule = once(() => import('./text-pieces.ts'))
const writtenModule = once(() => import('./written-texts.ts'))

function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  return () => (loaded ??= load())
}

/** An analysis with the packed shingles and the features, for counting and judging. */
export type CountedAnalysis = {
  analysis: PlainAnalysis
  shingles: PackedShingles
  fingerprints: Fingerprints
  features: MessageFeatures
  /** Telephone numbers in the text, normalized. */
  telephones: string[]
  /** See `readShownText`. */
  shownText: string
  /** The pieces of the text for a model (`text-pieces.ts`), if requested. */
  text: Uint32Array<ArrayBuffer> | undefined
  /** The texts that rules can match, if requested. */
  written: WrittenTexts | undefined
  fields: readonly HeaderField[]
}

export type GivenMessage = { raw: Buffer; options: AnalysisOptions }

/** The result of a step for one message, or the error with which it failed. */
export type Attempt<T> = { made: T } | { error: unknown }

/**
 * Analyzes a message for counting and judging. The shingles are packed, without names and
 * hexadecimal digits, to save time: every report is analyzed by this function.
 */
export async function analyzeForCounting(
  raw: Buffer,
  given: AnalysisOptions,
): Promise<CountedAnalysis> {
  return orReduced(given, async (options) => {
    const [attempt] = await analyzeTogether([{ raw, options }])
    if (!attempt || 'error' in attempt) throw attempt?.error
    return attempt.made
  })
}

/**
 * Like `analyzeForCounting`, for several messages: makes each step for all messages before the next
 * step. Eight messages then take a fifth less time than one after the other, because the code of a
 * step stays in the caches of the processor. An error concerns only its message. Calls `onStart`
 * with the index of the message whose step begins.
 */
export async function analyzeTogether(
  messages: readonly GivenMessage[],
  onStart: (index: number) => void = () => undefined,
): Promise<Attempt<CountedAnalysis>[]> {
  const { viewBody } = await viewModule()
  const { takeApartPacked } = await piecesModule()
  const { messageFeatures } = await featuresModule()
  const { textPieces, textsOf } = await textModule()
  const { writtenTexts } = await writtenModule()
  const step = async <In, Out>(
    all: readonly Attempt<In>[],
    work: (one: In) => Out | Promise<Out>,
  ) => {
    const attempts: Attempt<Out>[] = []
    for (const [index, one] of all.entries()) {
      onStart(index)
      attempts.push('error' in one ? one : await attempted(() => work(one.made)))
    }
    return attempts
  }
  const given = messages.map((made) => ({ made }))
  const routes = await step(await step(given, readContent), readRoute)
  const findings = await step(routes, describe)
  const views = await step(findings, ({ page, ...found }) => ({
    ...found,
    view: viewBody(found.parts.body, page),
  }))
  const apart = await step(views, ({ plain, parts, view, wants }) => {
    return { plain, parts, wants, ...takeApartPacked(parts, view) }
  })
  return step(apart, ({ plain, parts, view, shingles, fingerprints, telephones, wants }) => {
    const features = messageFeatures({ ...plain, ...parts, view, shingles })
    const { fields } = parts
    const text = wants.readsText ? textPieces(textsOf(fields, view)) : undefined
    const written = wants.readsWritten ? writtenTexts(plain, fields, view) : undefined
    const shownText = shownIn(view)
    return {
      analysis: plain,
      shingles,
      fingerprints,
      features,
      telephones,
      shownText,
      text,
      written,
      fields,
    }
  })
}

async function attempted<T>(work: () => T | Promise<T>): Promise<Attempt<T>> {
  try {
    return { made: await work() }
  } catch (error) {
    return { error }
  }
}

/**
 * Returns the beginning of the text that a message shows to its reader, at most 4,096 characters;
 * only its links if the body exceeds the limits.
 */
export async function readShownText(raw: Buffer): Promise<string> {
  const { viewBody } = await viewModule()
  return shownIn(viewBody(await readBody(raw, parseHeader(raw))))
}

/** Returns the body of a message; only its links if the body exceeds the limits. */
export async function readBody(raw: Buffer, header: Header): Promise<MessageBody> {
  const isBomb = exceedsLimits(raw, bodyLimits, header) !== undefined
  return isBomb ? reducedBody(raw, header) : parseBody(raw, header)
}

const SHOWN_CHARS_MAX = 4_096

function shownIn({ written }: { written: string }): string {
  return written.slice(0, SHOWN_CHARS_MAX)
}

/** Analyzes a message but does not extract its pieces, which would take a third longer. */
export async function analyzePlainly(raw: Buffer, given: AnalysisOptions): Promise<PlainAnalysis> {
  return orReduced(given, async (options) => (await read(raw, options)).plain)
}

type Findings = {
  plain: PlainAnalysis
  parts: Parameters<typeof takeApart>[0]
  page: HtmlView
  wants: Pick<AnalysisOptions, 'readsText' | 'readsWritten'>
}

async function read(raw: Buffer, options: AnalysisOptions): Promise<Findings> {
  return describe(await readRoute(await readContent({ raw, options })))
}

type Content = Awaited<ReturnType<typeof readContent>>

/** Reads where a message came from. */
async function readRoute(content: Content) {
  const { raw, options, header } = content
  const fields = options.ignoreStamps ? withoutStamps(header.fields) : header.fields
  const hops = readHops(fields, options.client)
  const signed = options.isRebuilt ? withoutSignatures(header) : header
  // To verify signatures, the body would be read.
  const dns = options.isReduced ? undefined : options.dns
  const { cfbl, authentication } = await identified(raw, signed, hops, dns)
  const seals = sealsOf(authentication)
  const poster = posterOf(authentication, options.dns)
  const { originObstacle, ...way } = findOrigin(fields, hops, { ...options, seals, poster })
  return { ...content, fields, cfbl, authentication, originObstacle, way }
}

/** Reads header and body, or only the links of the body if its structure exceeds the limits. */
async function readContent({ raw, options }: GivenMessage) {
  const header = parseHeader(raw)
  const isReduced =
    options.isReduced === true || exceedsLimits(raw, bodyLimits, header) !== undefined
  const body = isReduced ? reducedBody(raw, header) : await parseBody(raw, header)
  const page = htmlView(body.html)
  const attached = await lookInto(body.attachments, bodyLimits)
  const drawn = [...picturesIn(page.pictures), ...cellPictures(body.html, page)]
  const pictures = [...drawn, ...attached.pictures]
  const read = { raw, options, header, isReduced, body, page, attached }
  if (attached.files.length === 0 && pictures.length === 0) return { ...read, files: undefined }
  const needsLook = hasFewWords(page.text) && hasFewWords(body.text)
  const files = await options.readFiles?.(attached.files, { needsLook, pictures })
  return { ...read, files }
}

/** A quick check whether a text may have fewer words than one that identifies a campaign. */
function hasFewWords(text: string): boolean {
  return text.split(/\s+/, DISTINCTIVE_WORDS_MIN + 2).length < DISTINCTIVE_WORDS_MIN + 2
}

const ccCharsMax = 8_000

/** The recipients of copies; absent without any. */
function copiesTo(fields: readonly HeaderField[]): Pick<PlainAnalysis, 'cc'> {
  const value = fieldValue(fields, 'cc')
  return value === undefined
    ? {}
    : { cc: storableText(decodeHeaderText(value.slice(0, ccCharsMax)), ccCharsMax) }
}

function describe(content: Awaited<ReturnType<typeof readRoute>>): Findings {
  const { raw, options, header, fields, way, body, page, isReduced, authentication } = content
  const { attached, files } = content
  const bounce = isReduced ? null : readBounce(raw, fields)
  const feedback = isReduced ? null : readFeedback(raw, header.fields)
  const { links, more } = findLinks(body, page, [...attached.links, ...(files?.links ?? [])])
  const attachments = describeAttachments(body.attachments, attached.contents, files?.contents)
  const signers = authentication?.dkim.filter(({ result }) => result === 'pass') ?? []
  const unsubscribe = parseListUnsubscribe(fields)
  const plain: PlainAnalysis = {
    bytes: raw.length,
    sha256: hash('sha256', raw, 'hex'),
    kind: feedback ? 'feedback-report' : bounce ? 'dsn' : messageKind(fields),
    headers: fieldsOf(fields),
    ...copiesTo(fields),
    ...way,
    originObstacle: content.originObstacle,
    authentication,
    listings: options.dns?.listings ?? null,
    links,
    ...(more > 0 && { moreLinks: more }),
    attachments,
    marketer: null,
    unsubscribe,
    claims: listClaims(fields, authentication, unsubscribe),
    cfbl: content.cfbl,
    bounce,
    feedback,
    ...(options.isRebuilt && { isRebuilt: true }),
    ...(isReduced && { isReduced: true }),
  }
  const { originConfidenceMin = 0 } = options
  const leading = links.filter(leadsSomewhere)
  const found = {
    ...way,
    originConfidenceMin,
    fields,
    body,
    links: leading,
    moreLinks: more,
    attachments,
    signers,
    look: files?.look,
    fileFaults: files?.faults ?? [],
  }
  return { plain, parts: found, page, wants: options }
}

/** Removes signature fields: a signature over a reconstructed body proves nothing. */
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

/**
 * Evaluates SPF, DKIM, DMARC and ARC. Only this function loads the library, because messages
 * without DNS lookups do not need it.
 */
async function authenticated(
  raw: Buffer,
  header: Header,
  hops: readonly Hop[],
  dns: DnsFindings,
): Promise<Authenticated> {
  const { authenticate } = await authenticateModule()
  return authenticate(raw, header, hops, dns)
}

/** Returns who posted the message to a mailing list, if the author's own signature is valid. */
function posterOf(
  authentication: Authentication | null,
  dns: DnsFindings | undefined,
): ListPoster | undefined {
  const signed = authentication?.dkim.find(({ result, aligned }) => result === 'pass' && aligned)
  const author = registrableDomainOf(signed?.domain)
  if (author === undefined || !dns) return undefined
  const names = Object.entries(dns.answers).flatMap(([question, answer]) =>
    question.startsWith('PTR ') && answer.is === 'found' ? answer.records : [],
  )
  return { author, names: names.map((name) => name.replace(/\.$/, '').toLowerCase()) }
}

/** Returns the ARC sealers of the message, newest first; empty unless the chain verifies. */
function sealsOf(authentication: Authentication | null): { domain: string; clientIp?: string }[] {
  if (authentication?.arc.result !== 'pass') return []
  return authentication.arc.seals.toReversed().map(({ domain, clientIp }) => ({
    domain,
    ...(clientIp !== null && { clientIp }),
  }))
}
