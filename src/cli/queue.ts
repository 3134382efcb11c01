import { z } from 'zod'
import { listBacklogs } from '../db/dead-letters.ts'
import { queueNames } from '../processes/queues.ts'
import { deadLetterQueue } from '../queue/define-queue.ts'
import { demoteWaiting, purgeQueue, retryDeadLetters } from '../queue/redrive.ts'
import { defineQuery, type Operations } from './command.ts'

const names = [...queueNames, deadLetterQueue]

/** Only existing queues are accepted: a misspelled name is a usage error. */
const queue = z.enum(names, { error: `Name one of the queues ${names.join(', ')}.` })
const worked = z.enum(queueNames, { error: `Name one of the queues ${queueNames.join(', ')}.` })
const argument = { argument: 'QUEUE' }

const list = defineQuery({
  name: 'queue list',
  summary: 'list the queues with their waiting jobs',
  input: z.object({}),
  async print(_, { pool, clock }) {
    const backlogs = await listBacklogs(pool, names, clock())
    const rows = backlogs.map(({ name, ready, deferred, oldestJobSeconds }) => {
      return [name, String(ready), String(deferred), `${Math.round(oldestJobSeconds)} s`]
    })
    return [['queue', 'ready', 'deferred', 'oldest'], ...rows]
      .map(([name = '', ...cells]) => {
        return name.padEnd(16) + cells.map((cell) => cell.padStart(10)).join('')
      })
      .join('\n')
  },
})

/** The operations of `signalpost queue`. */
export const operations: Operations = [
  list,
  {
    ...retryDeadLetters,
    input: retryDeadLetters.input.extend({ queue: queue.optional().meta(argument) }),
  },
  { ...demoteWaiting, input: z.object({ queue: worked.meta(argument) }) },
  { ...purgeQueue, input: z.object({ queue: queue.meta(argument) }) },
]
