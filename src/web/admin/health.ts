import type { Router } from 'express'
import { retryMail } from '../../feedback/release-held.ts'
import { shownBounds } from '../../health/bound-text.ts'
import type { Condition } from '../../health/conditions.ts'
import {
  endSilence,
  forgetProcesses,
  noteBackup,
  resetBounds,
  setBounds,
  silenceCondition,
} from '../../health/health-actions.ts'
import { pauseQueues, resumeQueues } from '../../queue/control-queues.ts'
import { retryDeadLetters } from '../../queue/redrive.ts'
import { banReporter } from '../../reports/shadow-bans.ts'
import type { Language, Texts } from '../../texts/messages.ts'
import { sayPhrases } from '../../texts/phrases.ts'
import type { Site } from '../site.ts'
import { adminPage } from './page.ts'
import { doneMessage } from './post-action.ts'

/** The tone of a note or badge for each level. */
const tones = { ok: 'good', off: '', unknown: '', warning: 'warn', critical: 'bad' } as const

/** The actions that repair a condition, with the codes of the labels of their buttons. */
const repairs = [
  [retryDeadLetters, 'health.repairs.deadLetters'],
  [resumeQueues, 'health.repairs.queues'],
  [retryMail, 'health.repairs.mail'],
  [forgetProcesses, 'health.repairs.processes'],
  [noteBackup, 'health.repairs.backup'],
  [banReporter, 'health.repairs.ban'],
  [pauseQueues, 'health.repairs.pause'],
] as const

const settings = [setBounds, resetBounds, silenceCondition, endSilence]
const actions = [...repairs.map(([action]) => action), ...settings]

type Reader = { texts: Texts; language: Language }

export function shownCondition(condition: Condition, { texts, language }: Reader) {
  const { code, level, action, advice, fields, reason } = condition
  const repair = repairs.find(([{ name }]) => name === action)?.[1]
  return {
    ...condition,
    title: texts(`health.titles.${code}`),
    advice: texts(`health.advice.${advice}`),
    tone: tones[level],
    shownBounds: shownBounds(condition, { texts, language }),
    repair: repair && texts(repair),
    // An action about something that was found has this as its reason.
    given:
      Object.keys(fields).length > 0
        ? { ...fields, reason: sayPhrases(reason, language, 'operator').text }
        : {},
  }
}

/**
 * The page with all conditions of health: their bounds, silences, and the buttons that repair them.
 */
export function healthAdminRoutes(site: Site): Router {
  return adminPage(site, {
    view: 'admin/health',
    title: 'health.title',
    async data({ req, ...visit }) {
      const isFresh = doneMessage(req, ...actions) !== undefined
      const { level, conditions, processes } = await site.readHealth({ isFresh })
      return {
        level,
        tone: tones[level],
        conditions: conditions.toSorted(worstFirst).map((one) => shownCondition(one, visit)),
        processes,
      }
    },
    form: { actions: Object.fromEntries(actions.map((action) => [action.name, action])) },
  })
}

const order: readonly Condition['level'][] = ['critical', 'warning', 'unknown', 'ok', 'off']

export function worstFirst(a: Condition, b: Condition): number {
  return order.indexOf(a.level) - order.indexOf(b.level)
}
