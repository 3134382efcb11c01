import { parseArgs } from 'node:util'
import type { App } from '../app.ts'
import { insertAudit } from '../db/audit-log.ts'
import { listBacklogs } from '../db/queue-health.ts'
import { UsageError } from '../errors.ts'
import { deadLetterQueue } from '../queue/queues.ts'
import { redriveDeadLetters } from '../queue/redrive.ts'
import { queueNames } from './work.ts'

/** What `queue` was asked to do. */
export type QueueRequest =
  | { action: 'list' }
  | { action: 'retry'; source: string | undefined }
  | { action: 'purge'; queue: string }

/** Reads `list`, `retry [QUEUE]` or `purge QUEUE`. */
export function parseQueue(args: readonly string[]): QueueRequest {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true })
  const [action, name, ...rest] = positionals
  const known = [...queueNames, deadLetterQueue]
  if (rest.length > 0 || (name !== undefined && !known.includes(name))) {
    throw new UsageError([`Name one of the queues ${known.join(', ')}.`])
  }
  if (action === 'list') return { action }
  if (action === 'retry') return { action, source: name }
  if (action === 'purge' && name !== undefined) return { action, queue: name }
  throw new UsageError(['Say "queue list", "queue retry [QUEUE]" or "queue purge QUEUE".'])
}

type Needs = Pick<App, 'boss' | 'pool' | 'clock'>

/** Lists the queues, puts dead letters back to work, or drops the waiting jobs of a queue. */
export async function runQueue(request: QueueRequest, app: Needs): Promise<string> {
  if (request.action === 'purge') {
    await app.boss.deleteQueuedJobs(request.queue)
    const told = `The waiting jobs of ${request.queue} were dropped.`
    // What is done at the command line is written down like what is done on the pages.
    const entry = { at: app.clock(), reporterId: null, action: 'purge', detail: told } as const
    await insertAudit(app.pool, entry)
    return told
  }
  if (request.action === 'retry') {
    const which = request.source === undefined ? 'all' : { source: request.source }
    return `${await redriveDeadLetters(app, which, null)} dead letters were put back to work.`
  }
  const backlogs = await listBacklogs(app.pool, [...queueNames, deadLetterQueue], app.clock())
  return table([
    ['queue', 'ready', 'deferred', 'oldest'],
    ...backlogs.map(({ name, ready, deferred, oldestJobSeconds }) => [
      name,
      String(ready),
      String(deferred),
      `${Math.round(oldestJobSeconds)} s`,
    ]),
  ])
}

function table(rows: readonly (readonly string[])[]): string {
  return rows
    .map(
      ([name = '', ...cells]) => name.padEnd(16) + cells.map((cell) => cell.padStart(10)).join(''),
    )
    .join('\n')
}
