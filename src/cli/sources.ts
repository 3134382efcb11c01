import { addMailSource, readMailSources, removeSource } from '../reports/mail-sources.ts'
import { defineQuery, type Operations } from './command.ts'

const list = defineQuery({
  name: 'sources list',
  summary: 'show the spam traps and feedback loops with what they received, as JSON lines',
  print: (_, { pool, clock }) => readMailSources(pool, clock()),
})

export const operations: Operations = [list, addMailSource, removeSource]
