import { parseArgs } from 'node:util'
import type { App } from '../../app.ts'
import { UsageError } from '../../errors.ts'
import {
  findReputationsByName,
  showReputation,
  type ShownReputation,
} from '../../judging/reputations/show-reputation.ts'
import { isSubjectKind, type SubjectKind, subjectKinds } from '../../reputation/subject.ts'

/** What `reputation` was asked. */
export type ReputationRequest = { kind: SubjectKind | undefined; name: string; isJson: boolean }

const FOUND_MAX = 20
const DAYS_SHOWN = 14

/** Reads `[KIND] NAME [--json]`. */
export function parseReputation(args: readonly string[]): ReputationRequest {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false } },
  })
  const [first, second, ...more] = positionals
  const isJson = values.json
  if (first === undefined || more.length > 0) {
    throw new UsageError(['Say "reputation NAME", or "reputation KIND NAME".'])
  }
  if (second === undefined) return { kind: undefined, name: normal(first), isJson }
  if (!isSubjectKind(first)) {
    const kinds = Object.keys(subjectKinds).join(', ')
    throw new UsageError([`There is no kind "${first}"; there are ${kinds}.`])
  }
  return { kind: first, name: normal(second), isJson }
}

/** Links keep their case; all other names are in lower case. */
function normal(name: string): string {
  return name.includes('/') ? name : name.toLowerCase()
}

/**
 * Tells what is known of whatever has this name, of the kind or of all kinds, as text or as JSON;
 * and whether anything is.
 */
export async function tellReputation(
  { kind, name, isJson }: ReputationRequest,
  { pool, clock }: Pick<App, 'pool' | 'clock'>,
): Promise<{ text: string; isKnown: boolean }> {
  const now = clock()
  const found = await findReputationsByName(pool, { name, kind, limit: FOUND_MAX }, now)
  const exact = found.filter(({ subject }) => subject.name === name).map(({ subject }) => subject)
  const asked = exact.length === 0 && kind !== undefined ? [{ kind, name }] : exact
  const shown = await Promise.all(asked.map((subject) => showReputation(pool, subject, now)))
  const isKnown = shown.some(({ detail, mark }) => detail !== null || mark !== null)
  if (isJson) return { text: JSON.stringify(shown), isKnown }
  const others = found.filter(({ subject }) => subject.name !== name)
  const lines = [
    ...(shown.length === 0 ? [`Nothing is known of ${name}.`] : shown.map(textOf)),
    ...(others.length === 0
      ? []
      : [
          'Names that begin so:',
          ...others.map(({ subject }) => `  ${subject.kind} ${subject.name}`),
        ]),
  ]
  return { text: lines.join('\n\n'), isKnown }
}

function textOf({ subject, reputation, detail, mark, why }: ShownReputation): string {
  const { firstSeenAt, lastSeenAt, flags } = reputation
  const days = (detail?.days ?? []).slice(-DAYS_SHOWN).map(({ day, good, bad, newcomers }) => {
    const date = new Date(day * 86_400_000).toISOString().slice(0, 10)
    return `  ${date}  for ${good.toFixed(1)}  against ${bad.toFixed(1)}  newcomers ${newcomers}`
  })
  return [
    `${subject.kind} ${subject.name}`,
    `  score   ${reputation.score.toFixed(2)}   evidence ${reputation.weight.toFixed(2)}`,
    `  flags   ${flags.join(', ') || '-'}`,
    `  seen    ${firstSeenAt?.toISOString() ?? '-'} to ${lastSeenAt?.toISOString() ?? '-'}`,
    ...(mark
      ? [`  by hand ${mark.mark} until ${mark.untilAt?.toISOString() ?? 'lifted'}: ${mark.reason}`]
      : []),
    ...why.map((sentence) => `  ${sentence}`),
    ...days,
  ].join('\n')
}
