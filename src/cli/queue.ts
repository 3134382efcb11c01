import { z } from 'zod'
import { listBacklogs } from '../db/jobs.ts'
import { queueNames, queues } from '../processes/handlers.ts'
import {
  allQueues,
  jobStates,
  listChoreRuns,
  listJobs,
  listQueueControls,
} from '../db/queue-controls.ts'
import {
  cancelJob,
  pauseQueues,
  resumeQueues,
  runChore,
  setConcurrency,
  startNow,
} from '../queue/control-queues.ts'
import { deadLetterQueue } from '../queue/define-queue.ts'
import { demoteWaiting, purgeQueue, retryDeadLetters } from '../queue/redrive.ts'
import { columns, defineQuery, type Operations } from './command.ts'

const names = [...queueNames, deadLetterQueue]

/** Only existing queues are accepted: a misspelled name is a usage error. */
const queue = z.enum(names, { error: `Name one of the queues ${names.join(', ')}.` })
const worked = z.enum(queueNames, { error: `Name one of the queues ${queueNames.join(', ')}.` })
const argument = { argument: 'QUEUE' }

const list = defineQuery({
  name: 'queue list',
  summary: 'list the queues with their waiting jobs, and which are paused',
  async print(_, { pool, clock }) {
    const backlogs = await listBacklogs(pool, names, clock())
    const controls = new Map((await listQueueControls(pool)).map((one) => [one.queue, one]))
    const rows = backlogs.map(({ name, ready, deferred, oldestJobSeconds }) => {
      const paused = controls.get(name)?.pausedAt ?? controls.get(allQueues)?.pausedAt
      const batches = controls.get(name)?.concurrency
      const state = paused ? `paused since ${paused.toISOString()}` : 'runs'
      const words = batches ? `${state}, ${batches} batches` : state
      return [name, `${ready}`, `${deferred}`, `${Math.round(oldestJobSeconds)} s`, words]
    })
    return columns([['queue', 'ready', 'later', 'oldest', 'state'], ...rows]).join('\n')
  },
})

const JOBS_SHOWN = 100

const jobs = defineQuery({
  name: 'queue jobs',
  summary: 'list the first jobs of a queue, with what they are about and their last error',
  input: z.object({
    queue: queue.meta(argument),
    state: z.enum(jobStates, { error: `Name one of ${jobStates.join(', ')}.` }).default('ready'),
  }),
  async print({ queue: name, state }, { pool }) {
    const page = { after: undefined, limit: JOBS_SHOWN }
    const found = await listJobs(pool, { queue: name, state }, page)
    const rows = found.map(({ id, at, attempts, data, reason }) => {
      return [id, at.toISOString(), `${attempts}`, JSON.stringify(data), reason ?? '']
    })
    return columns([['job', 'time', 'attempts', 'about', 'last error'], ...rows]).join('\n')
  },
})

const chores = defineQuery({
  name: 'queue chores',
  summary: 'list the scheduled queues with their last run',
  async print(_, { pool }) {
    const runOf = new Map((await listChoreRuns(pool)).map((run) => [run.queue, run]))
    const rows = queues.flatMap(({ name, cron }) => {
      if (cron === undefined) return []
      const { endedAt, fault } = runOf.get(name) ?? {}
      return [[name, cron, endedAt?.toISOString() ?? 'not yet', fault ?? '']]
    })
    return columns([['queue', 'schedule', 'last run', 'error'], ...rows]).join('\n')
  },
})

export const operations: Operations = [
  list,
  jobs,
  chores,
  ...[pauseQueues, resumeQueues, setConcurrency, startNow, cancelJob, runChore],
  {
    ...retryDeadLetters,
    input: retryDeadLetters.input.extend({ queue: queue.optional().meta(argument) }),
  },
  { ...demoteWaiting, input: z.object({ queue: worked.meta(argument) }) },
  { ...purgeQueue, input: z.object({ queue: queue.meta(argument) }) },
]
