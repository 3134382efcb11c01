import type { WorkApp } from '../app.ts'
import { findLetter } from '../db/letters.ts'
import { type MailProbe, PROBE_DAYS, putProbe, trimProbes } from '../db/mail-probes.ts'
import { inTransaction } from '../db/pool.ts'
import { listRelays, putRelays } from '../db/reporter-relays.ts'
import { holdReporters } from '../db/reporters.ts'
import { type Packed, unpack } from '../db/rows.ts'
import { DAY_MS } from '../durations.ts'
import { fieldValue, parseHeader } from '../mail/header.ts'
import { blockOfAddress } from '../mail/ip-blocks.ts'
import { storableText } from '../mail/text.ts'
import { parseOwnAddress } from '../mail/verp.ts'
import type { DnsTools } from '../origin/authenticity/ask-dns.ts'
import { readHops } from '../origin/hop.ts'
import { findWayIn } from '../origin/way-in.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { ageObstacle } from '../verdict/consequences.ts'
import { inTime, type Resolve } from '../world.ts'
import type { ReadReport } from './read-messages.ts'
import { correctOrigins, reopenAskedReports, SET_RELAYS_MAX } from './set-relays.ts'

type Needs = Pick<WorkApp, 'pool' | 'boss' | 'clock' | 'config'> & { dns?: DnsTools | undefined }

const PROBES_KEPT = 20
/** A test letter is much smaller. */
const BYTES_MAX = 64_000
/** Maximum wait for an answer of the DNS, in milliseconds. */
const DNS_MS_MAX = 1_000
/** Where its header ends at the latest. */
const HEADER_BYTES = 16_384

/** Why reports have no effect, by report. */
export type Idle = ReadonlyMap<string, Phrase>

/** Returns the reports without effect: of test letters, which are taken, and of old messages. */
export async function findIdle(analyses: readonly ReadReport[], app: Needs): Promise<Idle> {
  const idle = await takeProbes(analyses, app)
  for (const { report, analysis } of analyses) {
    const { messageAgeMax } = app.config
    const age = ageObstacle(analysis.trustedTimes, report.receivedAt, messageAgeMax)
    if (age && !idle.has(report.id)) idle.set(report.id, age)
  }
  return idle
}

/**
 * Recognizes test letters among reported messages, and stores the way that each took: the machines
 * above the last one that sends for this site are of its reporter's side. Returns what to tell
 * about each, by report; such a report is neither forwarded nor counted. Only the letter that was
 * sent to a reporter is recognized, by the signed address for answers in it, and only if this
 * reporter reports it: then nobody can make a message look like one for others.
 */
async function takeProbes(
  analyses: readonly ReadReport[],
  app: Needs,
): Promise<Map<string, Phrase>> {
  const said = new Map<string, Phrase>()
  for (const { report, raw } of analyses) {
    const its = await readProbe(report, raw, app)
    if (its) said.set(report.id, await takeOne(report, its, app))
  }
  return said
}

type Reported = ReadReport['report']
type Probe = { letterId: string; sentAt: Date; raw: Buffer }

async function readProbe(
  { reporterId }: Reported,
  packed: Packed,
  { pool, config }: Needs,
): Promise<Probe | undefined> {
  const { returnPathDomain: domain, secret } = config
  if (packed.encoding !== 'identity' || packed.content.length > BYTES_MAX) return undefined
  const raw = await unpack(packed)
  // Nearly all messages end here, so it must be cheap.
  if (!raw.subarray(0, HEADER_BYTES).includes(domain)) return undefined
  const replyTo = fieldValue(parseHeader(raw).fields, 'reply-to') ?? ''
  const own = parseOwnAddress(/<([^<>]{1,320})>/.exec(replyTo)?.[1] ?? replyTo, { domain, secret })
  if (own === undefined || own === 'forged' || own.is !== 'letter-answer') return undefined
  const letter = await findLetter(pool, own.letterId)
  if (letter?.kind !== 'probe' || letter.reporterId !== reporterId) return undefined
  return { letterId: letter.id, sentAt: letter.createdAt, raw }
}

async function takeOne(
  { id: reportId, reporterId }: Reported,
  { letterId, sentAt, raw }: Probe,
  app: Needs,
): Promise<Phrase> {
  const now = app.clock()
  if (now.getTime() - sentAt.getTime() > PROBE_DAYS * DAY_MS) return phrase('probe-late')
  const sender = { domain: app.config.returnPathDomain, relayHost: relayHostOf(app.config) }
  const resolve = app.dns && inBounds(app.dns.resolve)
  const way = await findWayIn(readHops(parseHeader(raw).fields), sender, resolve)
  if (!way) return phrase('probe-without-way')
  const border = way.border === undefined ? null : storableText(way.border, 253)
  const blocks = way.relays.flatMap(({ ip, name }) => {
    const cidr = blockOfAddress(ip)
    return cidr === undefined ? [] : [{ cidr, name: name && storableText(name, 255) }]
  })
  const probe = { letterId, reportId, border, relays: blocks.length, cameAt: now }
  const first = await inTransaction(app.pool, async (tx): Promise<MailProbe> => {
    await holdReporters(tx, [reporterId], 'change')
    const taken = await putProbe(tx, reporterId, probe)
    if (taken !== probe) return taken
    await trimProbes(tx, reporterId, PROBES_KEPT)
    const known = (await listRelays(tx, reporterId)).filter(({ how }) => how === 'set')
    const room = Math.max(0, SET_RELAYS_MAX - known.length)
    const named = blocks
      .slice(0, room)
      .map((block) => ({ ...block, how: 'set' as const, evidence: 1 }))
    const changed = await putRelays(tx, reporterId, named, now)
    await reopenAskedReports(tx, app.boss, { reporterId, blocks: 'all', now })
    await correctOrigins(tx, app.boss, { reporterId, blocks: changed, now })
    return taken
  })
  // The same report is analyzed again if the worker was stopped after this.
  if (first.reportId !== reportId) return phrase('probe-again')
  return phrase('probe-taken', { count: first.relays })
}

/** A resolver that gives up soon, because the whole batch waits. */
function inBounds(resolve: Resolve): Resolve {
  const late = { is: 'unknown', why: 'The DNS did not answer in time.' } as const
  return (name, type) => inTime(resolve(name, type), DNS_MS_MAX, late)
}

/** The host name of the relay to which this site hands its mail. */
function relayHostOf({ smtpUrl }: Needs['config']): string | undefined {
  return smtpUrl === undefined ? undefined : new URL(smtpUrl).hostname.toLowerCase()
}
