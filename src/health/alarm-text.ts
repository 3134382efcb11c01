import { textsIn } from '../texts/messages.ts'
import { inEnglish } from '../texts/phrases.ts'
import type { Alarm, AlarmMessage } from './alarms.ts'
import { type ConditionCode, definitionOf } from './conditions.ts'

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
  const { at, raised, over, standing } = message
  const page = `${publicUrl}/admin/health`
  const paragraphs = [
    ...raised.map((alarm) => paragraphOf(alarm, page)),
    ...(over.length > 0 ? [`Over: ${over.map(titleOf).join(', ')}.`] : []),
    ...(standing.length > 0 ? [standingText(message), ...standing.map(lineOf)] : []),
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
  if (kind === 'reminder')
    return `Still wrong: ${several(standing.map(({ code }) => titleOf(code)))}`
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

function standingText({ raised, over }: AlarmMessage): string {
  return raised.length + over.length > 0 ? 'Still wrong:' : 'Wrong for a day or longer:'
}

function lineOf({ code, level, reason }: Alarm): string {
  return `- ${titleOf(code)} (${level}): ${inEnglish(reason)}`
}

function paragraphOf({ code, level, reason }: Alarm, page: string): string {
  return [
    `${titleOf(code)}: ${level}`,
    inEnglish(reason),
    `What to do: ${texts(`health.advice.${code}`)}`,
    `${page}#${code}`,
  ].join('\n')
}

function dataOf({ kind, raised, over, standing }: AlarmMessage, page: string) {
  const shown = ({ code, level, reason }: Alarm) => ({
    ...{ code, level, title: titleOf(code), reason: inEnglish(reason) },
    ...{ advice: texts(`health.advice.${code}`), action: definitionOf(code).action ?? null },
    url: `${page}#${code}`,
  })
  return {
    kind,
    raised: raised.map(shown),
    over: over.map((code) => ({ code, title: titleOf(code) })),
    standing: standing.map(shown),
  }
}
