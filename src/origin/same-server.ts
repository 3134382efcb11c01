import { HOUR_MS } from '../durations.ts'
import type { Hop } from './hop.ts'

/** How far a clock may be ahead of another line of the same machine, in milliseconds. */
const CLOCK_MS_MAX = 5_000
const LOOP_MS_MAX = HOUR_MS

/**
 * Whether the same mail server wrote two lines, the upper one later: under the same name, within an
 * hour, and with identifiers that follow each other. The identifiers are what a sender can hardly
 * invent: they contain the time, and numbers of files or processes. Recipients may differ, because
 * aliases are resolved in between.
 */
export function isSameServer(upper: Hop, lower: Hop): boolean {
  const [above, below] = [upper.field, lower.field]
  if (!above || !below || upper.byHost === undefined || upper.byHost !== lower.byHost) return false
  const passedMs = (above.at?.getTime() ?? NaN) - (below.at?.getTime() ?? NaN)
  if (!(passedMs >= -CLOCK_MS_MAX && passedMs <= LOOP_MS_MAX)) return false
  return haveSameSource(above.id ?? '', below.id ?? '')
}

/** An identifier of a mail server: what must be equal, and a number that must be similar. */
type Identifier = { kind: string; equal: string; similar: number }

/** In 463 pairs of lines of one server for one message, 98 % of the numbers differ by less. */
const SIMILAR_FACTOR = 1.25

function haveSameSource(one: string, other: string): boolean {
  const [first, second] = [readIdentifier(one), readIdentifier(other)]
  if (!first && !second) return beginAlike(one, other)
  if (!first || !second || first.kind !== second.kind || first.equal !== second.equal) return false
  const ratio = first.similar / second.similar
  return one !== other && ratio < SIMILAR_FACTOR && ratio > 1 / SIMILAR_FACTOR
}

/** The share of an identifier in characters that a counter does not change within a message. */
const ALIKE_SHARE = 2 / 3

/** Whether two identifiers of an unknown form may come from one counter, or from one session. */
function beginAlike(one: string, other: string): boolean {
  if (one.length !== other.length || one === other) return false
  let same = 0
  while (one[same] === other[same]) same++
  return same >= 2 && same >= one.length * ALIKE_SHARE
}

/**
 * Reads the identifiers of Postfix (`queue_id` in `qmgr`: microseconds and the number of the file,
 * or with `enable_long_queue_ids` the time too), Exim (time, process) and Sendmail (date, process).
 */
function readIdentifier(id: string): Identifier | undefined {
  const [, micros, file] = /^([0-9A-F]{5})([0-9A-F]{3,10})$/.exec(id) ?? []
  if (micros !== undefined && file !== undefined) {
    if (parseInt(micros, 16) >= 1_000_000) return undefined
    return { kind: 'Postfix', equal: '', similar: parseInt(file, 16) + 1 }
  }
  const [, seconds, inode] = /^([0-9A-Za-z]{3})[0-9A-Za-z]{7,9}z([0-9A-Za-y]{1,8})$/.exec(id) ?? []
  if (seconds !== undefined && inode !== undefined) {
    return { kind: 'Postfix, long', equal: seconds, similar: numberIn(inode, consonants) + 1 }
  }
  const [, time, exim] = /^([0-9A-Za-z]{3})[0-9A-Za-z]{3}-([0-9A-Za-z]{6,11})-/.exec(id) ?? []
  if (time !== undefined && exim !== undefined) {
    return { kind: 'Exim', equal: time, similar: numberIn(exim, alphanumerics) + 1 }
  }
  const [, date, process] = /^([0-9A-Za-z]{3})[0-9A-Za-z]{5}(\d{6})$/.exec(id) ?? []
  if (date !== undefined && process !== undefined) {
    return { kind: 'Sendmail', equal: date, similar: Number(process) + 1 }
  }
  return undefined
}

const alphanumerics = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const consonants = '0123456789BCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxy'

function numberIn(text: string, digits: string): number {
  return [...text].reduce((sum, digit) => sum * digits.length + digits.indexOf(digit), 0)
}
