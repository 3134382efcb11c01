import { setTimeout as wait } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { App } from '../app.ts'
import { findWaitingMail, type InboundMail } from '../db/inbox.ts'
import {
  keepSourceCampaigns,
  listSourceCampaigns,
  type SourceCampaign,
} from '../db/mail-sources.ts'
import { inTransaction } from '../db/pool.ts'
import { findReporter } from '../db/reporters.ts'
import { unpack } from '../db/rows.ts'
import { dateOf } from '../durations.ts'
import { findCampaigns } from '../judging/find-campaigns.ts'
import { withDeliveryTrace } from '../mail/delivery-trace.ts'
import { readMessage, type ReadMessage } from '../mail/message.ts'
import type { ParserPool } from '../parsing/parser-pool.ts'
import { type Fingerprints, isSameCampaign } from '../pieces/fingerprints.ts'
import type { JobOutcome } from '../queue/work.ts'
import type { Intake } from './accept-report.ts'
import { readReported, structureLimits } from './message-refusal.ts'
import { countSourced, type SourcedMail } from './mail-sources.ts'

const PAUSE_MS = 500

/** Runs `runTakeTrapped`, and then waits before the next batch. */
export async function runTakeTrappedSlowly(
  payloads: readonly { mailId: string }[],
  app: Needs,
): Promise<JobOutcome[]> {
  const outcomes = await runTakeTrapped(payloads, app)
  await wait(PAUSE_MS)
  return outcomes
}

const REMEMBERED_MAX = 200
const TRAPS_REMEMBERED_MAX = 1_000

/**
 * The fingerprints that this process reported for each trap on a day, because a campaign has no id
 * until its first report is analyzed.
 */
export type TrapMemory = LRUCache<string, readonly Fingerprints[]>

export function createTrapMemory(): TrapMemory {
  return new LRUCache({ max: TRAPS_REMEMBERED_MAX })
}

type Needs = Pick<App, 'pool' | 'clock' | 'config'> & {
  intake: Intake
  parser: Pick<ParserPool, 'check'>
  trapMemory: TrapMemory
}

/** A mail to a trap, whose reporter has the id `sourceId`. */
type Trapped = SourcedMail & {
  message: ReadMessage
  fingerprints: Fingerprints | undefined
  campaignId: string | undefined
}

/**
 * Reports mails to traps: of each campaign one a day for each trap. The others are only counted.
 * The mails are removed and counted in one transaction afterwards. If the process is killed before,
 * a second run reports the same bytes, which makes no second report.
 */
export async function runTakeTrapped(
  payloads: readonly { mailId: string }[],
  app: Needs,
): Promise<JobOutcome[]> {
  const found = await Promise.all(payloads.map(({ mailId }) => findWaitingMail(app.pool, mailId)))
  const mails = found.flatMap((mail) => (mail?.purpose === 'trap' ? [mail] : []))
  if (mails.length > 0) {
    const day = dateOf(app.clock())
    const trapped = await decideFates(await readTrapped(mails, app), day, app)
    const fresh = trapped.filter(({ fate }) => fate === 'reported')
    await Promise.all(fresh.map((one) => report(one, app)))
    await settle(trapped, day, app)
    for (const one of fresh) remember(one, day, app.trapMemory)
  }
  return payloads.map(() => 'done')
}

async function readTrapped(
  mails: readonly InboundMail[],
  { pool, clock, config, parser }: Needs,
): Promise<Trapped[]> {
  const sourceIds = [...new Set(mails.map(({ reporterId }) => reporterId ?? ''))]
  const reporters = await Promise.all(sourceIds.map((id) => findReporter(pool, id)))
  const active = new Set(reporters.map((reporter) => reporter?.id))
  const { messageBytesMax: bytesMax, returnPathDomain: host } = config
  const limits = { ...structureLimits, bytesMax }
  const read = await Promise.all(
    mails.map(async (mail) => {
      const raw = await unpack(mail)
      const { id, rcptTo, peerIp, receivedAt: at } = mail
      const client = peerIp === null ? undefined : { ip: peerIp, host, id, at }
      const message = readMessage(withDeliveryTrace(raw, { recipients: [rcptTo], client }))
      const sourceId = mail.reporterId ?? ''
      const fit = active.has(sourceId) ? readReported(raw, limits, 'as-received') : undefined
      const isReport = fit !== undefined && 'message' in fit
      // A message that takes too long to read is reported; its analysis has more time.
      const digest = isReport
        ? await parser.check(message.raw, { trustedRelays: [] }).catch(() => undefined)
        : undefined
      const fate: SourcedMail['fate'] = isReport ? 'reported' : 'refused'
      return { id: mail.id, sourceId, message, fingerprints: digest?.fingerprints, fate }
    }),
  )
  const known = read.map(({ fingerprints }) => fingerprints ?? { words: '0' })
  const campaignIds = await findCampaigns(pool, known, clock())
  return read.map((one, index) => ({ ...one, campaignId: campaignIds[index] }))
}

/** Marks the mails whose campaign the trap has reported that day, also earlier in this batch. */
async function decideFates(
  trapped: readonly Trapped[],
  day: string,
  { pool, trapMemory }: Needs,
): Promise<Trapped[]> {
  const sourceIds = [...new Set(trapped.map(({ sourceId }) => sourceId))]
  const campaignIds = [...new Set(trapped.flatMap(({ campaignId }) => campaignId ?? []))]
  const seen = await listSourceCampaigns(pool, { sourceIds, campaignIds }, day)
  const reported = new Set(seen.map(({ sourceId, campaignId }) => `${sourceId} ${campaignId}`))
  const batch = createTrapMemory()
  return trapped.map((one) => {
    const { sourceId, campaignId, fingerprints } = one
    if (one.fate !== 'reported' || fingerprints === undefined) return one
    const key = `${day} ${sourceId}`
    const others = [...(trapMemory.get(key) ?? []), ...(batch.get(key) ?? [])]
    const isRepeated =
      reported.has(`${sourceId} ${campaignId}`) ||
      others.some((other) => isSameCampaign(other, fingerprints))
    if (!isRepeated) remember(one, day, batch)
    return { ...one, fate: isRepeated ? 'repeated' : 'reported' }
  })
}

function remember({ sourceId, fingerprints }: Trapped, day: string, memory: TrapMemory): void {
  if (!fingerprints) return
  const key = `${day} ${sourceId}`
  memory.set(key, [...(memory.get(key) ?? []), fingerprints].slice(-REMEMBERED_MAX))
}

function report({ sourceId, message }: Trapped, { intake }: Needs): Promise<unknown> {
  return intake.accept({
    reporterId: sourceId,
    channel: 'trap',
    kind: 'spam',
    message,
    comment: null,
    receivedVia: [],
  })
}

/** Removes the mails, and counts those that no other run has removed. */
async function settle(trapped: readonly Trapped[], day: string, { pool }: Needs): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const counted = await countSourced(tx, trapped, day)
    const campaigns = new Map<string, SourceCampaign>()
    for (const { sourceId, campaignId, fate } of counted) {
      if (campaignId === undefined || fate === 'refused') continue
      campaigns.set(`${sourceId} ${campaignId}`, { sourceId, campaignId, day })
    }
    await keepSourceCampaigns(tx, [...campaigns.values()])
  })
}
