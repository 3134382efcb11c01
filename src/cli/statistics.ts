import { listMonths } from '../db/month-figures.ts'
import { publishStatistics } from '../reports/month-figures.ts'
import { defineQuery, type Operations } from './command.ts'

const show = defineQuery({
  name: 'statistics show',
  summary: 'show the figures for the public, as JSON lines, one per month',
  async print(_, { pool }) {
    return (await listMonths(pool)).map((month) => JSON.stringify(month)).join('\n')
  },
})

export const operations: Operations = [show, publishStatistics]
