import { readShingles } from '../analysis/shingles/packed-shingles.ts'
import { type PieceName, pieceTypes } from '../analysis/shingles/piece-types.ts'
import { wholeOf } from '../counters/keys.ts'
import type { CounterReader } from '../counters/reader.ts'
import type { WindowsByPrefix } from '../counters/windows.ts'
import type { Verdict, VerdictSymbol } from '../verdict/verdict.ts'
import type { Judge } from './check-message.ts'

/** Pieces that an honest message hardly shares with spam by chance. */
const telling: readonly PieceName[] = [
  ...(['subject', 'link', 'link-path', 'image-link', 'telephone'] as const),
  ...(['cryptocurrency-address', 'attachment', 'image', 'text', 'text-letters'] as const),
]
const tellingTypes = new Set(telling.map((name) => pieceTypes[name].number))
const SPAM_SCORE_MIN = 5
/** So many reports of one piece against each that says it is wanted. */
const OUTWEIGHED = 4

/** By how many reports of its worst piece a message is how bad. */
const steps: readonly (VerdictSymbol & { reports: number })[] = [
  { reports: 50, name: 'REPORTED_OFTEN', weight: 15, meaning: 'Fifty reports of a part of it.' },
  { reports: 3, name: 'REPORTED', weight: 6, meaning: 'Several reports of a part of it.' },
  { reports: 1, name: 'REPORTED_ONCE', weight: 2, meaning: 'Somebody reported a part of it.' },
]

/** Judges a message by how often its telling pieces were reported in the last two weeks. */
export function judgeByCounts(reader: Pick<CounterReader, 'readWindows'>): Judge {
  return (cases) =>
    Promise.all(
      cases.map(async ({ digest }) => {
        const pieces = readShingles(digest.shingles).filter(({ type }) => tellingTypes.has(type))
        const known = await reader.readWindows(pieces.map(wholeOf))
        return verdictOf(Math.max(0, ...known.map(reportsOf)))
      }),
    )
}

function reportsOf({ reports }: WindowsByPrefix): number {
  if (!reports) return 0
  const { complaint, ham } = reports.twoWeeks
  return complaint > ham * OUTWEIGHED ? complaint : 0
}

function verdictOf(reports: number): Verdict {
  const step = steps.find((one) => reports >= one.reports)
  if (!step) return { class: 'undecided', confidence: 0, score: 0, symbols: [] }
  const { name, weight, meaning } = step
  const isSpam = weight >= SPAM_SCORE_MIN
  return {
    class: isSpam ? 'spam' : 'undecided',
    confidence: isSpam ? 1 - 1 / reports : 0,
    score: weight,
    symbols: [{ name, weight, meaning }],
  }
}
