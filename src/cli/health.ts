import { shownWebhookKey } from '../mail/webhook-message.ts'
import { alarmWebhookKeys } from '../health/channels.ts'
import { shownBounds } from '../health/bound-text.ts'
import {
  endSilence,
  forgetProcesses,
  noteBackup,
  resetBounds,
  setBounds,
  silenceCondition,
} from '../health/health-actions.ts'
import { createReadHealth } from '../health/read-health.ts'
import { textsIn } from '../texts/messages.ts'
import { inEnglish } from '../texts/phrases.ts'
import { columns, defineQuery, type Operations } from './command.ts'
import { describeSilence } from './silent-database.ts'

const list = defineQuery({
  name: 'health list',
  summary: 'show the conditions of health with their bounds',
  async print(_, app) {
    const { conditions } = await createReadHealth(app)()
    const texts = textsIn('en')
    const lines = conditions.map((condition) => {
      const { warning, critical } = shownBounds(condition, { texts, language: 'en' })
      return [condition.level, condition.code, warning, critical, inEnglish(condition.reason)]
    })
    return columns([['level', 'condition', 'warning', 'critical', 'reason'], ...lines]).join('\n')
  },
})

const showKey = defineQuery({
  name: 'health webhook-key',
  summary: 'print the key with which requests to ALARM_WEBHOOK_URL are signed',
  showsKey: true,
  print: (_, { config }) =>
    Promise.resolve(shownWebhookKey(alarmWebhookKeys(config)[0] ?? Buffer.of())),
})

/** These commands do not wait for a database that hangs. */
export const findObstacle = describeSilence

export const operations: Operations = [
  list,
  showKey,
  setBounds,
  resetBounds,
  silenceCondition,
  endSilence,
  noteBackup,
  forgetProcesses,
]
