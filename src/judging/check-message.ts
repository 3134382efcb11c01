import { hash } from 'node:crypto'
import type { App } from '../app.ts'
import { type CheckBuffer, countChecked, createCheckBuffer } from '../counting/check-buffer.ts'
import { appendBlocks } from '../counting/count-messages.ts'
import { remembering } from '../counting/reputation-reader.ts'
import { batched } from '../db/batched.ts'
import { isOutage } from '../db/follow.ts'
import type { SuspectMessage } from '../db/sender-alerts.ts'
import { reasonOf, sqlState } from '../errors.ts'
import type { CheckDigest, CheckedDigest, ParserPool } from '../parsing/parser-pool.ts'
import type { Fingerprints } from '../pieces/fingerprints.ts'
import { sendingShingles } from '../pieces/shingles/sending-user.ts'
import { envelopeShingles, withSpreadShingles } from '../pieces/shingles/take-apart.ts'
import { hasSureOrigin } from '../verdict/subjects.ts'
import {
  isUnwanted,
  isUnwantedFromAnyone,
  strongestAgainst,
  type Verdict,
} from '../verdict/verdict.ts'
import { findCampaigns, findNetworks } from './find-campaigns.ts'
import {
  type AskAboutClient,
  createFirstFilter,
  type FirstFilter,
  type SettledBy,
} from './first-filter.ts'
import { type CheckedEnvelope, type Judge, openJudge, sendingUserOf } from './judge.ts'
import type { SenderWatch } from './sender-watch.ts'

/** An analyzed message that a mail server checks. */
type CheckedCase = { digest: CheckDigest; envelope: CheckedEnvelope }

/** The verdict on a checked message, and what was found about it for the verdict. */
type JudgedCheck = { verdict: Verdict; campaignId?: string; originCountry?: string | null }

/**
 * Judges a checked message; undefined when the message itself causes a failure, temporary or
 * permanent. Rejects when the database is not available.
 */
export type JudgeChecked = (one: CheckedCase) => Promise<JudgedCheck | undefined>

type Needs = Pick<App, 'pool' | 'clock' | 'log'>
type JudgeAll = (cases: readonly CheckedCase[]) => Promise<readonly JudgedCheck[]>

/** Number of parallel batches. While one waits for the database, the next is prepared. */
const LANES = 2
/**
 * Cache of campaigns and networks, which change slowly: maximum number of keys, and lifetime in
 * milliseconds.
 */
const MEMORY = { keysMax: 20_000, freshMs: 10_000 }

/**
 * Judges messages that mail servers check. Messages checked at the same time are judged as a batch,
 * because round trips to the database cost more than the queries. If a batch fails, each message is
 * judged alone, so that no message can spoil the verdicts on others.
 */
export function createJudgeChecked(app: Needs, judge: Judge): JudgeChecked {
  const judgeAll = createJudgeAll(app, judge)
  const judgeAlone = async (one: CheckedCase): Promise<JudgedCheck | undefined> => {
    try {
      return (await judgeAll([one]))[0]
    } catch (error) {
      if (isOfDatabase(error)) throw error
      app.log.warn({ reason: reasonOf(error) }, 'A checked message could not be judged.')
      return undefined
    }
  }
  return batched(
    async (cases) => {
      try {
        return await judgeAll(cases)
      } catch (error) {
        if (isOfDatabase(error)) throw error
        return Promise.all(cases.map(judgeAlone))
      }
    },
    { lanes: LANES },
  )
}

function isOfDatabase(error: unknown): boolean {
  return isOutage(error) || sqlState(error) !== undefined
}

function createJudgeAll({ pool, clock }: Needs, judge: Judge): JudgeAll {
  const campaignsOf = remembering(
    (prints: readonly Fingerprints[]) => findCampaigns(pool, prints, clock()),
    clock,
    MEMORY,
  )
  const networksOf = remembering(
    async (ips: readonly string[]) => {
      const found = await findNetworks(pool, ips, clock())
      return ips.map((ip) => found.get(ip))
    },
    clock,
    MEMORY,
  )
  const look = async (cases: readonly CheckedCase[]) => {
    const [campaignIds, networks] = await Promise.all([
      campaignsOf(
        cases.map(({ digest: { fingerprints } }) => {
          return { key: hash('md5', JSON.stringify(fingerprints)), question: fingerprints }
        }),
      ),
      networksOf(
        cases.map(({ digest: { origin } }) => ({
          key: origin?.ip ?? '',
          question: origin?.ip ?? '',
        })),
      ),
    ])
    return cases.map((_, index) => ({ campaignId: campaignIds[index], network: networks[index] }))
  }
  return async (cases) => {
    const pending = look(cases)
    const [judged, circumstances] = await Promise.all([judge(cases, pending), pending])
    return judged.map(({ verdict, subjects }, index) => {
      const { campaignId, network } = circumstances[index] ?? {}
      const isSure = hasSureOrigin(subjects)
      return {
        verdict,
        ...(campaignId !== undefined && { campaignId }),
        ...(isSure && { originCountry: network?.country ?? null }),
      }
    })
  }
}

/** The result for a message; `unread` when it could not be parsed, or was not given. */
export type Checked = { verdict: Verdict; messageId: string | undefined; by: SettledBy } | 'unread'

/** Answers checks of mail servers. Opens its resources on the first check. */
export type MessageChecker = {
  /**
   * Checks a message; `raw` is undefined if only its envelope is known. Rejects when the database
   * is not available; the mail server then uses its own default.
   */
  check: (raw: Buffer | undefined, envelope: CheckedEnvelope) => Promise<Checked>
  /** Looks up what the first filter needs, so that the next check finds it in memory. */
  prepare: (envelope: CheckedEnvelope) => Promise<void>
  /** Returns the number of counts dropped for lack of memory while the database was unreachable. */
  lost: () => number
  /** Writes the remaining counts. */
  close: () => Promise<void>
}

/** What a checker uses if it is given. */
export type CheckTools = {
  /** Without it, no DNS blacklist is queried. */
  askAboutClient?: AskAboutClient | undefined
  /** Without it, no alert about a sending user is raised. */
  watch?: Pick<SenderWatch, 'note'> | undefined
}

type CheckNeeds = Pick<App, 'pool' | 'clock' | 'log' | 'config'>

type Opened = {
  judge: JudgeChecked
  firstFilter: FirstFilter
  parser: ParserPool
  buffer: CheckBuffer
  watch: CheckTools['watch']
  late: Late
  close: () => Promise<void>
}

/** Functions that count the messages whose files are still being read. */
type Late = Set<() => void>

/**
 * Maximum number of sums in the buffer, which writes when half of it is used: the most that 1,800
 * different messages have.
 */
const SUMS_MAX = 2 ** 18
/** Maximum age in milliseconds of cached data behind a verdict. */
const FRESH_MS = 10_000
/**
 * Limits for parsing: time in milliseconds, shorter than the timeout of mail servers, the parts of
 * it for the attached files and for the wait for other messages, and heap size.
 */
const READING = { messageMsMax: 4_000, heapMegabytesMax: 128, filesMsMax: 150, companyMs: 3 }

/** Creates the message checker of one process. Its threads start on the first check. */
export function createMessageChecker(
  app: CheckNeeds,
  name: string,
  tools: CheckTools = {},
): MessageChecker {
  let opened: Promise<Opened> | undefined
  let lost = () => 0
  const open = async () => {
    const made = await openChecker(app, name, tools).catch((error: unknown) => {
      // The next check tries again.
      opened = undefined
      throw error
    })
    lost = made.buffer.lost
    return made
  }
  return {
    check: async (raw, envelope) => checkMessage(await (opened ??= open()), raw, envelope, app),
    prepare: async (envelope) => void (await (await (opened ??= open())).firstFilter(envelope)),
    lost: () => lost(),
    async close() {
      const made = await opened?.catch(() => undefined)
      await made?.close()
    },
  }
}

async function openChecker(
  app: CheckNeeds,
  name: string,
  { askAboutClient, watch }: CheckTools,
): Promise<Opened> {
  const { createParserPool } = await import('../parsing/parser-pool.ts')
  const { pool, clock, log } = app
  const opened = await openJudge(app, { name, freshMs: FRESH_MS })
  const { judge, reputations, reads, close } = opened
  const parser = createParserPool(app.config.workers, READING, { ...reads, app })
  const late: Late = new Set()
  const buffer = createCheckBuffer(
    {
      append: (blocks) => appendBlocks(pool, blocks, clock()),
      clock,
      failed: (error) =>
        log.warn(
          { reason: reasonOf(error) },
          'Could not store the counts of checked messages. Will retry.',
        ),
    },
    SUMS_MAX,
  )
  return {
    judge: createJudgeChecked(app, judge),
    firstFilter: createFirstFilter((subjects) => reputations.read(subjects), askAboutClient),
    parser,
    buffer,
    watch,
    late,
    async close() {
      for (const countKnown of late) countKnown()
      late.clear()
      await buffer.close()
      await Promise.all([parser.close(), close()])
    },
  }
}

async function checkMessage(
  { parser, buffer, judge, firstFilter, watch, late }: Opened,
  raw: Buffer | undefined,
  envelope: CheckedEnvelope,
  { config, log, clock }: CheckNeeds,
): Promise<Checked> {
  const { settled, listings } = await firstFilter(envelope)
  if (settled) {
    countChecked(buffer, envelopeShingles(envelope), 'spam', 'checks')
    return { ...settled, messageId: undefined }
  }
  if (!raw) return 'unread'
  const options = { trustedRelays: [], originConfidenceMin: config.originConfidenceMin }
  const client = clientOf(envelope)
  const digest = await parser
    .check(raw, client ? { ...options, client } : options, envelope.user ?? envelope.ip)
    .catch((error: unknown) => {
      log.warn(
        { reason: reasonOf(error), bytes: raw.length },
        'A checked message could not be analyzed, not even its header and links.',
      )
      return undefined
    })
  if (!digest) return 'unread'
  const judged = await judge({ digest: { ...digest, listings }, envelope })
  if (!judged) return 'unread'
  const { verdict } = judged
  const count = (counted: CheckDigest) =>
    countMail({ buffer, watch }, counted, { envelope, judged, at: clock() })
  if (digest.complete) countLater(digest, late, count)
  else count(digest)
  return { verdict, messageId: digest.messageId ?? undefined, by: 'message' }
}

/**
 * Counts a message with its files after these are read; without them if that fails, or if the
 * process ends before.
 */
function countLater(
  { complete, ...digest }: CheckedDigest,
  late: Late,
  count: (digest: CheckDigest) => void,
): void {
  const countKnown = () => count(digest)
  late.add(countKnown)
  const countOnce = (counted: CheckDigest) => {
    if (late.delete(countKnown)) count(counted)
  }
  void complete?.().then(countOnce, () => countOnce(digest))
}

/**
 * Counts a judged message, and how far it is spread. Mail of the mail server's own users is
 * outgoing; it counts for the user and its recipients instead.
 */
function countMail(
  { buffer, watch }: Pick<Opened, 'buffer' | 'watch'>,
  { shingles }: CheckDigest,
  { envelope, judged, at }: { envelope: CheckedEnvelope; judged: JudgedCheck; at: Date },
): void {
  const { verdict, ...found } = judged
  const as = isUnwanted(verdict) ? 'spam' : 'ham'
  const sender = sendingUserOf(envelope)
  if (!sender) {
    const { recipients } = envelope
    countChecked(buffer, withSpreadShingles(shingles, { ...found, recipients }), as, 'checks')
    return
  }
  countChecked(buffer, shingles, as, 'outgoing')
  const sent = sendingShingles(sender, 'sent', envelope.recipients)
  const isSuspect = isUnwantedFromAnyone(verdict)
  countChecked(buffer, sent, isSuspect ? 'spam' : 'ham', 'outgoing')
  if (isSuspect) watch?.note(sender, suspectMessage(verdict, envelope, at))
}

const SYMBOLS_SHOWN_MAX = 8

function suspectMessage(
  { class: its, score, symbols }: Verdict,
  { queueId, recipients }: CheckedEnvelope,
  at: Date,
): SuspectMessage {
  return {
    at: at.toISOString(),
    queueId: queueId ?? null,
    recipients: recipients.length,
    class: its,
    score,
    symbols: strongestAgainst(symbols, SYMBOLS_SHOWN_MAX).map(({ name }) => name),
  }
}

function clientOf({ ip, helo, hostname }: CheckedEnvelope) {
  if (ip === undefined) return undefined
  return {
    ip,
    ...(helo !== undefined && { helo }),
    ...(hostname !== undefined && { rdns: hostname }),
  }
}
