import { setTimeout as wait } from 'node:timers/promises'
import type { WorkApp } from '../app.ts'
import { findLetter, type Letter } from '../db/letters.ts'
import { findProbe, type MailProbe, PROBE_DAYS, putProbe, trimProbes } from '../db/mail-probes.ts'
import { inTransaction } from '../db/pool.ts'
import { listRelays, putRelays } from '../db/reporter-relays.ts'
import { holdReporters } from '../db/reporters.ts'
import { type Packed, unpack } from '../db/rows.ts'
import { DAY_MS } from '../durations.ts'
import { fieldValue, fieldValues, parseHeader } from '../mail/header.ts'
import { blockOfAddress } from '../mail/ip-blocks.ts'
import { storableText } from '../mail/text.ts'
import { letterIdIn, parseOwnAddress } from '../mail/verp.ts'
import type { DnsTools } from '../origin/authenticity/ask-dns.ts'
import { checkSpf } from '../origin/authenticity/spf.ts'
import { readHops } from '../origin/hop.ts'
import { findWayIn } from '../origin/way-in.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { ageObstacle } from '../verdict/consequences.ts'
import { ourLetter, simulationSymbol } from '../verdict/verdict.ts'
import type { Resolve } from '../world.ts'
import type { ReadReport } from './read-messages.ts'
import type { ReportRelays } from './relays.ts'
import { correctOrigins, decideUsersAgain, reopenAskedReports } from './reopen-reports.ts'
import { SET_RELAYS_MAX } from './set-relays.ts'
import { takeSimulations } from './take-simulations.ts'

type Needs = Pick<WorkApp, 'pool' | 'boss' | 'clock' | 'config'> & { dns?: DnsTools | undefined }

const PROBES_KEPT = 20
/** A test letter is much smaller. */
const BYTES_MAX = 64_000
/** Maximum wait for all answers of the DNS, in milliseconds. */
const DNS_MS_MAX = 3_000
/** Where its header ends at the latest. */
const HEADER_BYTES = 16_384

export type Idle = ReadonlyMap<string, Phrase>

/** Returns the reports without effect: of letters and simulations of ours, and of old messages. */
export async function findIdle(
  analyses: readonly ReadReport[],
  relaysOf: (reportId: string) => ReportRelays,
  app: Needs,
): Promise<Idle> {
  const [simulations, probes] = await Promise.all([
    takeSimulations(analyses, app),
    takeProbes(analyses, relaysOf, app),
  ])
  const idle = new Map([...simulations, ...probes])
  for (const { report, analysis } of analyses) {
    const { messageAgeMax } = app.config
    const age = ageObstacle(analysis.trustedTimes, report.receivedAt, messageAgeMax)
    if (age && !idle.has(report.id)) idle.set(report.id, age)
  }
  return idle
}

/**
 * Recognizes letters of ours among reported messages, and stores the way that each took to its
 * recipient: the machines above the last one that sends for this site are of the recipient's side.
 * Returns what to tell about each, by report; such a report is neither forwarded nor counted. A
 * letter is recognized only in a report of the account for which it was sent, or which has its
 * address: then nobody can make a message look like one for others. Nor is a letter to somebody
 * else forwarded, if our mail server handed it over.
 */
async function takeProbes(
  analyses: readonly ReadReport[],
  relaysOf: (reportId: string) => ReportRelays,
  app: Needs,
): Promise<Map<string, Phrase>> {
  const said = new Map<string, Phrase>()
  await Promise.all(
    analyses.map(async ({ report, raw, analysis }) => {
      const found = await findOwnLetter(raw, app)
      if (!found) return
      const { reporterAddresses } = relaysOf(report.id).options
      const { address, reporterId } = found.letter
      // The address of a mailbox user is known from the letter alone.
      const isTheirs =
        reporterId === report.reporterId || reporterAddresses.includes(address.toLowerCase())
      if (isTheirs && found.isSigned) said.set(report.id, await takeOne(report, found, app))
      else if (await isSentByUs(analysis.origin, app)) said.set(report.id, phrase('own-letter'))
    }),
  )
  return said
}

/** The symbol of a letter or a simulation of ours; undefined for other messages. */
export function ownSymbol(obstacle: Phrase | undefined) {
  if (obstacle?.code === 'simulation') return simulationSymbol
  const isLetter = obstacle?.code === 'own-letter' || obstacle?.code.startsWith('probe-') === true
  return isLetter ? ourLetter : undefined
}

type Reported = ReadReport['report']
type Found = { letter: Letter; isSigned: boolean; raw: Buffer }

const signedAddress = /l[at]-[\w-]{10,100}@[\w.-]{1,253}/gi

/**
 * Finds the letter of ours that a message is: by a signed address of it, to which answers or
 * bounces go, or only by its Message-ID, which our operators know, too.
 */
async function findOwnLetter(
  packed: Packed,
  { pool, config }: Pick<Needs, 'pool' | 'config'>,
): Promise<Found | undefined> {
  const { returnPathDomain: domain, secret } = config
  if (packed.encoding !== 'identity' || packed.content.length > BYTES_MAX) return undefined
  const raw = await unpack(packed)
  // Nearly all messages end here, so it must be cheap.
  if (!raw.toString('latin1', 0, HEADER_BYTES).toLowerCase().includes(domain)) return undefined
  const { fields } = parseHeader(raw)
  const given = [...fieldValues(fields, 'reply-to'), ...fieldValues(fields, 'return-path')]
  const addresses = given.join(' ').match(signedAddress) ?? []
  for (const address of addresses.slice(0, 5)) {
    const own = parseOwnAddress(address, { domain, secret })
    if (own === undefined || own === 'forged' || !('letterId' in own)) continue
    const letter = await findLetter(pool, own.letterId)
    if (letter) return { letter, isSigned: true, raw }
  }
  const id = letterIdIn(fieldValue(fields, 'message-id') ?? '', domain)
  const letter = id === undefined ? undefined : await findLetter(pool, id)
  return letter && { letter, isSigned: false, raw }
}

/** Whether our mail server handed a message over, by the record of our domain. */
async function isSentByUs(
  origin: ReadReport['analysis']['origin'],
  { config, dns }: Needs,
): Promise<boolean> {
  if (!origin || !dns) return false
  const mailFrom = `letter@${config.returnPathDomain}`
  const asked = checkSpf({ ip: origin.ip, helo: undefined, mailFrom }, inBounds(dns.resolve))
  return (await asked.catch(() => undefined))?.result === 'pass'
}

async function takeOne(
  { id: reportId, reporterId }: Reported,
  { letter: { id: letterId, createdAt: sentAt }, raw }: Found,
  app: Needs,
): Promise<Phrase> {
  const now = app.clock()
  const earlier = await findProbe(app.pool, reporterId, letterId)
  if (earlier) return sayTaken(earlier, reportId)
  if (now.getTime() - sentAt.getTime() > PROBE_DAYS * DAY_MS) return phrase('probe-late')
  const sender = { domain: app.config.returnPathDomain, relayHost: relayHostOf(app.config) }
  const resolve = app.dns && inBounds(app.dns.resolve)
  const way = await findWayIn(readHops(parseHeader(raw).fields), sender, resolve)
  if (!way) return phrase('probe-without-way')
  const border = way.border === undefined ? null : storableText(way.border, 253)
  const found = way.relays.flatMap(({ ip, name }) => {
    const cidr = blockOfAddress(ip)
    return cidr === undefined ? [] : [{ cidr, name: name && storableText(name, 255) }]
  })
  const blocks = [...new Map(found.map((block) => [block.cidr, block])).values()]
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
    await decideUsersAgain(tx, app.boss, reporterId)
    return taken
  })
  return sayTaken(first, reportId)
}

/** The same report is analyzed again, because the way is known now. */
function sayTaken({ reportId: firstId, relays }: MailProbe, reportId: string): Phrase {
  return firstId === reportId ? phrase('probe-taken', { count: relays }) : phrase('probe-again')
}

/** A resolver that gives up after a while, because the whole batch waits. */
function inBounds(resolve: Resolve): Resolve {
  const late = { is: 'unknown', why: 'The DNS did not answer in time.' } as const
  const over = wait(DNS_MS_MAX, late, { ref: false })
  return (name, type) => Promise.race([resolve(name, type), over])
}

/** The host name of the relay to which this site hands its mail. */
function relayHostOf({ smtpUrl }: Needs['config']): string | undefined {
  return smtpUrl === undefined ? undefined : new URL(smtpUrl).hostname.toLowerCase()
}
