import type { Action } from '../../actions.ts'
import { countSendingEvents } from '../../counting/sending.ts'
import { allQueues, listQueueControls, type QueueControl } from '../../db/queue-controls.ts'
import { DAY_MS } from '../../durations.ts'
import type { Condition } from '../../health/conditions.ts'
import type { RunningProcess } from '../../health/heartbeat.ts'
import { findListed } from '../../lists/delist.ts'
import { pauseQueues, resumeQueues, setConcurrency } from '../../queue/control-queues.ts'
import { textsIn } from '../../texts/messages.ts'
import { inEnglish } from '../../texts/phrases.ts'
import { listedJson } from '../../verdict/lists/judge-candidate.ts'
import { readListQuestion } from '../../verdict/lists/questions.ts'
import { ProblemError } from '../problem.ts'
import type { QueueState } from '../read-backlogs.ts'
import type { Site } from '../site.ts'
import type { Call, Handlers } from './serve-operations.ts'
import { runForCaller } from './submission.ts'

/** Reputations, counters, events about outgoing mail, health and queues. */
export function knowledgeHandlers(site: Site) {
  return {
    async 'look-up'({ path: { name } }) {
      const question = readListQuestion(name)
      if (!question)
        throw new ProblemError('bad-field', 'This is not an address, domain, host or link.')
      const listed = (await findListed(site, question.asks)).map(listedJson)
      const [first] = listed
      const shown = first?.list === 'pages' ? first.name : question.name
      return {
        name: question.name,
        is_listed: listed.length > 0,
        listed,
        url: `${site.publicUrl}/lookup?q=${encodeURIComponent(shown)}`,
      }
    },
    async 'read-counters'({ query: { series, ...given } }) {
      // Loaded on first use, because splitting messages needs code that the intake does not.
      const { ask } = await import('../../counting/headline.ts')
      const answer = await ask(site, given, series)
      if ('fault' in answer) throw new ProblemError('bad-field', inEnglish(answer.fault))
      return { ...answer, summary: inEnglish(answer.summary) }
    },
    'add-outgoing-events': (call) => countEvents(call, site),
    async 'read-health'() {
      const { level, at, conditions, processes } = await site.readHealth()
      return {
        level,
        at: at.toISOString(),
        conditions: conditions.map(conditionJson),
        processes: processes.map(processJson),
      }
    },
    async 'list-queues'() {
      const controls = await readControls(site)
      return { queues: (await site.readQueues()).map((queue) => queueJson(queue, controls)) }
    },
    'change-queue': (call) => changeQueue(call, site),
  } satisfies Partial<Handlers>
}

/** Counters are kept for two weeks. */
const AGE_DAYS_MAX = 13

async function countEvents({ body }: Call<'add-outgoing-events'>, site: Site) {
  const now = site.clock()
  const events = body.events.map(({ at, ...event }) => ({ ...event, at: at ? new Date(at) : now }))
  for (const [index, { at }] of events.entries()) {
    const ageDays = (now.getTime() - at.getTime()) / DAY_MS
    if (ageDays >= -1 && ageDays <= AGE_DAYS_MAX) continue
    const detail = `events.${index}.at is in the future or older than ${AGE_DAYS_MAX} days.`
    throw new ProblemError('bad-field', detail)
  }
  await countSendingEvents(site.pool, events, now)
  for (const { user, system, event } of events) {
    if (event !== 'read') site.noteSender({ user, system })
  }
  return { accepted: events.length }
}

async function changeQueue({ caller, path, body }: Call<'change-queue'>, site: Site) {
  const { queue } = path
  const { paused, reason, concurrency } = body
  const run = (action: Action, given: object) =>
    runForCaller(action, { queue, ...given }, site, caller)
  if (concurrency !== undefined) await run(setConcurrency, { batches: concurrency ?? undefined })
  if (paused === true) await run(pauseQueues, { reason })
  if (paused === false) await run(resumeQueues, {})
  return controlJson(queue, await readControls(site))
}

function conditionJson(condition: Condition) {
  const { code, level, value, unit, bounds, reason, since, advice, action, silencedUntil } =
    condition
  const texts = textsIn('en')
  return {
    code,
    title: texts(`health.titles.${code}`),
    level,
    value,
    unit,
    warning: bounds.warning,
    critical: bounds.critical,
    since: since && since.toISOString(),
    reason: inEnglish(reason),
    phrase: { code: reason.code, params: reason.params ?? {} },
    advice: texts(`health.advice.${advice}`),
    action,
    silenced_until: silencedUntil && silencedUntil.toISOString(),
  }
}

function processJson({ host, name, version, startedAt, seenAt }: RunningProcess) {
  const times = { started_at: startedAt.toISOString(), seen_at: seenAt.toISOString() }
  return { host, name, version, ...times }
}

type Controls = ReadonlyMap<string, QueueControl>

async function readControls({ pool }: Pick<Site, 'pool'>): Promise<Controls> {
  return new Map((await listQueueControls(pool)).map((control) => [control.queue, control]))
}

function controlJson(name: string, controls: Controls) {
  const own = controls.get(name)
  const paused = [own, controls.get(allQueues)].find((one) => one?.pausedAt)
  return {
    name,
    paused: paused !== undefined,
    paused_at: paused?.pausedAt?.toISOString() ?? null,
    reason: paused?.reason ?? null,
    concurrency: own?.concurrency ?? null,
  }
}

function queueJson(queue: QueueState, controls: Controls) {
  return {
    ...controlJson(queue.name, controls),
    ready: queue.ready,
    later: queue.deferred,
    active: queue.active,
    longest_wait_seconds: Math.round(queue.longestWaitSeconds),
  }
}
