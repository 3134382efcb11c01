import { z } from 'zod'
import { listSuppressions } from '../db/suppressions.ts'
import { dateOf } from '../durations.ts'
import { suppressAddress, unsuppressAddress } from '../feedback/suppress.ts'
import { defineQuery, type Operations } from './command.ts'

const ROWS_AT_ONCE = 500

const list = defineQuery({
  name: 'suppressions list',
  summary: 'show the addresses that get no mail',
  input: z.object({ part: z.string().optional().meta({ argument: 'PART' }) }),
  async print({ part }, { pool }) {
    let [text, after] = ['', undefined as string | undefined]
    for (;;) {
      const rows = await listSuppressions(pool, { after, part, limit: ROWS_AT_ONCE })
      for (const { address, reason, status, detail, since, until } of rows) {
        const term = until ? `until ${dateOf(until)}` : 'permanent'
        const code = status === null ? '' : ` (${status})`
        const line = `${address}  ${reason}${code}  since ${dateOf(since)}, ${term}  ${detail}`
        text += `${line.trimEnd()}\n`
      }
      if (rows.length < ROWS_AT_ONCE) return text
      after = rows.at(-1)?.address
    }
  },
})

export const operations: Operations = [list, suppressAddress, unsuppressAddress]
