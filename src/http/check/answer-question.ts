import { isOutage } from '../../db/outage.ts'
import { reasonOf } from '../../errors.ts'
import type { CheckStation } from '../../judging/check-message.ts'
import type { Logger } from '../../log.ts'
import type { CheckScores } from '../../verdict/check-action.ts'
import type { CheckStatistics } from './check-statistics.ts'
import { type Answer, composeAnswer } from './compose-answer.ts'
import { envelopeOf, type Fields } from './read-question.ts'

/**
 * Answers one question within five seconds. Never rejects: without a verdict the
 * answer says so and lets the mail pass. `no-room`: the message could not be held in memory.
 */
export type Ask = (given: Buffer | 'too-big' | 'no-room', fields: Fields) => Promise<Answer>

/** Mail servers wait for longer; who waits for us holds a connection of theirs. */
const ANSWER_MS_MAX = 5_000
/** So many wait at once, with so many bytes; the next gets no verdict. */
const WAITING_MAX = 500
const WAITING_BYTES_MAX = 150_000_000

/** Questions of one process go through here, by whichever protocol they came. */
export function createAsk(
  station: Pick<CheckStation, 'check'>,
  scores: CheckScores,
  statistics: Pick<CheckStatistics, 'answered' | 'failed'>,
  log: Logger,
): Ask {
  let [waiting, waitingBytes] = [0, 0]

  /** A question that was given up keeps its place until its check ends. */
  const checked = async (raw: Buffer, fields: Fields) => {
    waiting++
    waitingBytes += raw.length
    try {
      return await station.check(raw, envelopeOf(fields))
    } finally {
      waiting--
      waitingBytes -= raw.length
    }
  }

  const checkedInTime = async (raw: Buffer, fields: Fields) => {
    const isFull = waiting >= WAITING_MAX || waitingBytes + raw.length > WAITING_BYTES_MAX
    if (isFull && waiting > 0) throw new Error('Too many questions at once.')
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      const giveUp = () => reject(new Error(`No answer within ${ANSWER_MS_MAX / 1_000} s.`))
      timer = setTimeout(giveUp, ANSWER_MS_MAX)
    })
    try {
      return await Promise.race([checked(raw, fields), late])
    } finally {
      clearTimeout(timer)
    }
  }

  const checkedOrNot = async (given: Buffer | 'too-big' | 'no-room', fields: Fields) => {
    if (given === 'too-big' || given.length === 0) return 'unread'
    try {
      if (given === 'no-room') throw new Error('Too many bytes at once.')
      return await checkedInTime(given, fields)
    } catch (error) {
      const reason = isOutage(error) ? 'the database is away' : reasonOf(error).slice(0, 200)
      log.warn({ reason }, 'A mail server got no verdict.')
      return 'unavailable'
    }
  }

  return async (given, fields) => {
    const start = performance.now()
    const checked = await checkedOrNot(given, fields)
    const seconds = (performance.now() - start) / 1_000
    const answer = composeAnswer(checked, scores, seconds)
    if (checked === 'unavailable') statistics.failed()
    else statistics.answered(answer.action, seconds)
    return answer
  }
}
