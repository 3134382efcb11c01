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
import { duration, type Language, type Texts } from '../../texts/messages.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { doneMessage, postAction } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

/** The tone of a note or badge for each level. */
const tones = { ok: 'good', off: '', unknown: '', warning: 'warn', critical: 'bad' } as const

/** The actions that repair a condition, with the codes of the labels of their buttons. */
const repairs = [
  [retryDeadLetters, 'health.repairs.deadLetters'],
  [resumeQueues, 'health.repairs.queues'],
  [retryMail, 'health.repairs.mail'],
  [forgetProcesses, 'health.repairs.processes'],
  [noteBackup, 'health.repairs.backup'],
] as const

const settings = [setBounds, resetBounds, silenceCondition, endSilence]
const actions = [...repairs.map(([action]) => action), ...settings]

const DAY_SECONDS = 86_400

type Reader = { texts: Texts; language: Language }

/** A condition with its texts, for templates. */
export function shownCondition(condition: Condition, { texts, language }: Reader) {
  const { code, level, action, unit, bounds } = condition
  const repair = repairs.find(([{ name }]) => name === action)?.[1]
  const boundText = (n: number | null) => {
    if (n === null) return texts('health.bounds.never')
    const bound = valueText(unit, n, { texts, language })
    return texts(`health.bounds.${definitionOf(code).isLowBad ? 'below' : 'from'}`, { bound })
  }
  return {
    ...condition,
    title: texts(`health.titles.${code}`),
    advice: texts(`health.advice.${code}`),
    tone: tones[level],
    shownBounds: { warning: boundText(bounds.warning), critical: boundText(bounds.critical) },
    repair: repair && texts(repair),
  }
}

/** A value in its unit; times in their largest units. */
function valueText(unit: Condition['unit'], n: number, { texts, language }: Reader): string {
  if (unit === 'seconds') return duration(language, n)
  if (unit === 'days') return duration(language, n * DAY_SECONDS)
  return texts(`health.values.${unit}`, { n })
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

/** Orders conditions by their level. */
export function worstFirst(a: Condition, b: Condition): number {
  return order.indexOf(a.level) - order.indexOf(b.level)
}

async function sendHealth(
  req: Request,
  res: Response,
  site: Pick<Site, 'readHealth'>,
  faults: readonly string[],
): Promise<void> {
  const done = doneMessage(req, ...actions)
  const isFresh = done !== undefined
  const { level, conditions, processes } = await site.readHealth({ isFresh })
  const visit = visitOf(req)
  sendAdminPage(req, res, {
    view: 'admin/health',
    title: visit.texts('health.title'),
    status: faults.length > 0 ? 422 : 200,
    data: {
      level,
      tone: tones[level],
      conditions: conditions.toSorted(worstFirst).map((one) => shownCondition(one, visit)),
      processes,
      faults,
      done,
    },
  })
}
