import path from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { Piscina } from 'piscina'
import type { Packed } from '../db/rows.ts'
import { type SigningKey, signMail } from '../mail/dkim-signature.ts'
import type { InboundReading } from '../mail/inbound/read-inbound.ts'
import type { JudgedPages } from '../phishing/judge-pages.ts'
import type { Analysis, AnalysisOptions } from '../pieces/analyze.ts'
import type { MessageFeatures } from '../pieces/features/features.ts'
import type { Fingerprints } from '../pieces/fingerprints.ts'
import type { MarketerEvidence } from '../pieces/marketer.ts'
import { shingleSeed } from '../pieces/shingles/hash.ts'
import type { PackedShingles } from '../pieces/shingles/packed-shingles.ts'
import type { SimulationTraces } from '../pieces/simulation-marks.ts'
import type { RelayCandidate } from '../verdict/relays.ts'
import type { OwnNames } from '../verdict/lists/spare.ts'
import type { Subject } from '../verdict/reputation/subject.ts'
import type { WrittenTexts } from '../pieces/written-texts.ts'
import type { FeedbackContent, FeedbackMail } from './feedback-content.ts'
import {
  type Chunk,
  chunkOf,
  createLine,
  type Outcome,
  type RunChunk,
  type RunTask,
} from './chunk-line.ts'
import type { ChosenFiles } from './files/choose-files.ts'
import {
  createFileReader,
  type FileReader,
  type FilesRead,
  type ReaderTools,
} from './files/file-reader.ts'
import { runInTime, type TimeLimits } from './run-in-time.ts'
import { asBuffer, asBuffers, withOwnMemory } from './thread-bytes.ts'

/** A task for a parser thread, for the bytes of one message. */
export type ParserTask =
  | AnalyzeTask
  | ComposeTask
  | { work: 'inbound'; packed: Packed; mailFrom: string; isToReturnPath: boolean }
  | { work: 'text'; packed: Packed }
  | { work: 'written'; packed: Packed }
  | { work: 'pages'; packed: Packed; analysis: Packed; own: OwnNames }

type AnalyzeTask = { work: 'analyze' | 'check'; packed: Packed; options: ThreadOptions }

/** The settings of an analysis that a thread receives. */
type ThreadOptions = Omit<AnalysisOptions, 'ignoreStamps' | 'readFiles'> & {
  /** What is known about the attached files; absent before they are read. */
  files?: FilesRead
}

type ComposeTask = {
  work: 'compose'
  packed: Packed
  analysis: Packed
  content: FeedbackContent
  /** Whether only the header is read. That is always fast, whatever the body contains. */
  isHeaderOnly: boolean
}

/** The information about a message that is known before it is parsed. */
export type ParserOptions = Omit<
  AnalysisOptions,
  'ignoreStamps' | 'readsText' | 'readsWritten' | 'readFiles'
>

/**
 * The results of an analysis that are used at once, and the complete analysis as packed JSON, most
 * of which is only stored.
 */
export type AnalysisDigest = Pick<
  Analysis,
  'kind' | 'origin' | 'originObstacle' | 'listings' | 'unsubscribe' | 'cfbl'
> &
  MarketerEvidence &
  ShownText & {
    subject: string | null
    /** The relays about which the reporter could be asked: they may belong to the reporter. */
    candidates: readonly RelayCandidate[]
    /** All addresses for which it may matter whether they belong to the reporter. */
    addressesAsked: readonly string[]
    /**
     * The times in the trusted Received fields, from the injection point up to the mailbox; null
     * where a field has no readable time.
     */
    trustedTimes: readonly (string | null)[]
    /** The address of the client behind a sending provider, if the provider reveals it. */
    submitterIp: string | undefined
    shingles: PackedShingles
    fingerprints: Fingerprints
    /** The features for the verdict that depend on the message alone. */
    features: MessageFeatures
    /** The pieces of the text, if a model reads them. */
    text: Uint32Array | undefined
    /** The texts that rules can match, if the active rules match any. */
    written: WrittenTexts | undefined
    /** The subjects whose reputation the message affects, without the autonomous system. */
    subjects: readonly Subject[]
    verifiedDomains: readonly string[]
    linkParts: LinkParts
    /** Marks and keys of simulated phishing; undefined if there are none. */
    simulation: SimulationTraces | undefined
    packed: Packed
  }

/**
 * The parts of links that may identify the recipient, as hashes of 8 bytes each, and the address
 * that received the message, if a trusted relay wrote it.
 */
type LinkParts = { hashes: Uint8Array; recipient: string | undefined }

/**
 * The results for a message that a mail server checks; nothing of it is stored. Contains only what
 * a verdict needs, because all of it is copied between threads.
 */
export type CheckDigest = Pick<
  AnalysisDigest,
  'origin' | 'listings' | 'shingles' | 'fingerprints' | 'features' | 'subjects' | 'text' | 'written'
> & { messageId: string | null }

/** `complete` waits for the digest with all files, if some were not read in time. */
export type CheckedDigest = CheckDigest & { complete?: () => Promise<CheckDigest> }

/** The files of a message that must be read before it is analyzed. */
type WantedFiles = { wanted: ChosenFiles }

/** A feedback report, and the packed copy to store and show, in which its keys are masked. */
export type ComposedFeedback = Omit<FeedbackMail, 'copy'> & { copy: Packed }

type AnalyzeOrder = {
  /** Whose message it is; the files of owners are read in fair turns. */
  owner?: string
  /** Maximum wait in milliseconds for its files, instead of that of the pool. */
  filesMsMax?: number
  /** Whether the caller repeats the attempt if the files are not read in time. */
  isRepeatable?: boolean
  /** Called when the message takes long and moves to the slow lane. */
  onSlow?: (() => void) | undefined
}

/** The files of a message were not read in time, and are read now. */
export class FilesUnderWay extends Error {}

/** The threads that parse untrusted bytes. */
export type ParserPool = {
  /**
   * Analyzes a message. When it takes too long or too much memory, its thread is replaced, and only
   * its header and links are analyzed; rejects when that fails too. Rejects with `FilesUnderWay`
   * when `isRepeatable` and its files take longer than the wait: they are read afterwards, for the
   * next attempt.
   */
  analyze: (packed: Packed, options: ParserOptions, order?: AnalyzeOrder) => Promise<AnalysisDigest>
  /** Like `analyze`, for a message that is not stored. */
  check: (raw: Buffer, options: ParserOptions, owner?: string) => Promise<CheckedDigest>
  /**
   * Composes the feedback report of a message; `analysis` is the packed analysis of its digest.
   * Uses only the header when the report with the whole message exceeds the limits of time or
   * memory. Calls `onSlow` when the message takes long and moves to the slow lane.
   */
  compose: (
    packed: Packed,
    analysis: Packed,
    content: FeedbackContent,
    onSlow?: () => void,
  ) => Promise<ComposedFeedback>
  /**
   * Reads a received mail; `mailFrom` is its envelope sender, `isToReturnPath` whether it was sent
   * to a return path of ours.
   */
  readInbound: (
    packed: Packed,
    mailFrom: string,
    sent: { isToReturnPath: boolean },
  ) => Promise<InboundReading>
  /** Returns the first kilobytes of the text that a message shows to its reader. */
  readText: (packed: Packed) => Promise<string>
  /** Returns the texts of a message that rules can match, without reading its attached files. */
  readWritten: (packed: Packed) => Promise<WrittenTexts>
  /**
   * Returns the pages to which a message leads, with the address that received it; `analysis` is
   * the packed analysis of its digest, `own` are the names of this installation.
   */
  findPages: (packed: Packed, analysis: Packed, own: OwnNames) => Promise<MessagePages>
  /** Signs a mail with the key of the pool; returns it unchanged if the pool has no key. */
  sign: (raw: Buffer) => Buffer
  close: () => Promise<void>
}

export type ParserChunk = Chunk<ParserTask>

/** The beginning of the text that a message shows to its reader. */
type ShownText = { shownText: string }

/** The texts of a message that rules can match. */
type Written = { written: WrittenTexts }

/** The pages to which a message leads; `recipient` is as in `LinkParts`. */
export type MessagePages = JudgedPages & { recipient: string | undefined }

/** The result of a task. */
export type Made =
  | AnalysisDigest
  | CheckDigest
  | WantedFiles
  | ComposedFeedback
  | InboundReading
  | ShownText
  | Written
  | MessagePages

export type ParserOutcome = Outcome<Made>

export type ParserLimits = {
  messageMsMax: number
  heapMegabytesMax: number
  /** Time in milliseconds after which a message moves to the slow lane; 2,000 when absent. */
  fastMsMax?: number
  /** Maximum wait in milliseconds for the attached files of a message; 1,500 when absent. */
  filesMsMax?: number
  /**
   * How long a message waits in milliseconds for others while a thread is busy; 0 when absent. It
   * makes messages cheaper that arrive one by one.
   */
  companyMs?: number
}

/** Data that the threads receive at their start. */
export type ThreadData = { seed: bigint; signingKey: SigningKey | undefined }

type PoolOptions = ThreadData & {
  /** The program of a thread; tests pass one that never ends. */
  threadFile: string
  /** Whether the active model reads the pieces of the text, which take time. */
  readsText: () => boolean
  /** Whether the active rules match texts of messages. */
  readsWritten: () => boolean
  /** Without it, nothing is logged. */
  app: ReaderTools
}

// The extension is `.js` in the compiled package.
const PARSER_THREAD = path.join(
  import.meta.dirname,
  `parser-thread${path.extname(import.meta.filename)}`,
)

const usualLimits: ParserLimits = { messageMsMax: 20_000, heapMegabytesMax: 128 }
const FAST_MS_MAX = 2_000
const FILES_MS_MAX = 1_500
const IDLE_MS = 60_000
/**
 * Growth of a heap in percent until V8 collects all of its garbage again. By default it is 30 % in
 * a heap with our limits: a complete collection for every 80 messages, a tenth of all CPU time.
 * With 100 % there are a third as many, and a thread needs 10 to 20 MB more.
 */
const HEAP_GROWTH = '--heap-growing-percent=100'
/**
 * Starts `threads` parser threads. Messages are sent to them in chunks. When a chunk makes its
 * thread crash, stall or use too much memory, the thread is replaced, the message at fault moves to
 * the slow lane, and the others of the chunk are read again. The slow lane is one more thread: a
 * message leaves it after at most `messageMsMax`, including the wait for other messages in it, and
 * does not delay messages in the other threads. The threads hash with the caller's seed, and sign
 * what they compose if they are given a key.
 */
export function createParserPool(
  threads: number,
  limits: ParserLimits = usualLimits,
  given: Partial<PoolOptions> = {},
): ParserPool {
  const { seed = shingleSeed(), signingKey, threadFile = PARSER_THREAD } = given
  const { heapMegabytesMax, filesMsMax: waitMs = FILES_MS_MAX } = limits
  const workerData: ThreadData = { seed, signingKey }
  const openThreads = (count: ThreadCount) =>
    openPiscina({ filename: threadFile, workerData, ...count }, heapMegabytesMax)
  const fastThreads = openThreads({ minThreads: 1, maxThreads: threads })
  const slowThread = openThreads({ minThreads: 0, maxThreads: 1 })
  const inLine = openLine({ threads, fastThreads, slowThread }, limits)
  const reader = createFileReader(given.app)
  const analyzeWithFiles = createAnalyze(inLine, reader, waitMs)
  return {
    async analyze(raw, asked, order = {}) {
      const [packed, options] = [withOwnMemory(raw), withText(asked, given)]
      const { made } = await analyzeWithFiles({ work: 'analyze', packed, options }, order)
      const digest = made as AnalysisDigest
      const shingles = asBuffer(digest.shingles)
      return { ...digest, shingles, packed: asBuffers(digest.packed) }
    },
    async check(raw, asked, owner = '') {
      const options = withText(asked, given)
      const packed = withOwnMemory({ encoding: 'identity', content: raw })
      const task = { work: 'check', packed, options } as const
      const { made, later } = await analyzeWithFiles(task, { owner })
      const complete = later && (() => later().then(checkDigestOf))
      return { ...checkDigestOf(made), ...(complete && { complete }) }
    },
    async compose(packed, analysis, content, onSlow) {
      const [own, ownAnalysis] = [withOwnMemory(packed), withOwnMemory(analysis)]
      const task: ComposeTask = {
        ...{ work: 'compose', packed: own, analysis: ownAnalysis, content, isHeaderOnly: false },
      }
      const made = await inLine(task, onSlow).catch((error: unknown) =>
        // If the header alone fails as well, the first error is reported.
        inLine({ ...task, isHeaderOnly: true }).catch(() => Promise.reject(error as Error)),
      )
      const composed = made as ComposedFeedback
      return { ...composed, raw: asBuffer(composed.raw), copy: asBuffers(composed.copy) }
    },
    readInbound: (packed, mailFrom, sent) =>
      inLine({ work: 'inbound', packed, mailFrom, ...sent }) as Promise<InboundReading>,
    readText: (packed) => inLine({ work: 'text', packed: withOwnMemory(packed) }).then(shownTextOf),
    readWritten: (packed) =>
      inLine({ work: 'written', packed: withOwnMemory(packed) }).then(writtenOf),
    findPages: (packed, analysis, own) =>
      inLine({
        ...{ work: 'pages', packed: withOwnMemory(packed), analysis: withOwnMemory(analysis), own },
      }) as Promise<MessagePages>,
    sign: (raw) => (signingKey ? signMail(raw, signingKey) : raw),
    async close() {
      reader.close()
      await Promise.all([fastThreads.close(), slowThread.destroy()])
    },
  }
}

function openLine(
  its: { threads: number; fastThreads: Piscina; slowThread: Piscina },
  { messageMsMax, fastMsMax = FAST_MS_MAX, companyMs = 0 }: ParserLimits,
): RunTask<ParserTask, Made> {
  const fastLimits = { ms: Math.min(fastMsMax, messageMsMax), wallMs: messageMsMax }
  const slowLimits = { ms: messageMsMax, wallMs: messageMsMax }
  return createLine({
    places: its.threads,
    fast: openFastLane(its.fastThreads, fastLimits),
    slow: async (chunk) => (await runInTime(its.slowThread, chunk, slowLimits)) as ParserOutcome[],
    slowAttempts,
    bytesOf: ({ packed }) => packed.content.length,
    companyMs,
  })
}

/**
 * The start of a thread is not counted as time of a chunk. Otherwise the chunk after one that
 * stalls would be considered slow, too.
 */
function openFastLane(threads: Piscina, limits: TimeLimits): RunChunk<ParserTask, Made> {
  const start = () => threads.run(chunkOf([])).catch(() => undefined)
  let isStarted = start()
  return async (chunk) => {
    await isStarted
    try {
      return (await runInTime(threads, chunk, limits)) as ParserOutcome[]
    } catch (error) {
      isStarted = start()
      throw error
    }
  }
}

/** `later` waits for the result with all files, if some were not read in time. */
type Analyzed = { made: Made; later?: () => Promise<Made> }

/** Returns a function that analyzes a message after its files are read, or after the wait. */
function createAnalyze(run: RunTask<ParserTask, Made>, reader: FileReader, waitMs: number) {
  return async (task: AnalyzeTask, given: AnalyzeOrder): Promise<Analyzed> => {
    const { owner = '', filesMsMax = waitMs, isRepeatable = false, onSlow } = given
    const first = await run(task, onSlow)
    if (!('wanted' in first)) return { made: first }
    const order = { owner, waitMs: filesMsMax }
    const { later, ...now } = await reader.read(asChosen(first.wanted), order)
    if (later && isRepeatable) throw new FilesUnderWay()
    const withFiles = (files: FilesRead) =>
      run({ ...task, options: { ...task.options, files } }, onSlow)
    const made = await withFiles(now)
    return later ? { made, later: () => later.then(withFiles) } : { made }
  }
}

function checkDigestOf(made: Made): CheckDigest {
  const digest = made as CheckDigest
  return { ...digest, shingles: asBuffer(digest.shingles) }
}

function asChosen({ files, faults }: ChosenFiles): ChosenFiles {
  return { files: files.map((file) => ({ ...file, content: asBuffer(file.content) })), faults }
}

function shownTextOf(made: Made): string {
  return (made as ShownText).shownText
}

function writtenOf(made: Made): WrittenTexts {
  return (made as Written).written
}

function withText(options: ParserOptions, given: Partial<PoolOptions>): ThreadOptions {
  const [readsText, readsWritten] = [given.readsText?.(), given.readsWritten?.()]
  if (!readsText && !readsWritten) return options
  return { ...options, ...(readsText && { readsText }), ...(readsWritten && { readsWritten }) }
}

type ThreadCount = { minThreads: number; maxThreads: number }

function openPiscina(
  options: ThreadCount & { filename: string; workerData: ThreadData },
  heapMegabytesMax: number,
): Piscina {
  setFlagsFromString(HEAP_GROWTH)
  const opened = new Piscina({
    ...options,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax, maxYoungGenerationSizeMb: 24 },
  })
  // A thread that dies after its task is replaced; without a listener the error would end the
  // process.
  return opened.on('error', () => undefined)
}

/**
 * The attempts in the slow lane. The last one of an analysis reads only the header and the links. A
 * check begins with it, because the mail server does not wait for longer.
 */
function slowAttempts(task: ParserTask): ParserTask[] {
  if (task.work !== 'analyze' && task.work !== 'check') return [task]
  const reduced = { ...task, options: { ...task.options, isReduced: true } }
  return task.work === 'check' ? [reduced] : [task, reduced]
}
