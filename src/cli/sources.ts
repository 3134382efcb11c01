import { z } from 'zod'
import { addMailSource, readMailSources, removeSource } from '../reports/mail-sources.ts'
import { defineQuery, type Operations } from './command.ts'

const list = defineQuery({
  name: 'sources list',
  summary: 'show the spam traps and feedback loops with what they received, as JSON lines',
  input: z.object({}),
  async print(_, { pool, clock }) {
    const sources = await readMailSources(pool, clock())
    return sources.map((source) => `${JSON.stringify(source)}\n`).join('')
  },
})

export const operations: Operations = [list, addMailSource, removeSource]
