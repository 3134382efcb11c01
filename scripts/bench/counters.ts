import { loadOf } from './corpus.ts'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { benchChecks } from './counters/checks.ts'
import { benchCurve } from './counters/curve.ts'
import { benchReading } from './counters/reading.ts'
import { benchRedis } from './counters/redis.ts'
import { benchReportCost } from './counters/report-cost.ts'
import { benchReports } from './counters/reports.ts'
import { openStage } from './counters/stage.ts'
import { benchStorage } from './counters/storage.ts'
import { benchTarantool } from './counters/tarantool.ts'

const REFERENCE_SECONDS_MAX = 60
const COST_SECONDS_MAX = 60
const READING_SECONDS_MAX = 30

/**
 * Measures the counters on a PostgreSQL with little memory. `--minutes` is the duration of the
 * check test and of each kind of report (10 for the whole run); `--seconds` sets it more precisely.
 * `--keys` is the number of keys under Zipf's law, `--buckets` the end of the curve, `--buffers`
 * PostgreSQL's buffers. `--only` selects parts.
 */
export async function benchCounters(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      minutes: { type: 'string' },
      seconds: { type: 'string', default: '30' },
      keys: { type: 'string', default: '1000000' },
      buckets: { type: 'string', default: '10000000' },
      buffers: { type: 'string', default: '64MB' },
      only: { type: 'string', default: 'references,check,reports,cost,storage,reading,curve' },
    },
  })
  const seconds =
    values.minutes === undefined ? Number(values.seconds) : 60 * Number(values.minutes)
  const keys = Number(values.keys)
  const has = (part: string) => values.only.split(',').includes(part)
  console.log(`${availableParallelism()} cores, load before: ${loadOf()}`)
  const references = { redis: undefined, tarantool: undefined }
  const measured = has('references')
    ? await benchReferences(Math.min(seconds, REFERENCE_SECONDS_MAX), keys)
    : references
  const stage = await openStage(values.buffers)
  try {
    if (has('check')) await benchChecks(stage, { seconds, keys, ...measured })
    if (has('reports')) await benchReports(stage, seconds, keys)
    if (has('cost')) await benchReportCost(stage, Math.min(seconds, COST_SECONDS_MAX))
    if (has('storage')) await benchStorage(stage)
    if (has('reading')) await benchReading(stage, Math.min(seconds, READING_SECONDS_MAX))
    if (has('curve')) await benchCurve(stage, Number(values.buckets))
  } finally {
    await stage.close()
  }
  console.log(`load after: ${loadOf()}`)
}

async function benchReferences(seconds: number, keys: number) {
  const redis = await benchRedis(seconds, keys)
  return { redis, tarantool: await benchTarantool(seconds, keys) }
}
