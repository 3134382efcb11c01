import { hash } from 'node:crypto'
import type { App } from '../app.ts'
import { type CheckBuffer, countChecked, createCheckBuffer } from '../counting/check-buffer.ts'
import { appendBlocks } from '../counting/count-messages.ts'
import { remembering } from '../counting/reputation-reader.ts'
import { isOutage } from '../db/follow.ts'
import { reasonOf, sqlState } from '../errors.ts'
import type { CheckDigest, ParserPool } from '../parsing/parser-pool.ts'
import type { Fingerprints } from '../pieces/fingerprints.ts'
import { isUnwanted, type Verdict } from '../verdict/verdict.ts'
import { findCampaigns, findNetworks } from './find-campaigns.ts'
import {
  type CheckedEnvelope,
  flaggedVerdict,
  type FlagsOf,
  gathered,
  type Judge,
  openJudge,
  envelopeSubjects,
} from './judge.ts'

/** A message that a mail server asks about, read. */
type CheckedCase = { digest: CheckDigest; envelope: CheckedEnvelope }

/**
 * Gives the verdict on a message that is checked; undefined where the message itself is what makes
 * it fail, now or ever. Rejects when what is known could not be asked.
 */
export type JudgeChecked = (one: CheckedCase) => Promise<Verdict | undefined>

type Needs = Pick<App, 'pool' | 'clock' | 'log'>
type JudgeAll = (cases: readonly CheckedCase[]) => Promise<readonly Verdict[]>

/** While one round waits for the database, the next is made ready. */
const LANES = 2
/** Campaigns and networks change slowly, and mail comes in waves. */
const MEMORY = { keysMax: 20_000, freshMs: 10_000 }

/**
 * Judges messages that mail servers ask about. Those that are asked about at the same time are
 * judged together: the journeys to the database cost more than what is done there. Where one of
 * them fails, each is judged alone: nobody may spoil the verdicts on the mail of others.
 */
export function createJudgeChecked(app: Needs, judge: Judge): JudgeChecked {
  const judgeAll = createJudgeAll(app, judge)
  const judgeAlone = async (one: CheckedCase): Promise<Verdict | undefined> => {
    try {
      return (await judgeAll([one]))[0]
    } catch (error) {
      if (isOfDatabase(error)) throw error
      app.log.warn({ reason: reasonOf(error) }, 'A checked message was not judged.')
      return undefined
    }
  }
  return gathered(async (cases) => {
    try {
      return await judgeAll(cases)
    } catch (error) {
      if (isOfDatabase(error)) throw error
      return Promise.all(cases.map(judgeAlone))
    }
  }, LANES)
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
  return async (cases) => {
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
    const judged = await judge(
      cases.map(({ digest, envelope }, index) => ({
        digest,
        envelope,
        campaignId: campaignIds[index],
        network: networks[index],
      })),
    )
    return judged.map(({ verdict }) => verdict)
  }
}

/** What is made of a message; `unread` where it could not be read, now or ever. */
export type Checked = { verdict: Verdict; messageId: string | undefined } | 'unread'

/** Answers mail servers. What it needs is opened with the first question. */
export type CheckStation = {
  /** Rejects when what is known could not be asked: the mail server falls back on its own. */
  check: (raw: Buffer, envelope: CheckedEnvelope) => Promise<Checked>
  /** Counts that are lost for want of room, while the database was away. */
  lost: () => number
  /** Appends what was counted. */
  close: () => Promise<void>
}

type CheckNeeds = Pick<App, 'pool' | 'clock' | 'log' | 'config'>

type Opened = {
  judge: JudgeChecked
  flagsOf: FlagsOf
  parser: ParserPool
  buffer: CheckBuffer
  close: () => Promise<void>
}

/** Sums in the buffer: half a second of a thousand messages, twice over. */
const SUMS_MAX = 2 ** 17
/** A verdict is from what was known so long ago at most. */
const FRESH_MS = 10_000
/** Less than mail servers wait. */
const READING = { messageMsMax: 4_000, heapMegabytesMax: 128 }

/** The station of one process. Its threads start with the first question. */
export function createCheckStation(app: CheckNeeds, name: string): CheckStation {
  let opened: Promise<Opened> | undefined
  let lost = () => 0
  const open = async () => {
    const made = await openStation(app, name).catch((error: unknown) => {
      // The next question tries again.
      opened = undefined
      throw error
    })
    lost = made.buffer.lost
    return made
  }
  return {
    check: async (raw, envelope) => checkMessage(await (opened ??= open()), raw, envelope, app),
    lost: () => lost(),
    async close() {
      const made = await opened?.catch(() => undefined)
      await made?.close()
    },
  }
}

async function openStation(app: CheckNeeds, name: string): Promise<Opened> {
  const { createParserPool } = await import('../parsing/parser-pool.ts')
  const { pool, clock, log } = app
  const { judge, reputations, close } = await openJudge(app, { name, freshMs: FRESH_MS })
  const parser = createParserPool(app.config.workers, READING)
  const buffer = createCheckBuffer(
    {
      append: (blocks) => appendBlocks(pool, blocks, clock()),
      clock,
      failed: (error) => log.warn({ reason: reasonOf(error) }, 'Counts of checks have to wait.'),
    },
    SUMS_MAX,
  )
  return {
    judge: createJudgeChecked(app, judge),
    flagsOf: (subjects) => reputations.read(subjects),
    parser,
    buffer,
    async close() {
      await buffer.close()
      await Promise.all([parser.close(), close()])
    },
  }
}

async function checkMessage(
  { parser, buffer, judge, flagsOf }: Opened,
  raw: Buffer,
  envelope: CheckedEnvelope,
  { config, log }: CheckNeeds,
): Promise<Checked> {
  const subjects = envelopeSubjects(envelope)
  const flagged = flaggedVerdict(subjects, await flagsOf(subjects))
  if (flagged) return { verdict: flagged, messageId: undefined }
  const options = { trustedRelays: [], originConfidenceMin: config.originConfidenceMin }
  const client = clientOf(envelope)
  const digest = await parser
    .check(raw, client ? { ...options, client } : options)
    .catch((error: unknown) => {
      log.warn({ reason: reasonOf(error), bytes: raw.length }, 'A checked message was not read.')
      return undefined
    })
  if (!digest) return 'unread'
  const verdict = await judge({ digest, envelope })
  if (!verdict) return 'unread'
  countChecked(buffer, digest.shingles, isUnwanted(verdict) ? 'spam' : 'ham')
  return { verdict, messageId: digest.messageId ?? undefined }
}

function clientOf({ ip, helo, hostname }: CheckedEnvelope) {
  if (ip === undefined) return undefined
  return {
    ip,
    ...(helo !== undefined && { helo }),
    ...(hostname !== undefined && { rdns: hostname }),
  }
}
