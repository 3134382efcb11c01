import { move, transferableSymbol, valueSymbol, workerData } from 'piscina'
import { pack, type Packed, unpack } from '../db/rows.ts'
import { reasonOf } from '../errors.ts'
import { signMail, withSignatureOf } from '../mail/dkim-signature.ts'
import { parseHeader } from '../mail/header.ts'
import { readInbound } from '../mail/inbound/read-inbound.ts'
import { unsubscribeUris } from '../mail/list-unsubscribe.ts'
import {
  analyzeForCounting,
  type AnalysisOptions,
  analyzeTogether,
  orReduced,
  readBody,
  readShownText,
  type CountedAnalysis,
  type FileFindings,
  type GivenMessage,
  type PlainAnalysis,
} from '../pieces/analyze.ts'
import { recipientsIn, untagged } from '../evidence/identity.ts'
import { codedParts } from '../evidence/link-writer.ts'
import { findLinks } from '../pieces/links.ts'
import { seedShingles, textHash } from '../pieces/shingles/hash.ts'
import { findSimulationTraces } from '../pieces/simulation-marks.ts'
import type { WrittenTexts } from '../pieces/written-texts.ts'
import { trustedTimes } from '../verdict/consequences.ts'
import { addressesAsked, relayCandidates } from '../verdict/relays.ts'
import { subjectsOf, verifiedDomains } from '../verdict/subjects.ts'
import {
  type AnalysisDigest,
  type CheckDigest,
  type Made,
  type MessagePages,
  type ParserChunk,
  type ParserOptions,
  type ParserOutcome,
  type ParserTask,
  type ThreadData,
} from './parser-pool.ts'
import { type ChosenFiles, chooseFiles } from './files/choose-files.ts'
import { combinedFindings, createKnownFindings } from './files/file-findings.ts'
import { beforeEnd, createEndLock } from './run-in-time.ts'
import { asBuffers, copyOf, owned } from './thread-bytes.ts'

const { seed, signingKey } = workerData as ThreadData
seedShingles(seed)

/** The lock of the current chunk. */
let endLock = createEndLock()
const packWhole = (bytes: Buffer) => beforeEnd(endLock, () => pack(bytes))
const unpackWhole = (packed: Packed) => beforeEnd(endLock, () => unpack(asBuffers(packed)))

/**
 * Runs the tasks of a chunk in a thread of the parser pool and returns an outcome for each, in
 * order: first those that analyze a message, together, then the others. Transfers the bytes instead
 * of copying them, because a copy would be garbage on both sides.
 */
export default async function run({ tasks, progress, lock }: ParserChunk): Promise<unknown> {
  endLock = lock
  const start = (index: number) => Atomics.store(progress, 0, index)
  const analyzed = await analyzeAll(tasks, start)
  const outcomes: ParserOutcome[] = []
  for (const [index, task] of tasks.entries()) {
    const known = analyzed.get(index)
    if (!known) start(index)
    outcomes.push(known ?? (await outcomeOf(() => make(task))))
  }
  const contents = outcomes.flatMap((outcome) => ('made' in outcome ? bytesOf(outcome.made) : []))
  return move({
    [transferableSymbol]: contents.map(({ buffer }) => buffer),
    [valueSymbol]: outcomes,
  })
}

async function outcomeOf(make: () => Promise<Made>): Promise<ParserOutcome> {
  try {
    return { made: await make() }
  } catch (error) {
    return { fault: reasonOf(error) }
  }
}

type AnalysisTask = Extract<ParserTask, { work: 'analyze' | 'check' }>

function isAnalysis(task: ParserTask): task is AnalysisTask {
  return task.work === 'analyze' || task.work === 'check'
}

/** Analyzes the messages of those tasks that request it; returns the outcomes by task. */
async function analyzeAll(tasks: readonly ParserTask[], start: (index: number) => void) {
  const outcomes = new Map<number, ParserOutcome>()
  const given: (GivenMessage & { index: number; work: AnalysisTask['work'] })[] = []
  for (const [index, task] of tasks.entries()) {
    if (!isAnalysis(task)) continue
    start(index)
    try {
      const raw = await unpackWhole(task.packed)
      const { files, ...asked } = task.options
      files?.each.forEach(knownFindings.keep)
      const readFiles = files ? () => files.findings : requireFiles
      const options = { ...asked, ignoreStamps: false, readFiles }
      given.push({ index, work: task.work, raw, options })
    } catch (error) {
      outcomes.set(index, { fault: reasonOf(error) })
    }
  }
  const attempts = await analyzeTogether(given, (at) => start(given[at]?.index ?? 0))
  for (const [at, { index, work, raw, options }] of given.entries()) {
    start(index)
    const first = attempts[at]
    if (first && 'error' in first && first.error instanceof FilesWanted) {
      outcomes.set(index, { made: { wanted: withOwnFiles(first.error.chosen) } })
      continue
    }
    const analyze = async (its: AnalysisOptions) => {
      const attempt = its === options ? first : (await analyzeTogether([{ raw, options: its }]))[0]
      if (!attempt || 'error' in attempt) throw attempt?.error
      return work === 'check' ? checkDigest(attempt.made, its) : digest(attempt.made, its)
    }
    outcomes.set(index, await outcomeOf(() => orReduced(options, analyze)))
  }
  return outcomes
}

/** Ends the analysis of a message whose files must be read before, in another process. */
class FilesWanted extends Error {
  readonly chosen: ChosenFiles

  constructor(chosen: ChosenFiles) {
    super('The files of the message are not read yet.')
    this.chosen = chosen
  }
}

/** What this thread knows: a message with known files is analyzed at once. */
const knownFindings = createKnownFindings({ max: 2_000, bytesMax: 2_000_000 })

function requireFiles(...given: Parameters<typeof chooseFiles>): FileFindings {
  const chosen = chooseFiles(...given)
  const found = chosen.files.map(({ key }) => knownFindings.find(key))
  if (!found.every((one) => one !== undefined)) throw new FilesWanted(chosen)
  return combinedFindings(found, chosen.faults)
}

function withOwnFiles({ files, faults }: ChosenFiles): ChosenFiles {
  return { files: files.map((file) => ({ ...file, content: copyOf(file.content) })), faults }
}

function bytesOf(made: Made): { buffer: ArrayBufferLike }[] {
  if ('wanted' in made) return made.wanted.files.map(({ content }) => content)
  if ('raw' in made) return [made.raw, made.copy.content]
  if (!('shingles' in made)) return []
  const { shingles, text } = made
  const pieces = text ? [shingles, text] : [shingles]
  return 'packed' in made ? [...pieces, made.packed.content] : pieces
}

async function packOwned(bytes: Buffer): Promise<Packed> {
  const { encoding, content } = await packWhole(bytes)
  // If packing does not shrink the bytes, `content` is `bytes` itself, which can be transferred
  // only once.
  return { encoding, content: content === bytes ? copyOf(content) : owned(content) }
}

async function make(task: ParserTask): Promise<Made> {
  if (isAnalysis(task)) throw new Error('Messages are analyzed together.')
  const raw = await unpackWhole(task.packed)
  if (task.work === 'text') return { shownText: await readShownText(raw) }
  if (task.work === 'written') return { written: await readWritten(raw) }
  if (task.work === 'inbound') return readInbound(raw, task.mailFrom, task)
  if (task.work === 'pages') return findPages(raw, task)
  // Imported only here, because threads that only analyze do not need the texts of reports.
  const { composeFeedback } = await import('./compose-report.ts')
  const json = (await unpackWhole(task.analysis)).toString()
  const message = task.isHeaderOnly ? headerOf(raw) : raw
  const report = await composeFeedback(message, JSON.parse(json) as PlainAnalysis, {
    ...task.content,
    form: task.isHeaderOnly ? 'headers' : task.content.form,
  })
  // Signs in this thread, so that the stored copy has the signature of the mail that is sent.
  const signed = signingKey ? signMail(report.raw, signingKey) : report.raw
  const copy = withSignatureOf(signed, report.copy)
  return { raw: owned(signed), copy: await packOwned(copy), line: report.line }
}

async function readWritten(raw: Buffer): Promise<WrittenTexts> {
  const options = { trustedRelays: [], ignoreStamps: false, readsWritten: true }
  const { written } = await analyzeForCounting(raw, options)
  if (!written) throw new Error('The texts of the message were not read.')
  return written
}

async function findPages(
  raw: Buffer,
  { analysis, own }: Extract<ParserTask, { work: 'pages' }>,
): Promise<MessagePages> {
  // Imported only here, because it has much data that no other task needs.
  const { judgePages } = await import('../phishing/judge-pages.ts')
  const { origin } = JSON.parse((await unpackWhole(analysis)).toString()) as PlainAnalysis
  const header = parseHeader(raw)
  const { fields } = header
  const body = await readBody(raw, header)
  const found = judgePages({ fields, body, links: findLinks(body).links }, own)
  const [recipient] = recipientsIn(fields, (origin?.hop ?? -1) + 1).delivered
  return { ...found, recipient: recipient && untagged(recipient) }
}

const HEADER_BYTES_MAX = 64 * 1024

/** Returns the header, up to 64 KB, which is as much as mail servers usually accept. */
function headerOf(raw: Buffer): Buffer {
  const start = raw.subarray(0, HEADER_BYTES_MAX)
  return start.subarray(0, parseHeader(start).bodyOffset)
}

async function digest(made: CountedAnalysis, options: ParserOptions): Promise<AnalysisDigest> {
  const packed = await packOwned(Buffer.from(JSON.stringify(made.analysis)))
  return { ...digestOf(made, options), packed }
}

function checkDigest(made: CountedAnalysis, options: ParserOptions): CheckDigest {
  const { analysis, shingles, fingerprints, features, telephones, text, written } = made
  const { originConfidenceMin = 0 } = options
  return {
    text,
    written,
    origin: analysis.origin,
    listings: analysis.listings,
    shingles: owned(shingles),
    fingerprints,
    features,
    subjects: subjectsOf({ ...analysis, telephones }, { originConfidenceMin }),
    messageId: analysis.headers.messageId,
  }
}

/** Finds the parts of links that may identify the recipient, and who received the message. */
function linkPartsOf({ analysis, fields }: CountedAnalysis): AnalysisDigest['linkParts'] {
  const urls = analysis.links.map(({ url }) => url)
  const hashes = codedParts(urls, unsubscribeUris(fields)).map(textHash)
  const [recipient] =
    hashes.length === 0 ? [] : recipientsIn(fields, (analysis.origin?.hop ?? -1) + 1).delivered
  return {
    hashes: copyOf(Buffer.from(BigUint64Array.from(hashes).buffer)),
    recipient: recipient && untagged(recipient),
  }
}

function digestOf(made: CountedAnalysis, options: ParserOptions): Omit<AnalysisDigest, 'packed'> {
  const { analysis, shingles, fingerprints, features, telephones, shownText, text, written } = made
  const { kind, origin, originObstacle, listings, headers, hops, submitter } = analysis
  const { authentication, claims, unsubscribe, cfbl } = analysis
  const { originConfidenceMin = 0 } = options
  const isSure = (one: { confidence: number }) => one.confidence >= originConfidenceMin
  const candidates = relayCandidates(hops)
  return {
    text,
    written,
    shownText,
    kind,
    origin,
    originObstacle,
    listings,
    unsubscribe,
    cfbl,
    subject: headers.subject,
    authentication: authentication && { spf: authentication.spf, dkim: authentication.dkim },
    listId: claims?.listId ?? null,
    authorDomain: claims?.authorDomain ?? null,
    candidates,
    addressesAsked: addressesAsked(hops, candidates),
    trustedTimes: trustedTimes(hops),
    submitterIp: submitter && isSure(submitter) ? submitter.ip : undefined,
    shingles: owned(shingles),
    fingerprints,
    features,
    subjects: subjectsOf({ ...analysis, telephones }, { originConfidenceMin }),
    verifiedDomains: verifiedDomains(analysis),
    linkParts: linkPartsOf(made),
    simulation: findSimulationTraces(made.fields),
  }
}
