import type { App } from '../app.ts'
import { appendBlocks } from '../counters/append-deltas.ts'
import { type CheckBuffer, createCheckBuffer } from '../counters/check-buffer.ts'
import { countChecked } from '../counters/count-checked.ts'
import { reasonOf } from '../errors.ts'
import type { ParserPool } from '../parsing/parser-pool.ts'
import { isUnwanted, type Verdict } from '../verdict/verdict.ts'
import type { Envelope } from './envelope.ts'
import { flaggedVerdict, type FlagsOf, subjectsOf } from './first-filter.ts'
import { createJudgeChecked, type JudgeChecked } from './judge-checked.ts'
import { openJudge } from './open-judge.ts'

/** What is made of a message; `unread` where it could not be read, now or ever. */
export type Checked = { verdict: Verdict; messageId: string | undefined } | 'unread'

/** Answers mail servers. What it needs is opened with the first question. */
export type CheckStation = {
  /** Rejects when what is known could not be asked: the mail server falls back on its own. */
  check: (raw: Buffer, envelope: Envelope) => Promise<Checked>
  /** Counts that are lost for want of room, while the database was away. */
  lost: () => number
  /** Appends what was counted. */
  close: () => Promise<void>
}

type Needs = Pick<App, 'pool' | 'clock' | 'log' | 'config'>

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
export function createCheckStation(app: Needs, name: string): CheckStation {
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

async function openStation(app: Needs, name: string): Promise<Opened> {
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
  envelope: Envelope,
  { config, log }: Needs,
): Promise<Checked> {
  const subjects = subjectsOf(envelope)
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

function clientOf({ ip, helo, hostname }: Envelope) {
  if (ip === undefined) return undefined
  return {
    ip,
    ...(helo !== undefined && { helo }),
    ...(hostname !== undefined && { rdns: hostname }),
  }
}
