import { LRUCache } from 'lru-cache'
import type { App } from '../app.ts'
import {
  countProbesTo,
  isNewcomer,
  listProbeLetters,
  listProbes,
  PROBE_DAYS,
} from '../db/mail-probes.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { listMailboxesOf } from '../db/receiving-hosts.ts'
import { listRelaysOf } from '../db/reporter-relays.ts'
import { findReporterSettings, holdReporters, type Reporter } from '../db/reporters.ts'
import { listAskedReports } from '../db/reports.ts'
import { DAY_MS, MINUTE_MS } from '../durations.ts'
import { type Language, textsIn } from '../texts/messages.ts'
import { uuidFloor } from '../world.ts'
import { composeBody, type LetterBody } from './letter-body.ts'
import { queueLetter } from './send-letter.ts'

const PROBES_A_DAY = 3

/**
 * Composes a letter that its reader reports, so that it shows the way of the reader's mail. Without
 * the page of relays if the reader cannot sign in.
 */
export function composeProbe(
  language: Language,
  relaysUrl: string | undefined,
): LetterBody & { subject: string } {
  const texts = textsIn(language)
  const parts = [
    texts('accountLetters.greeting'),
    ...texts('probeLetter.text'),
    ...(relaysUrl === undefined ? [] : [{ action: texts('relays.show'), url: relaysUrl }]),
    { small: texts('probeLetter.after', { days: PROBE_DAYS }) },
  ]
  return { subject: texts('probeLetter.subject'), ...composeBody(parts, language) }
}

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config'>
/** `isMailboxUser`: the provider named the address; the reporter cannot sign in. */
type Recipient = Pick<Reporter, 'id' | 'email'> & { isMailboxUser?: boolean }
type Refused = 'no-mail' | 'too-many'

/**
 * Sends a test letter to a reporter. Its address for answers is signed and leads to this letter, so
 * it is recognized when it is reported. `no-mail`: this site sends no mail; `too-many`: the
 * reporter, or the address, had three within a day.
 */
export async function sendProbe(app: Needs, reporter: Recipient): Promise<'sent' | Refused> {
  const { is } = await sendUnless<never>(app, reporter, () => Promise.resolve(undefined))
  return is
}

/** How long a program is not sent another letter after one came back, or did not. */
const KNOWN_DAYS = 30
const UNDER_WAY_DAYS = 7

/** The answer to a program. `known`: a letter showed the way recently. */
export type DueProbe =
  | { is: 'sent' | 'under-way'; letterId: string }
  | { is: 'known' | Refused; letterId: null }

/**
 * Sends a test letter that a program reports by itself, unless one showed the way within 30 days,
 * or was sent within 7 days: then it is that one for which the program should look.
 */
export function sendDueProbe(app: Needs, reporter: Recipient): Promise<DueProbe> {
  return sendUnless<DueProbe>(app, reporter, async (tx, now) => {
    const since = (days: number) => new Date(now.getTime() - days * DAY_MS)
    const came = await listProbes(tx, reporter.id)
    if (came[0] && came[0].cameAt >= since(KNOWN_DAYS)) return { is: 'known', letterId: null }
    const [last] = await listProbeLetters(tx, reporter.id, since(UNDER_WAY_DAYS))
    return last && { is: 'under-way', letterId: last.id }
  })
}

type Sent = { is: 'sent'; letterId: string } | { is: Refused; letterId: null }

/** Sends a test letter unless `find` returns a reason not to. */
async function sendUnless<Reason>(
  app: Needs,
  { id, email, isMailboxUser = false }: Recipient,
  find: (tx: Db, now: Date) => Promise<Reason | undefined>,
): Promise<Sent | Reason> {
  const { publicUrl, smtpUrl } = app.config
  if (smtpUrl === undefined) return { is: 'no-mail', letterId: null }
  const now = app.clock()
  return inTransaction(app.pool, async (tx) => {
    await holdReporters(tx, [id], 'change')
    const reason = await find(tx, now)
    if (reason !== undefined) return reason
    const dayAgo = new Date(now.getTime() - DAY_MS)
    const earlier = await listProbeLetters(tx, id, dayAgo)
    // A provider could name one address for many users.
    const toAddress = isMailboxUser ? await countProbesTo(tx, email, dayAgo) : 0
    if (Math.max(earlier.length, toAddress) >= PROBES_A_DAY) {
      return { is: 'too-many', letterId: null }
    }
    const language = (await findReporterSettings(tx, id))?.language ?? 'en'
    const about = { kind: 'probe', reporterId: id, to: email, language } as const
    const relaysUrl = isMailboxUser ? undefined : `${publicUrl}/relays`
    const how = { isAnswerable: true, autoSubmitted: 'generated' } as const
    const letter = { ...about, ...how, ...composeProbe(language, relaysUrl) }
    return { is: 'sent', letterId: await queueLetter(tx, letter, app, now) }
  })
}

/** Whether a test letter would show how mail comes to a reporter. */
export type AdvisesProbe = (reporterId: string) => Promise<boolean>

const ADVISED_MAX = 10_000
const ADVISED_MS = 10 * MINUTE_MS

/**
 * Returns whether nobody has told yet which machines receive mail for a reporter, although that
 * matters: to a newcomer, or because a report of the last 30 days waits for an answer about a
 * machine. An answer is used for ten minutes.
 */
export function createAdvisesProbe(app: Pick<App, 'pool' | 'clock' | 'config'>): AdvisesProbe {
  const known = new LRUCache<string, boolean>({
    max: ADVISED_MAX,
    ttl: ADVISED_MS,
    perf: { now: () => app.clock().getTime() },
  })
  return async (reporterId) => {
    if (app.config.smtpUrl === undefined) return false
    const advises = known.get(reporterId) ?? (await lacksWayIn(app, reporterId))
    known.set(reporterId, advises)
    return advises
  }
}

async function lacksWayIn(
  { pool, clock }: Pick<App, 'pool' | 'clock'>,
  reporterId: string,
): Promise<boolean> {
  const since = (days: number) => new Date(clock().getTime() - days * DAY_MS)
  const [relays, mailboxes, letters] = await Promise.all([
    listRelaysOf(pool, [reporterId]),
    listMailboxesOf(pool, [reporterId]),
    listProbeLetters(pool, reporterId, since(UNDER_WAY_DAYS)),
  ])
  const isKnown = relays.some(({ how }) => how === 'set' || how === 'border')
  const isStated = mailboxes.some(({ host }) => host !== null)
  if (isKnown || isStated || letters.length > 0) return false
  if (await isNewcomer(pool, reporterId)) return true
  const page = { about: 'all', from: uuidFloor(since(KNOWN_DAYS)), limit: 1 } as const
  return (await listAskedReports(pool, reporterId, page)).length > 0
}
