import { textsIn } from '../texts/messages.ts'
import { inEnglish } from '../texts/phrases.ts'
import type { Alarm, AlarmMessage, StandingAlarm } from './alarms.ts'
import type { ConditionCode } from './conditions.ts'

/** A message as the channels send it: for people, and for programs. */
export type AlarmNotice = {
  /** The same for each attempt. */
  id: string
  at: string
  subject: string
  text: string
  /** The body for programs, in JSON. */
  json: string
}

const texts = textsIn('en')
const titleOf = (code: ConditionCode) => texts(`health.titles.${code}`)

/** Composes a message in English; its links lead to the page `/admin/health` of `publicUrl`. */
export function composeNotice(id: string, message: AlarmMessage, publicUrl: string): AlarmNotice {
  const { at, raised, over } = message
  const page = `${publicUrl}/admin/health`
  const paragraphs = [
    `As of ${at.slice(0, 10)} ${at.slice(11, 16)} UTC:`,
    ...raised.map((alarm) => paragraphOf(alarm, page)),
    ...(over.length > 0 ? [`Over: ${over.map(titleOf).join(', ')}.`] : []),
    ...standingParagraphs(message),
    `All conditions: ${page}`,
  ]
  return {
    id,
    at,
    subject: subjectOf(message),
    text: `${paragraphs.join('\n\n')}\n`,
    json: JSON.stringify({ type: 'health.alarm', id, timestamp: at, data: dataOf(message, page) }),
  }
}

function subjectOf({ kind, raised, over, standing }: AlarmMessage): string {
  if (kind === 'all-clear') return `Over: ${several(over.map(titleOf))}`
  if (kind === 'reminder') {
    const bad = standing.filter((one) => one.now === 'bad')
    const listed = bad.length > 0 ? bad : standing.filter((one) => one.now === 'unclear')
    const titles = several(listed.map(({ code }) => titleOf(code)))
    return `${bad.length > 0 ? 'Still wrong' : 'Not known'}: ${titles}`
  }
  if (kind === 'update') return `Over: ${several(over.map(titleOf))}; other alarms stand`
  const isCritical = raised.some(({ level }) => level === 'critical')
  const worst = isCritical ? raised.filter(({ level }) => level === 'critical') : raised
  const [first] = worst
  const rest = raised.length - 1
  const more = rest > 0 ? ` and ${rest} more` : ''
  return `${isCritical ? 'Critical' : 'Warning'}: ${first ? titleOf(first.code) : ''}${more}`
}

function several([first = '', ...rest]: readonly string[]): string {
  return rest.length > 0 ? `${first} and ${rest.length} more` : first
}

/** The other alarms, by what is known of their conditions now. */
function standingParagraphs({ standing }: AlarmMessage): string[] {
  const listed = (now: StandingAlarm['now'], heading: string, before = '') => {
    const lines = standing
      .filter((one) => one.now === now)
      .map(({ code, level, reason }) => {
        return `- ${titleOf(code)} (${level}): ${before}${inEnglish(reason)}`
      })
    return lines.length > 0 ? [heading, ...lines] : []
  }
  return [
    ...listed('bad', 'Still wrong:'),
    ...listed('good', 'Good again; the alarm is over if that lasts:', 'Before: '),
    ...listed('unclear', 'Not known now:', 'Before: '),
  ]
}

function paragraphOf({ code, level, reason, advice }: Alarm, page: string): string {
  return [
    `${titleOf(code)}: ${level}`,
    inEnglish(reason),
    `What to do: ${texts(`health.advice.${advice}`)}`,
    `${page}#${code}`,
  ].join('\n')
}

function dataOf({ kind, raised, over, standing }: AlarmMessage, page: string) {
  const shown = ({ code, level, reason, advice, action }: Alarm) => ({
    ...{ code, level, title: titleOf(code), reason: inEnglish(reason) },
    ...{ advice: texts(`health.advice.${advice}`), action },
    url: `${page}#${code}`,
  })
  return {
    kind,
    raised: raised.map(shown),
    over: over.map((code) => ({ code, title: titleOf(code) })),
    standing: standing.map((alarm) => ({ ...shown(alarm), now: alarm.now })),
  }
}
