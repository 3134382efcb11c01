import type { CheckStation } from '../../judging/check-message.ts'
import type { CheckScores } from '../../verdict/check-action.ts'
import type { CheckStatistics } from './check-statistics.ts'
import { type Answer, composeAnswer } from './compose-answer.ts'
import { envelopeOf, type Fields } from './read-question.ts'

/**
 * Answers one question. Rejects when nothing can be said in time: asking again may help then.
 */
export type Ask = (given: Buffer | 'too-big', fields: Fields) => Promise<Answer>

/** Mail servers wait for longer; who waits for us holds a connection of theirs. */
const ANSWER_MS_MAX = 5_000
/** So many wait at once, with so many bytes; the next is told to fall back. */
const WAITING_MAX = 500
const WAITING_BYTES_MAX = 150_000_000

/** Questions of one process go through here, by whichever protocol they came. */
export function createAsk(
  station: Pick<CheckStation, 'check'>,
  scores: CheckScores,
  statistics: Pick<CheckStatistics, 'answered'>,
): Ask {
  let [waiting, waitingBytes] = [0, 0]

  /** Who is told to fall back leaves his message behind, and his place taken, until it is done. */
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

  return async (given, fields) => {
    const start = performance.now()
    const raw = given === 'too-big' || given.length === 0 ? undefined : given
    const made = raw ? await checkedInTime(raw, fields) : 'unread'
    const seconds = (performance.now() - start) / 1_000
    const answer = composeAnswer(made, scores, seconds)
    statistics.answered(answer.action, seconds)
    return answer
  }
}
