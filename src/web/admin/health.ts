import { type Request, type Response, Router } from 'express'
import { retryMail } from '../../feedback/release-held.ts'
import { definitionOf, type Condition } from '../../health/conditions.ts'
import {
  endSilence,
  forgetProcesses,
  noteBackup,
  resetBounds,
  setBounds,
  silenceCondition,
} from '../../health/health-actions.ts'
import { resumeQueues } from '../../queue/control-queues.ts'
import { retryDeadLetters } from '../../queue/redrive.ts'
import { textsIn } from '../../texts/messages.ts'
import type { Site } from '../site.ts'
import { doneMessage, postAction } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

const texts = textsIn('en')

/** The tone of a note or badge for each level. */
const tones = { ok: 'good', off: '', unknown: '', warning: 'warn', critical: 'bad' } as const

/** The actions that repair a condition, with the labels of their buttons. */
const repairs = [
  [retryDeadLetters, 'Retry all dead letters'],
  [resumeQueues, 'Resume all queues'],
  [retryMail, 'Try to send now'],
  [forgetProcesses, 'Forget silent processes'],
  [noteBackup, 'A backup was made now'],
] as const

const settings = [setBounds, resetBounds, silenceCondition, endSilence]
const actions = [...repairs.map(([action]) => action), ...settings]

/** A condition with its texts, for templates. */
export function shownCondition(condition: Condition) {
  const { code, level, action } = condition
  return {
    ...condition,
    title: texts(`health.titles.${code}`),
    advice: texts(`health.advice.${code}`),
    tone: tones[level],
    isLowBad: definitionOf(code).isLowBad === true,
    repair: repairs.find(([{ name }]) => name === action)?.[1],
  }
}

/**
 * The page with all conditions of health: their bounds, silences, and the buttons that repair them.
 */
export function healthAdminRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendHealth(req, res, site, []))
  router.post(
    '/',
    postAction(site, {
      actions: Object.fromEntries(actions.map((action) => [action.name, action])),
      back: () => '/admin/health',
      show: (req, res, { problems }) => sendHealth(req, res, site, problems),
    }),
  )
  return router
}

const order: readonly Condition['level'][] = ['critical', 'warning', 'unknown', 'ok', 'off']

function worstFirst(a: Condition, b: Condition): number {
  return order.indexOf(a.level) - order.indexOf(b.level)
}

async function sendHealth(
  req: Request,
  res: Response,
  site: Pick<Site, 'readHealth' | 'clock'>,
  faults: readonly string[],
): Promise<void> {
  const done = doneMessage(req, ...actions)
  const isFresh = done !== undefined
  const { level, conditions, processes } = await site.readHealth({ isFresh })
  const now = site.clock().getTime()
  sendAdminPage(req, res, {
    view: 'admin/health',
    title: 'Health',
    status: faults.length > 0 ? 422 : 200,
    data: {
      level,
      tone: tones[level],
      conditions: conditions.toSorted(worstFirst).map(shownCondition),
      processes: processes.map((one) => ({
        ...one,
        runningSeconds: (now - one.startedAt.getTime()) / 1_000,
      })),
      faults,
      done,
    },
  })
}
