import { type Request, type Response, Router } from 'express'
import { listProcesses } from '../../db/health.ts'
import {
  allQueues,
  jobStates,
  listChoreRuns,
  type ListedJob,
  listJobs,
  listQueueControls,
} from '../../db/queue-controls.ts'
import { listReporterEmails } from '../../db/reporters.ts'
import type { ProcessFacts, RunningProcess } from '../../health/heartbeat.ts'
import {
  cancelJob,
  pauseQueues,
  resumeQueues,
  runChore,
  setConcurrency,
  startNow,
} from '../../queue/control-queues.ts'
import { isUuid } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { choiceOrFirstParam, digitsParam, sendList, uuidParam } from './list-page.ts'
import { doneMessage, postAction, type RefusedForm } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

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
  const router = Router()
  router.get('/', (req, res) => sendQueues(req, res, site, []))
  const show = (req: Request, res: Response, { problems }: RefusedForm) =>
    sendQueues(req, res, site, problems)
  router.post('/', postAction(site, { actions, back: () => '/admin/queues', show }))
  router.get('/:name', (req, res) => sendQueue(req, res, site))
  router.post(
    '/:name',
    postAction(site, {
      actions,
      fields: (req) => ({ queue: req.params['name'] }),
      back: (req) => `/admin/queues/${req.params['name']}`,
    }),
  )
  return router
}

/** What the processes that were seen lately do in a queue. */
function workersOf(processes: readonly RunningProcess[], queue: string) {
  return processes.flatMap(({ name, host, silentSeconds, facts }) => {
    const state = facts.queues?.[queue]
    return state && silentSeconds < SILENT_SECONDS ? [{ name, host, ...state }] : []
  })
}

async function readControls({ pool }: Pick<Site, 'pool'>) {
  const controls = await listQueueControls(pool)
  const emails = await listReporterEmails(pool, [
    ...new Set(controls.flatMap(({ pausedBy }) => pausedBy ?? [])),
  ])
  const shown = controls.map((control) => ({
    ...control,
    /** Empty: the command line. */
    who: control.pausedBy === null ? '' : (emails.get(control.pausedBy) ?? control.pausedBy),
  }))
  return new Map(shown.map((control) => [control.queue, control]))
}

async function sendQueues(
  req: Request,
  res: Response,
  site: Site,
  faults: readonly string[],
): Promise<void> {
  const [queues, controls, processes, chores] = await Promise.all([
    site.readQueues(),
    readControls(site),
    listProcesses<ProcessFacts>(site.pool),
    readChores(site),
  ])
  sendAdminPage(req, res, {
    view: 'admin/queues/list',
    title: visitOf(req).texts('queues.title'),
    status: faults.length > 0 ? 422 : 200,
    data: {
      allQueues,
      all: controls.get(allQueues),
      queues: queues.map((queue) => ({
        ...queue,
        control: controls.get(queue.name),
        workers: workersOf(processes, queue.name),
      })),
      chores,
      problems: faults,
      done: doneMessage(req, ...Object.values(actions)),
    },
  })
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

async function sendQueue(req: Request, res: Response, site: Site): Promise<void> {
  const queue = String(req.params['name'])
  const known = (await site.readQueues()).find(({ name }) => name === queue)
  if (!known) throw new ProblemError('not-found', 'There is no such queue.')
  const [controls, processes] = await Promise.all([
    readControls(site),
    listProcesses<ProcessFacts>(site.pool),
  ])
  const workers = workersOf(processes, queue)
  const filters = { state: choiceOrFirstParam(jobStates) }
  await sendList(req, res, {
    view: 'admin/queues/one',
    title: 'queues.titleOf',
    titleParams: { name: queue },
    filters,
    cursor: { at: digitsParam, id: uuidParam },
    read: async ({ state, at, id, limit }) => {
      const after = at && id ? { atMicros: Number(at), id } : undefined
      const jobs = await listJobs(site.pool, { queue, state }, { after, limit })
      return jobs.map((job) => ({
        ...job,
        about: aboutOf(job),
        holder: workers.find(({ jobs: held }) => held.includes(job.id)),
      }))
    },
    next: ({ atMicros, id }) => ({ at: String(atMicros), id }),
    actions: Object.values(actions),
    data: {
      queue: { ...known, control: controls.get(queue), workers },
      all: controls.get(allQueues),
      states: jobStates,
    },
  })
}
