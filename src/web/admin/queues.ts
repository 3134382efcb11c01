import { type Request, Router } from 'express'
import { listDeadLetters } from '../../db/dead-letters.ts'
import { listProcesses } from '../../db/health.ts'
import {
  allQueues,
  jobStates,
  listChoreRuns,
  type ListedJob,
  listJobs,
  listQueueControls,
} from '../../db/queue-controls.ts'
import type { ProcessFacts, RunningProcess } from '../../health/heartbeat.ts'
import {
  cancelJob,
  pauseQueues,
  resumeQueues,
  runChore,
  setConcurrency,
  startNow,
} from '../../queue/control-queues.ts'
import { deadLetterQueue } from '../../queue/define-queue.ts'
import { retryDeadLetters } from '../../queue/redrive.ts'
import { isUuid } from '../pages/render.ts'
import { ProblemError } from '../problem.ts'
import type { Texts } from '../../texts/messages.ts'
import type { Site } from '../site.ts'
import { choiceOrFirstParam, digitsParam, listPage, readNames, uuidParam } from './list-page.ts'
import { adminPage } from './page.ts'

/** Time in seconds without a heartbeat after which the jobs of a process are not listed as held. */
const SILENT_SECONDS = 30
const actions = {
  pause: pauseQueues,
  resume: resumeQueues,
  concurrency: setConcurrency,
  'run-now': runChore,
  now: startNow,
  cancel: cancelJob,
}

/** The page of all queues, with the scheduled ones, and the page of the jobs of each queue. */
export function queueRoutes(site: Site): Router {
  const filters = { state: choiceOrFirstParam(jobStates) }
  const router = Router()
  router.use(
    adminPage(site, {
      view: 'admin/queues/list',
      title: 'queues.title',
      data: ({ texts }) => describeQueues(site, texts),
      form: { actions },
    }),
    listPage(site, {
      at: '/:name',
      view: 'admin/queues/one',
      filters,
      cursor: { at: digitsParam, id: uuidParam },
      async read({ state, at, id, limit }, { req }) {
        const { name } = await requireQueue(req, site)
        const after = at && id ? { atMicros: Number(at), id } : undefined
        const jobs = await listJobs(site.pool, { queue: name, state }, { after, limit })
        const workers = workersOf(await listProcesses<ProcessFacts>(site.pool), name)
        return jobs.map((job) => ({
          ...job,
          about: aboutOf(job),
          holder: workers.find(({ jobs: held }) => held.includes(job.id)),
        }))
      },
      next: ({ atMicros, id }) => ({ at: String(atMicros), id }),
      async data({ req, texts }) {
        const queue = await requireQueue(req, site)
        const controls = await readControls(site, texts)
        return {
          title: texts('queues.titleOf', { name: queue.name }),
          queue: { ...queue, control: controls.get(queue.name) },
          all: controls.get(allQueues),
          states: jobStates,
        }
      },
      form: { actions, fields: (req) => ({ queue: req.params['name'] }) },
    }),
  )
  return router
}

async function requireQueue(req: Request, site: Pick<Site, 'readQueues'>) {
  const known = (await site.readQueues()).find(({ name }) => name === req.params['name'])
  if (!known) throw new ProblemError('not-found', 'There is no such queue.')
  return known
}

export function deadLetterRoutes(site: Site): Router {
  return listPage(site, {
    view: 'admin/dead-letters',
    title: 'deadLetters.title',
    cursor: { at: digitsParam, id: uuidParam },
    read: ({ at, id, limit }) => {
      const before = at && id ? { givenUpMicros: Number(at), id } : undefined
      return listDeadLetters(site.pool, deadLetterQueue, { before, limit })
    },
    next: ({ id, givenUpMicros }) => ({ at: String(givenUpMicros), id }),
    data: () => ({ now: site.clock() }),
    form: {
      actions: retryDeadLetters,
      fields: (_, form) => ({ id: form.text('which') === 'all' ? undefined : form.texts('id') }),
    },
  })
}

/** What the processes that were seen lately do in a queue. */
function workersOf(processes: readonly RunningProcess[], queue: string) {
  return processes.flatMap(({ name, host, silentSeconds, facts }) => {
    const state = facts.queues?.[queue]
    return state && silentSeconds < SILENT_SECONDS ? [{ name, host, ...state }] : []
  })
}

async function readControls(site: Pick<Site, 'pool'>, texts: Texts) {
  const controls = await listQueueControls(site.pool)
  const people = controls.map(({ pausedBy }) => pausedBy)
  const nameOf = await readNames(site, people, texts)
  const shown = controls.map((control) => ({ ...control, who: nameOf(control.pausedBy) }))
  return new Map(shown.map((control) => [control.queue, control]))
}

async function describeQueues(site: Site, texts: Texts) {
  const [queues, controls, processes, chores] = await Promise.all([
    site.readQueues(),
    readControls(site, texts),
    listProcesses<ProcessFacts>(site.pool),
    readChores(site),
  ])
  return {
    allQueues,
    all: controls.get(allQueues),
    queues: queues.map((queue) => ({
      ...queue,
      control: controls.get(queue.name),
      workers: workersOf(processes, queue.name),
    })),
    chores,
  }
}

async function readChores({ pool, boss, clock }: Pick<Site, 'pool' | 'boss' | 'clock'>) {
  const [schedules, runs] = await Promise.all([boss.getSchedules(), listChoreRuns(pool)])
  const runOf = new Map(runs.map((run) => [run.queue, run]))
  return schedules.map(({ name, cron, timezone }) => {
    const from = clock()
    const [nextAt] = boss.previewSchedule(cron, { tz: timezone, from, count: 1 })
    return { name, cron, nextAt, last: runOf.get(name) }
  })
}

/** The pages of what jobs are about, by the name of the id in their data. */
const subjects: Readonly<Record<string, (id: string) => string>> = {
  reportId: (id) => `/admin/reports/${id}`,
  letterId: (id) => `/admin/outbox/letters/${id}`,
  mailId: (id) => `/admin/inbox/${id}`,
  consumerId: (id) => `/admin/consumers/${id}`,
  reporterId: (id) => `/admin/reporters/${id}`,
}

const ABOUT_CHARS_MAX = 60

/** What a job is about: the fields of its data, with a link if there is a page of it. */
function aboutOf({ data }: ListedJob) {
  return Object.entries(data).map(([name, value]) => {
    const text = (typeof value === 'string' ? value : JSON.stringify(value)).slice(
      0,
      ABOUT_CHARS_MAX,
    )
    return { name, text, href: isUuid(value) ? subjects[name]?.(value) : undefined }
  })
}
