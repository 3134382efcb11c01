import { hash } from 'node:crypto'
import type { App } from '../app.ts'
import { unpackAtMost } from '../db/rows.ts'
import { DAY_MS } from '../durations.ts'
import { CallerError } from '../errors.ts'
import { normalizedForHash } from '../mail/message.ts'
import type { SpoolEntry } from '../outage/spool.ts'
import { uuidTime } from '../world.ts'
import type { Prepared } from './accept-report.ts'
import { parseSpooled, takeSpooled } from './take-spooled.ts'

/** The ways to report that a front offers. */
const channels = new Set(['api', 'signaler', 'form'])

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'log' | 'config'>

/**
 * Stores the reports that a front accepted, like `takeSpooled`. A front is less trusted than this
 * installation: an entry that it could not have made by accepting a report is refused.
 *
 * @throws CallerError 413 for a message that is larger than this installation accepts
 */
export async function takeForwarded(
  entries: readonly SpoolEntry[],
  app: Needs,
): Promise<SpoolEntry[]> {
  const sound = entries.filter((entry) => isSound(parseSpooled(entry), app))
  const refused = entries.filter((entry) => !sound.includes(entry))
  for (const { id } of refused) app.log.error({ reportId: id }, 'A report of a front is not valid.')
  return [...refused, ...(await takeSpooled(sound, app))]
}

function isSound(prepared: Prepared | undefined, { clock, config }: Needs): boolean {
  if (!prepared || !channels.has(prepared.report.channel)) return false
  const { report, packed, contentHash } = prepared
  // Reports outside these bounds would create partitions.
  const ageMs = clock().getTime() - report.receivedAt.getTime()
  if (ageMs < -DAY_MS || ageMs > config.retentionDays * DAY_MS) return false
  if (uuidTime(report.id).getTime() !== report.receivedAt.getTime()) return false
  const raw = unpackedOf(packed, config.messageBytesMax)
  if (raw?.length !== report.messageBytes) return false
  return hash('sha256', normalizedForHash(raw), 'buffer').equals(contentHash)
}

/** Returns the message; undefined if it is damaged. */
function unpackedOf(packed: Prepared['packed'], bytesMax: number): Buffer | undefined {
  let raw: Buffer | undefined
  try {
    raw = unpackAtMost(packed, bytesMax)
  } catch {
    return undefined
  }
  if (raw) return raw
  throw new CallerError(413, `A message of a front has more than ${bytesMax} bytes.`)
}
