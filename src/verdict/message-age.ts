import type { TracedHop } from '../analysis/whence/trace.ts'

const HOUR_MS = 3_600_000
/** A clock may be wrong by its time zone. */
const AHEAD_MS_MAX = 24 * HOUR_MS

/**
 * When the message was handed over, by the clocks of the machines we trust: first the one that saw
 * the stranger, then those above it, up to the mailbox. Null where a line tells no time. What the
 * author or a stranger wrote, a `Date` field too, does not count. Empty when there is no such line.
 */
export function trustedTimes(hops: readonly TracedHop[]): (string | null)[] {
  return hops
    .filter(({ trust }) => trust === 'trusted' || trust === 'injection')
    .map(({ at }) => at)
    .toReversed()
}

/**
 * Why a message is too old for its report to have an effect, as a sentence; undefined when it is
 * not. `hoursMax` of 0 is no limit. A time more than a day after the report is not believed; the
 * next line is asked. Where trusted lines exist and none tells a believable time, the age is
 * unknown, and nobody is accused.
 */
export function ageObstacle(
  times: readonly (string | null)[],
  receivedAt: Date,
  hoursMax: number,
): string | undefined {
  if (hoursMax === 0 || times.length === 0) return undefined
  const reported = receivedAt.getTime()
  const known = times.flatMap((time) => (time === null ? [] : [Date.parse(time)]))
  const at = known.find((time) => time - reported <= AHEAD_MS_MAX)
  if (at === undefined) return 'No trusted line tells a believable time, so its age is unknown.'
  if (reported - at <= hoursMax * HOUR_MS) return undefined
  const day = new Date(at).toISOString().slice(0, 10)
  return `It was handed over on ${day}, more than ${hoursMax} hours before it was reported.`
}
