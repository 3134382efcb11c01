import type { Db } from '../db/pool.ts'
import { type Phrase, phrase } from '../phrase.ts'
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

/** The number of distinct values in two weeks; an upper bound if there are very many. */
export function differentOf({ counts, different }: KnownUnique, prefix: Prefix) {
  const exact = different[prefix]
  const count = exact ?? counts[prefix]?.twoWeeks ?? 0
  return count <= 0 ? undefined : { count, bound: exact === undefined ? 'most' : 'exact' }
}

/** Formats the number of distinct values in two weeks; undefined for none. */
export function differentWords(unique: KnownUnique, prefix: Prefix): string | undefined {
  const found = differentOf(unique, prefix)
  return found && `${found.bound === 'most' ? 'at most ' : ''}${whole.format(found.count)}`
}

const PIECE_CHARS_MAX = 80

/**
 * Summarizes the counts in a few sentences: how often the most informative piece was counted as
 * spam, as legitimate and in complaints, by how many reporters, and since when. Names the piece
 * first, if it is not exactly the one in the query. If nothing is counted, gives the reason.
 */
function headline({ pieces, told: selected }: Known): Phrase[] {
  const piece = selected === null ? undefined : pieces[selected]
  if (!piece) return whyNothingCounted(pieces)
  const prefixes = Object.keys(piece.counts) as Prefix[]
  return [
    ...aboutPiece(pieces, piece),
    ...prefixes.flatMap((prefix) => countsOf(piece, prefix)),
    ...reportersOf(pieces, piece),
    ...timesOf(piece),
  ]
}

/**
 * Names the piece that the summary is about. If nothing is counted for the exact piece, a wider one
 * is used, such as the network of an address, and the sentence says that others may share it.
 */
function aboutPiece([asked]: readonly KnownPiece[], selected: KnownPiece): Phrase[] {
  if (!asked || asked === selected) return []
  if (asked.piece === selected.piece) return [phrase('counts-known-as', { type: typeOf(selected) })]
  return [phrase('counts-of-wider', namesOf(selected))]
}

function typeOf({ type }: KnownPiece): string {
  return type?.replaceAll('-', ' ') ?? ''
}

function namesOf(piece: KnownPiece) {
  return { type: typeOf(piece), piece: shortened(piece.piece ?? '') }
}

function shortened(text: string): string {
  const characters = [...text]
  return characters.length > PIECE_CHARS_MAX
    ? `${characters.slice(0, PIECE_CHARS_MAX).join('')}…`
    : text
}

function countsOf({ counts }: KnownPiece, prefix: Prefix): Phrase[] {
  const amounts = counts[prefix]?.twoWeeks
  if (!amounts || Object.values(amounts).every((amount) => amount === 0)) return []
  const { complaint, spam, ham, redeemed } = amounts
  if (complaint === 0 && spam === 0 && ham === 0) {
    return [phrase('counts-retracted', { source: prefix, redeemed })]
  }
  return [
    prefix === 'reports'
      ? phrase('counts-in-reports', { complaint, spam, ham, redeemed })
      : phrase('counts-in-mail', { source: prefix, complaint, spam, ham, redeemed }),
  ]
}

/**
 * States the number of reporters for the selected piece, or else for the first other piece that is
 * counted by reporter.
 */
function reportersOf(pieces: readonly KnownPiece[], selected: KnownPiece): Phrase[] {
  for (const piece of [selected, ...pieces.filter((one) => one !== selected && isCounted(one))]) {
    const unique = piece.uniques.find(({ type }) => type.endsWith('-reporters'))
    const found = unique && differentOf(unique, 'reports')
    if (found === undefined) continue
    return piece === selected
      ? [phrase('counts-reporters', found)]
      : [phrase('counts-reporters-of', { ...namesOf(piece), ...found })]
  }
  return []
}

/** States when the piece was first and last counted, the latter with a precision of ten minutes. */
function timesOf({ series = {} }: KnownPiece): Phrase[] {
  const days = Object.values(series).flatMap(({ days }) => days.map(({ startsAt }) => startsAt))
  const slots = Object.values(series).flatMap(({ tenMinutes }) => tenMinutes)
  const [first] = days.toSorted((a, b) => a.getTime() - b.getTime())
  if (!first) return []
  const firstDay = first.toISOString()
  const last = slots.map(({ startsAt }) => startsAt.getTime()).sort((a, b) => b - a)[0]
  if (last !== undefined) {
    const [lastAt, untilAt] = [last, last + SLOT_MS].map((at) => new Date(at).toISOString())
    return [phrase('counts-until-slot', { firstDay, lastAt: lastAt ?? '', untilAt: untilAt ?? '' })]
  }
  if (days.length === 1) return [phrase('counts-on-day', { day: firstDay })]
  const lastDay = new Date(Math.max(...days.map((day) => day.getTime()))).toISOString()
  return [phrase('counts-until-day', { firstDay, lastDay })]
}

function whyNothingCounted(pieces: readonly KnownPiece[]): Phrase[] {
  const from = Math.min(...pieces.map(({ countedFrom }) => countedFrom))
  return [
    phrase('counts-none'),
    ...(pieces.length > 0 && from > 1 ? [phrase('counts-from', { count: from })] : []),
  ]
}

/** The counts with a summary, or an error in the query. */
export type LookUpAnswer = (Known & { summary: Phrase[] }) | { fault: Phrase }

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
