import { FAST_DAYS, SLOW_DAYS } from './decay.ts'
import type { Detail } from './detail.ts'
import { effectiveAt } from './fold.ts'
import {
  PRIOR,
  type Reputation,
  type ReputationFlag,
  SURE_DAYS,
  SURE_REPORTERS_MIN,
  SURE_SCORE_MIN,
  SURE_WEIGHT_MIN,
} from './reputation.ts'

const flagWords: Record<ReputationFlag, string> = {
  listed: 'It is listed: surely bad.',
  welcome: 'It is welcome: surely good.',
  awake: 'It woke up: it was silent for two weeks or more, and now several report it at once.',
  jumped: 'It changed: its share of complaints is another than in the weeks before.',
  new: 'It was first seen within a week.',
  exempt: 'An administrator exempted it: it is not accused of itself.',
}

/** Why the reputation of a subject is what it is, as sentences; the score first. */
export function explainReputation(
  reputation: Reputation,
  detail: Detail | undefined,
  now: Date,
): string[] {
  if (!detail) {
    const flags = reputation.flags.map((flag) => flagWords[flag])
    return ['Nothing was reported of it, or it was forgotten since.', ...flags]
  }
  const { all } = effectiveAt(detail, now)
  const crowd = detail.newcomers.good + detail.newcomers.bad > 0
  const { sources } = detail
  const speaking = { good: 0, bad: 0 }
  for (const { good, bad } of sources) {
    if (bad > 0) speaking.bad++
    if (good > 0) speaking.good++
  }
  return [
    `Score ${shown(reputation.score)} = (${shown(all.good)} for it − ${shown(all.bad)} against ` +
      `it) ÷ (both + ${PRIOR}, so that little evidence means little).`,
    `${people(speaking.bad)} against it, ${people(speaking.good)} for it. One reporter counts ` +
      `once, and never more than one and a half times.`,
    ...(crowd
      ? ['Reporters who are not proven spoke too: all of them together count 0.3 at most.']
      : []),
    `Of the last days alone: score ${shown(reputation.recentScore)}, from evidence of ` +
      `${shown(reputation.recentWeight)}.`,
    ...reputation.flags.map((flag) => flagWords[flag]),
    `Evidence loses half its weight in ${SLOW_DAYS} days, for the last days in ${FAST_DAYS} day.`,
    `From ${SURE_SCORE_MIN} on, with evidence of ${shown(SURE_WEIGHT_MIN)}, what stands for one ` +
      `source is listed or welcome of itself: that is what is left after ${SURE_DAYS} days of ` +
      `${SURE_REPORTERS_MIN} reporters who are believed in full. What many share never is.`,
  ]
}

function shown(value: number): string {
  const rounded = Math.round(value * 100) / 100
  return `${rounded < 0 ? '−' : ''}${Math.abs(rounded)}`
}

function people(count: number): string {
  return count === 1 ? '1 proven reporter speaks' : `${count} proven reporters speak`
}
