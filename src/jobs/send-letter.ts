import type { WorkApp } from '../app.ts'
import { findLetter, findLetterMessage, markLetter } from '../db/letters.ts'
import { unpack } from '../db/packed.ts'
import { listSuppressed } from '../db/suppressions.ts'
import { reasonOf } from '../errors.ts'
import { composeLetterReturnPath } from '../mail/verp.ts'
import type { JobOutcome } from '../queue/work.ts'

type Needs = Pick<WorkApp, 'pool' | 'clock' | 'config' | 'mailer'>

/**
 * Sends letters, or holds them while sending is switched off. One to an address that we do not
 * write to is put aside. The copy was made before: any number of runs send the same bytes.
 */
export async function sendLetters(
  payloads: readonly { letterId: string }[],
  app: Needs,
): Promise<JobOutcome[]> {
  return Promise.all(
    payloads.map(({ letterId }) =>
      sendOne(letterId, app).catch((error: unknown) => ({ retry: reasonOf(error) })),
    ),
  )
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
