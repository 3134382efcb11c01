import { listRateLimits } from '../db/limits.ts'
import { setLimit } from '../people/limit-actions.ts'
import { defineQuery, type Operations } from './command.ts'

const listLimits = defineQuery({
  name: 'limits list',
  summary: 'show the rate limits',
  async print(_, { pool }) {
    const limits = await listRateLimits(pool)
    return limits
      .map(({ name, attempt, keyKind, windowMs, attemptsMax, behavior }) => {
        const rate = `${attemptsMax} in ${windowMs / 1_000} s`
        return `${name}  ${attempt} by ${keyKind}: ${rate}, ${behavior}\n`
      })
      .join('')
  },
})

export const operations: Operations = [listLimits, setLimit]
