import {
  isPairType,
  type PackedShingles,
  PAIR_BYTES,
  PIECE_BYTES,
} from '../../pieces/shingles/packed-shingles.ts'
import { pairTypes, type PieceName, pieceTypes } from '../../pieces/shingles/piece-types.ts'
import { definitionsOf, double, type FactDefinition } from './fact.ts'

/** Groups of pieces whose counts become facts, with their descriptions. */
const seenGroups = {
  campaign: 'its campaign',
  text: 'its text',
  subject: 'its subject',
  structure: 'the structure of its HTML',
  author: 'its author’s address',
  author_name: 'its author’s name at that organization',
  author_domain: 'its author’s organization',
  reply_to: 'its reply address',
  return_path: 'the organization of its return path',
  signer: 'a verified signer',
  list: 'its mailing list or Feedback-ID',
  origin_ip: 'the address it came from',
  origin_network: 'the /24 or /48 it came from',
  origin_as: 'the autonomous system it came from',
  link: 'a link',
  link_host: 'the host of a link',
  link_domain: 'the domain of a link',
  attachment: 'an attached file',
  contact: 'a telephone number, account or mail address in its text',
} as const

type SeenGroup = keyof typeof seenGroups

/** Groups whose spread is a fact too: from where, and to whom, within a day. */
const spreadGroups = ['campaign', 'text', 'author', 'link_domain'] as const satisfies SeenGroup[]

/** Groups for which facts tell how their checked messages are spread over a day. */
const shapeGroups = [
  ...(['campaign', 'text', 'author', 'origin_ip', 'link_domain'] as const),
] satisfies SeenGroup[]

/**
 * Meaning of one key: how often the piece was seen, or the number of its reporters, or of the
 * networks or countries of origin.
 */
export type SeenKey = { group: SeenGroup; counts: 'piece' | 'reporters' | Spread }

type Spread = 'networks' | 'countries'

/** Counter keys to look up, and the meaning of each, in the same order. */
export type SeenPieces = { keys: readonly bigint[]; groups: readonly SeenKey[] }

type Choice = readonly [piece: PieceName, group: SeenGroup, pieces: number, reporters?: number]

/**
 * The pieces to look up: at most `pieces` of each type, and the reporters of at most `reporters` of
 * these pieces. The total is 55 keys, with the spread of the first piece of four types.
 */
const choices: readonly Choice[] = [
  ['campaign', 'campaign', 1, 1],
  ['text', 'text', 1, 1],
  ['text-letters', 'text', 1],
  ['subject', 'subject', 1],
  ['subject-template', 'subject', 1, 1],
  ['html-structure', 'structure', 1],
  ['author-address', 'author', 1, 1],
  ['author-name-and-organization', 'author_name', 1],
  ['author-organization', 'author_domain', 1, 1],
  ['reply-to-address', 'reply_to', 1],
  ['return-path-organization', 'return_path', 1],
  ['signer-organization', 'signer', 2, 1],
  ['list-id', 'list', 1, 1],
  ['feedback-id', 'list', 1],
  ['origin-ip', 'origin_ip', 1, 1],
  ['origin-network', 'origin_network', 1, 1],
  ['origin-as', 'origin_as', 1, 1],
  ['link', 'link', 4],
  ['link-host', 'link_host', 3],
  ['link-organization', 'link_domain', 3, 2],
  ['attachment', 'attachment', 2, 1],
  ['telephone', 'contact', 1],
  ['cryptocurrency-address', 'contact', 1],
  ['bank-account', 'contact', 1],
  ['body-address', 'contact', 1],
]

type Chosen = {
  group: SeenGroup
  pieces: number
  /**
   * `pairType`: the number of the pair type that counts reporters. `reporters`: the maximum number
   * of pieces whose reporters are looked up.
   */
  pairType: number
  reporters: number
  /** The pair types that count the spread of the first piece; empty for most types of pieces. */
  spread: readonly { counts: Spread; pairType: number }[]
}

/** The types of pieces whose spread is looked up: one of each group in `spreadGroups`. */
const spreadPieces: readonly PieceName[] = [
  ...(['campaign', 'text', 'author-address', 'link-organization'] as const),
]

function pairTypeOf(piece: PieceName, other: PieceName): number {
  return pairTypes.find(({ counted, unique }) => counted === piece && unique === other)?.number ?? 0
}

function spreadOf(piece: PieceName): Chosen['spread'] {
  if (!spreadPieces.includes(piece)) return []
  return [
    { counts: 'networks', pairType: pairTypeOf(piece, 'origin-network') },
    { counts: 'countries', pairType: pairTypeOf(piece, 'origin-country') },
  ]
}

const chosenByType: (Chosen | undefined)[] = Array.from({ length: 256 })
for (const [piece, group, pieces, reporters = 0] of choices) {
  const pairType = pairTypeOf(piece, 'reporter')
  const spread = spreadOf(piece)
  chosenByType[pieceTypes[piece].number] = { group, pieces, pairType, reporters, spread }
}

/**
 * Chooses the counters to look up for a message: its most informative pieces, the number of their
 * reporters, and their spread. `pairKey` returns the key of a piece's counter for a pair type
 * (`counting/keys.ts`).
 */
export function seenPieces(
  packed: PackedShingles,
  pairKey: (type: number, piece: bigint) => bigint,
): SeenPieces {
  const keys: bigint[] = []
  const groups: SeenKey[] = []
  const taken = new Uint8Array(256)
  for (let at = 0; at + PIECE_BYTES <= packed.length;) {
    const type = packed[at] ?? 0
    const chosen = chosenByType[type]
    const nth = taken[type] ?? 0
    if (chosen && nth < chosen.pieces) {
      taken[type] = nth + 1
      const { group, pairType, reporters, spread } = chosen
      const key = packed.readBigUInt64BE(at + 1)
      keys.push(key)
      groups.push({ group, counts: 'piece' })
      if (nth < reporters) {
        keys.push(pairKey(pairType, key))
        groups.push({ group, counts: 'reporters' })
      }
      if (nth === 0) {
        for (const one of spread) {
          keys.push(pairKey(one.pairType, key))
          groups.push({ group, counts: one.counts })
        }
      }
    }
    at += isPairType[type] === 1 ? PAIR_BYTES : PIECE_BYTES
  }
  return { keys, groups }
}

/** The counts of one window, as returned by `counting/reader.ts`. */
export type SeenCounts = {
  readonly ham: number
  readonly spam: number
  readonly complaint: number
  readonly redeemed: number
  readonly unique: number
}

/** The windows that become facts, by their prefixes in fact names. */
export type SeenWindows = {
  readonly reports?: Readonly<Record<'hour' | 'day' | 'twoWeeks', SeenCounts>>
  readonly checks?: Readonly<Record<'hour' | 'day' | 'twoWeeks', SeenCounts>> & {
    /** The number of ten minutes of the day with messages, and the most messages in one. */
    readonly shape: { readonly periods: number; readonly peak: number }
  }
}

/** Numbers by fact name; empty when nothing was seen. */
export type SeenFacts = Record<string, number>

/** A share of fewer checked messages than these would be near 1 by chance. */
const COPIES_MIN = 20

const groupDefinitions: readonly FactDefinition[] = Object.entries(seenGroups).flatMap(
  ([group, what]) =>
    definitionsOf('seen', {
      [`${group}_complaints_hour`]: double(`Reports as spam within the hour: ${what}.`),
      [`${group}_complaints_day`]: double(`Reports as spam within a day: ${what}.`),
      [`${group}_complaints_weeks`]: double(`Reports as spam within two weeks: ${what}.`),
      [`${group}_spam_weeks`]: double(`Reports judged to be spam within two weeks: ${what}.`),
      [`${group}_ham_weeks`]: double(`Reports as wanted mail within two weeks: ${what}.`),
      [`${group}_reporters_weeks`]: double(
        `Different reporters per day, summed over two weeks; 0 if not counted: ${what}.`,
      ),
      [`${group}_copies_hour`]: double(`Messages checked within the hour: ${what}.`),
      [`${group}_copies_day`]: double(`Messages checked within a day: ${what}.`),
      [`${group}_copies_weeks`]: double(`Messages checked within two weeks: ${what}.`),
      [`${group}_blame`]: double(
        `Complaints minus wanted, divided by both plus 5, two weeks, −1 to 1: ${what}.`,
      ),
      [`${group}_complaint_share`]: double(
        `Complaints divided by all messages plus 20, two weeks, 0 to 1: ${what}.`,
      ),
    }),
)

const spreadDefinitions: readonly FactDefinition[] = spreadGroups.flatMap((group) =>
  definitionsOf('seen', {
    [`${group}_recipients_day`]: double(
      `Different reporters, or recipients of checked messages, within a day: ${seenGroups[group]}.`,
    ),
    [`${group}_networks_day`]: double(
      `Different networks (/24 or /48) it came from within a day: ${seenGroups[group]}.`,
    ),
    [`${group}_countries_day`]: double(
      `Different countries it came from within a day: ${seenGroups[group]}.`,
    ),
  }),
)

/** Definitions of the facts about our verdicts on checked messages. */
const verdictDefinitions: readonly FactDefinition[] = Object.entries(seenGroups).flatMap(
  ([group, what]) =>
    definitionsOf('seen', {
      [`${group}_checked_spam_share`]: double(
        `Checked messages judged to be unwanted, divided by all checked or by ${COPIES_MIN} if ` +
          `they are fewer, two weeks, 0 to 1: ${what}.`,
      ),
    }),
)

/** Definitions of the facts about the spread of a group's checked messages over a day. */
const shapeDefinitions: readonly FactDefinition[] = shapeGroups.flatMap((group) =>
  definitionsOf('seen', {
    [`${group}_busy_periods_day`]: double(
      `Periods of ten minutes within a day in which messages were checked, 0 to 145; a machine ` +
        `that always sends has all: ${seenGroups[group]}.`,
    ),
    [`${group}_peak_share_day`]: double(
      `Messages checked in the busiest ten minutes of a day, divided by those of the day or by ` +
        `${COPIES_MIN} if they are fewer, 0 to 1; a burst has 1: ${seenGroups[group]}.`,
    ),
  }),
)

/** Definitions of the facts in the group `seen`. */
export const seenDefinitions: readonly FactDefinition[] = [
  ...groupDefinitions,
  ...spreadDefinitions,
  ...verdictDefinitions,
  ...shapeDefinitions,
]

/**
 * Priors: numbers of reports and copies added to the denominators, so that small counts have little
 * effect.
 */
const PRIOR_REPORTS = 5
const PRIOR_COPIES = 20

/** Places of the facts of a group of pieces, in the order of their definitions. */
const [COMPLAINTS, SPAM, HAM, REPORTERS, COPIES, BLAME, SHARE] = [0, 3, 4, 5, 6, 9, 10] as const
const FACTS_OF_GROUP = 11
const [RECIPIENTS, NETWORKS, COUNTRIES] = [0, 1, 2] as const
const FACTS_OF_SPREAD = 3
const [PERIODS, PEAK] = [0, 1] as const
const FACTS_OF_SHAPE = 2
const windows = ['hour', 'day', 'twoWeeks'] as const
const firstPlaces = Object.fromEntries(
  Object.keys(seenGroups).map((group, index) => [group, index * FACTS_OF_GROUP]),
) as Record<SeenGroup, number>
const firstSpreadPlaces = Object.fromEntries(
  spreadGroups.map((group, index) => [group, groupDefinitions.length + index * FACTS_OF_SPREAD]),
) as Partial<Record<SeenGroup, number>>
const verdictStart = groupDefinitions.length + spreadDefinitions.length
const verdictPlaces = Object.fromEntries(
  Object.keys(seenGroups).map((group, index) => [group, verdictStart + index]),
) as Record<SeenGroup, number>
const shapeStart = verdictStart + verdictDefinitions.length
const firstShapePlaces = Object.fromEntries(
  shapeGroups.map((group, index) => [group, shapeStart + index * FACTS_OF_SHAPE]),
) as Partial<Record<SeenGroup, number>>

/**
 * Names by place, and the values while facts are computed: an object with computed names would cost
 * ten times as much.
 */
const names: readonly string[] = seenDefinitions.map(({ name }) => name)
const values = new Float64Array(names.length)
/** The places that have a value, in the order in which they got it. */
const given: number[] = []

/**
 * Reduces the windows of the pieces to facts, in the order of `groups`. If a group has several
 * pieces, the largest count of each kind is used. Our own verdicts on unreported traffic are no
 * complaints: all but one fact count them as volume only.
 */
export function seenFacts(
  groups: readonly SeenKey[],
  known: readonly (SeenWindows | undefined)[],
): SeenFacts {
  for (let index = 0; index < groups.length; index++) {
    const one = groups[index]
    const windowsOfOne = known[index]
    if (!one || !windowsOfOne) continue
    addPiece(firstPlaces[one.group], one.counts, windowsOfOne)
    const spread = firstSpreadPlaces[one.group]
    if (spread !== undefined) addSpread(spread, one.counts, windowsOfOne)
    if (one.counts === 'piece' && windowsOfOne.checks) addChecked(one.group, windowsOfOne.checks)
  }
  const facts: SeenFacts = {}
  for (const place of given) {
    facts[names[place] ?? ''] = values[place] ?? 0
    values[place] = 0
  }
  given.length = 0
  return facts
}

function addPiece(
  first: number,
  counts: SeenKey['counts'],
  { reports, checks }: SeenWindows,
): void {
  if (counts === 'reporters') {
    if (reports) raise(first + REPORTERS, reports.twoWeeks.unique)
    return
  }
  if (counts !== 'piece') return
  for (let at = 0; at < windows.length; at++) {
    const name = windows[at] ?? 'hour'
    if (reports) raise(first + COMPLAINTS + at, reports[name].complaint)
    if (checks) raise(first + COPIES + at, checks[name].ham + checks[name].spam)
  }
  if (reports) addShares(first, reports.twoWeeks, checks?.twoWeeks)
}

/**
 * Adds the spread within a day. Reports and checked messages are counted separately; the same
 * network may be in both, so the larger number is used.
 */
function addSpread(
  first: number,
  counts: SeenKey['counts'],
  { reports, checks }: SeenWindows,
): void {
  if (counts === 'piece') return
  const place = { reporters: RECIPIENTS, networks: NETWORKS, countries: COUNTRIES }[counts]
  raise(first + place, Math.max(reports?.day.unique ?? 0, checks?.day.unique ?? 0))
}

/** Adds the share of unwanted mail in two weeks, and how the mail of a day is spread over it. */
function addChecked(
  group: SeenGroup,
  { day, twoWeeks, shape }: NonNullable<SeenWindows['checks']>,
): void {
  raise(verdictPlaces[group], shareOf(twoWeeks.spam, twoWeeks.ham + twoWeeks.spam))
  const first = firstShapePlaces[group]
  if (first === undefined) return
  raise(first + PERIODS, shape.periods)
  raise(first + PEAK, shareOf(shape.peak, day.ham + day.spam))
}

function shareOf(some: number, all: number): number {
  return round(some / Math.max(all, COPIES_MIN))
}

function addShares(
  first: number,
  { complaint, ham, spam }: SeenCounts,
  checked: SeenCounts | undefined,
): void {
  raise(first + SPAM, spam)
  raise(first + HAM, ham)
  const reported = Math.max(0, complaint) + Math.max(0, ham)
  const copies = checked ? Math.max(0, checked.ham + checked.spam) : 0
  raiseBlame(first + BLAME, (complaint - ham) / (reported + PRIOR_REPORTS))
  raise(first + SHARE, round(complaint / (reported + copies + PRIOR_COPIES)))
}

/** Uses the piece with the highest blame, not the one with the fewest good reports. */
function raiseBlame(place: number, blame: number): void {
  const isGiven = given.includes(place)
  if (isGiven && blame <= (values[place] ?? 0)) return
  values[place] = round(blame)
  if (!isGiven) given.push(place)
}

function raise(place: number, count: number): void {
  const before = values[place] ?? 0
  if (count <= before) return
  values[place] = count
  if (before === 0) given.push(place)
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
