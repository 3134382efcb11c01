import { setTimeout as wait } from 'node:timers/promises'
import type { WorkApp } from '../app.ts'
import { findLetter, findLetterMessage, markLetter } from '../db/letters.ts'
import { unpack } from '../db/packed.ts'
import { listSuppressed } from '../db/suppressions.ts'
import { reasonOf } from '../errors.ts'
import { composeLetterReturnPath } from '../mail/verp.ts'
import type { JobOutcome } from '../queue/work.ts'
import { LEASE_MS } from './forwarding/lease.ts'

type Needs = Pick<WorkApp, 'pool' | 'clock' | 'config' | 'mailer'>
type Payload = { letterId: string; putOffSince?: string | undefined }

/** What nobody took for so long is given up (RFC 5321 §4.5.4.1). */
const GIVE_UP_MS = 5 * 86_400_000
/** A batch waits so long for its letters; the rest are sent without their jobs. */
const PATIENCE_MS = 5_000

/**
 * Sends letters, or holds them while sending is switched off. One to an address that we do not
 * write to is put aside. The copy was made before: any number of runs send the same bytes. One that
 * stalls goes on without its job, which comes again when it has surely ended.
 */
export async function sendLetters(payloads: readonly Payload[], app: Needs): Promise<JobOutcome[]> {
  const outcomes = payloads.map((): JobOutcome | undefined => undefined)
  const ended = payloads.map(async ({ letterId }, index) => {
    outcomes[index] = await sendOne(letterId, app).catch((error: unknown) => ({
      retry: reasonOf(error),
    }))
  })
  const over = new AbortController()
  const patience = wait(PATIENCE_MS, undefined, { signal: over.signal }).catch(() => undefined)
  await Promise.race([Promise.all(ended), patience])
  over.abort()
  return payloads.map((payload, index) => outcomes[index] ?? again(payload, app.clock()))
}

function again({ letterId, putOffSince }: Payload, now: Date): JobOutcome {
  const since = putOffSince ?? now.toISOString()
  if (now.getTime() - Date.parse(since) > GIVE_UP_MS) {
    return { hopeless: 'The mail server of its reader stalled for five days.' }
  }
  const payload = { letterId, putOffSince: since }
  return { putOff: new Date(now.getTime() + LEASE_MS), payload }
}

async function sendOne(id: string, app: Needs): Promise<JobOutcome> {
  const letter = await findLetter(app.pool, id)
  if (letter?.state !== 'queued') return 'done'
  const suppressed = await listSuppressed(app.pool, [letter.address], app.clock())
  if (suppressed.size > 0) return end(id, 'suppressed', null, app)
  const copy = await findLetterMessage(app.pool, id)
  if (!copy || !app.mailer) return end(id, 'held', null, app)
  const { returnPathDomain: domain, secret } = app.config
  const from = composeLetterReturnPath(id, { domain, secret })
  const sent = await app.mailer.send({
    envelope: { from, to: letter.address },
    raw: await unpack(copy),
  })
  if (sent.outcome === 'later') return { retry: sent.reason }
  return end(id, sent.outcome === 'accepted' ? 'sent' : 'refused', sent.reply, app)
}

async function end(
  id: string,
  state: 'held' | 'sent' | 'refused' | 'suppressed',
  reply: string | null,
  app: Needs,
): Promise<JobOutcome> {
  await markLetter(app.pool, id, { state, at: app.clock(), reply })
  return 'done'
}
