import type { Db } from '../db/pool.ts'
import type { Clock } from '../world.ts'
import { type Prefix, SLOT_MS } from './keys.ts'
import {
  type LookUpInput,
  isCounted,
  type Known,
  type KnownPiece,
  type KnownUnique,
  lookUp,
  readQuestion,
} from './look-up.ts'

const whole = new Intl.NumberFormat('en-GB')

/**
 * Formats the number of distinct values in two weeks: the exact number or, if there are very many,
 * an upper bound; undefined for none.
 */
export function differentWords(
  { counts, different }: KnownUnique,
  prefix: Prefix,
): string | undefined {
  const exact = different[prefix]
  const sum = counts[prefix]?.twoWeeks ?? 0
  if ((exact ?? sum) <= 0) return undefined
  return exact === undefined ? `at most ${whole.format(sum)}` : whole.format(exact)
}

const prefixWords: Record<Prefix, string> = {
  reports: 'In reports of the last two weeks',
  checks: 'In mail checked in the last two weeks',
  outgoing: 'In mail sent in the last two weeks',
}

const PIECE_CHARS_MAX = 80

/**
 * Summarizes the counts in a few sentences: how often the most informative piece was counted as
 * what, by how many reporters, and since when. Begins with the piece, if it is not exactly the one
 * in the query. If nothing is counted, says so and why.
 */
function headline({ pieces, told: selected }: Known): string {
  const piece = selected === null ? undefined : pieces[selected]
  if (!piece) return whyNothing(pieces)
  const prefixes = Object.keys(piece.counts) as Prefix[]
  return [
    subjectSentence(pieces, piece),
    ...prefixes.map((prefix) => countsSentence(piece, prefix)),
    reportersSentence(pieces, piece),
    timesSentence(piece),
  ]
    .filter(Boolean)
    .join(' ')
}

/**
 * Names the piece that the summary is about. If nothing is counted for the exact piece, a wider one
 * is used, such as the network of an address, and the sentence says that others may share it.
 */
function subjectSentence([asked]: readonly KnownPiece[], selected: KnownPiece): string {
  if (!asked || asked === selected) return ''
  const name = selected.type?.replaceAll('-', ' ')
  if (asked.piece === selected.piece) return `Known as ${name}.`
  const what = `its ${name} “${shortened(selected.piece ?? '')}”`
  return `There are no counts for this exact value. These are for ${what}, which others may share.`
}

function shortened(text: string): string {
  const characters = [...text]
  return characters.length > PIECE_CHARS_MAX
    ? `${characters.slice(0, PIECE_CHARS_MAX).join('')}…`
    : text
}

function countsSentence({ counts }: KnownPiece, prefix: Prefix): string {
  const amounts = counts[prefix]?.twoWeeks
  if (!amounts || Object.values(amounts).every((amount) => amount === 0)) return ''
  const { complaint, spam, ham, redeemed } = amounts
  if (complaint === 0 && spam === 0 && ham === 0) {
    return `${prefixWords[prefix]}: all reports were retracted (${times(redeemed)}).`
  }
  const complained = complaint === 0 ? 'no complaints' : `complained about ${times(complaint)}`
  const called = [
    spam === 0 ? '' : `judged spam ${times(spam)}`,
    ham === 0 ? '' : `judged legitimate ${times(ham)}`,
  ].filter(Boolean)
  const clauses = [
    prefix === 'reports' || complaint !== 0 ? complained : '',
    called.length > 0 ? called.join(' and ') : 'never judged spam or legitimate',
    redeemed === 0 ? '' : `retracted ${times(redeemed)}`,
  ]
  return `${prefixWords[prefix]}: ${clauses.filter(Boolean).join(', ')}.`
}

/** Uses the selected piece, or else the first one that is counted by reporter. */
function reportersSentence(pieces: readonly KnownPiece[], selected: KnownPiece): string {
  for (const piece of [selected, ...pieces.filter((one) => one !== selected && isCounted(one))]) {
    const unique = piece.uniques.find(({ type }) => type.endsWith('-reporters'))
    const words = unique && differentWords(unique, 'reports')
    if (words === undefined) continue
    const reporters = `${words} ${words === '1' ? 'reporter' : 'different reporters'}`
    if (piece === selected) return `From ${reporters}.`
    const name = piece.type?.replaceAll('-', ' ')
    return `The ${name} “${shortened(piece.piece ?? '')}” has ${reporters}.`
  }
  return ''
}

function timesSentence({ series = {} }: KnownPiece): string {
  const days = Object.values(series).flatMap(({ days }) => days.map(({ startsAt }) => startsAt))
  const slots = Object.values(series).flatMap(({ tenMinutes }) => tenMinutes)
  const [first] = days.toSorted((a, b) => a.getTime() - b.getTime())
  if (!first) return ''
  const last = slots.map(({ startsAt }) => startsAt.getTime()).sort((a, b) => b - a)[0]
  const lastDay = Math.max(...days.map((day) => day.getTime()))
  if (last === undefined && days.length === 1) return `Counted on ${dayWords(first)} only.`
  const until = last === undefined ? dayWords(new Date(lastDay)) : slotWords(last)
  return `First counted on ${dayWords(first)}, last on ${until}.`
}

function whyNothing(pieces: readonly KnownPiece[]): string {
  const from = Math.min(...pieces.map(({ countedFrom }) => countedFrom))
  return [
    'There are no counts for this value in the last two weeks.',
    'Possible reasons: no one reported it, the reports were retracted or are older, or the ' +
      'messages contain it in a form that cannot be read.',
    'A report counts as soon as it is analyzed.',
    pieces.length > 0 && from > 1
      ? `In mail that is only checked, such values are counted from occurrence ${from} on.`
      : '',
  ]
    .filter(Boolean)
    .join(' ')
}

function times(count: number): string {
  if (count === 1) return 'once'
  return count === 2 ? 'twice' : `${amount(count)} times`
}

function amount(count: number): string {
  return whole.format(count)
}

const day = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const
const days = new Intl.DateTimeFormat('en-GB', day)
const time = { hour: '2-digit', minute: '2-digit' } as const
const moments = new Intl.DateTimeFormat('en-GB', { ...day, ...time })
const hours = new Intl.DateTimeFormat('en-GB', { ...time, timeZone: 'UTC' })

function dayWords(at: Date): string {
  return days.format(at)
}

/** Formats the time of a bucket, which is known only to ten minutes. */
function slotWords(at: number): string {
  const until = hours.format(new Date(at + SLOT_MS))
  return `${moments.format(new Date(at))} to ${until} UTC`
}

/** The counts with a summary, or an error in the query as a sentence. */
export type LookUpAnswer = (Known & { summary: string }) | { fault: string }

/**
 * Looks up the current counts of a link, an address, a subject, a file …. Includes series for
 * charts of the selected piece, or of all.
 */
export async function ask(
  app: { pool: Db; clock: Clock },
  given: LookUpInput,
  series: 'told' | 'all',
): Promise<LookUpAnswer> {
  const read = readQuestion(given)
  if ('fault' in read) return read
  const known = await lookUp(app, read, series)
  return { ...known, summary: headline(known) }
}
