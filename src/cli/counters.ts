import { DAY_MS } from '../durations.ts'
import { concealKeys } from '../mail/conceal-keys.ts'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { shownLine } from '../mail/text.ts'
import type { App } from '../app.ts'
import { type LookUpAnswer, ask, differentWords } from '../counting/headline.ts'
import type { Prefix } from '../counting/keys.ts'
import {
  type ChartBucket,
  type LookUpInput,
  isCounted,
  kindNames,
  type Known,
  type KnownPiece,
  readQuestion,
  type WindowSums,
} from '../counting/look-up.ts'
import { reasonOf, UsageError } from '../errors.ts'
import type { Phrase } from '../phrase.ts'
import { inEnglish } from '../texts/phrases.ts'

/** The properties of the output device. */
type Look = { isAscii: boolean; columns: number; now: Date }

type Kind = keyof WindowSums

const kinds: readonly [Kind, string][] = [
  ['complaint', 'complaints'],
  ['spam', 'spam'],
  ['ham', 'legitimate'],
  ['redeemed', 'retracted'],
]
const windows = [
  ['tenMinutes', 'ten minutes'],
  ['hour', 'hour'],
  ['day', 'day'],
  ['today', 'today (UTC)'],
  ['twoWeeks', 'two weeks'],
] as const

const SLOT_MS = 600_000
const SLOTS = 145
const SLOTS_PER_SIGN = 3
const DAYS = 14
const TEXT_CHARS_MAX = 60
const TEXT_CHARS_MIN = 12
const COLUMNS_MIN = 40
const NUMBER_COLUMNS = 12
const NAME_COLUMNS = 14

/**
 * The answer as text for a terminal: the headline, the windows of the selected piece, bar charts of
 * its series, and a table of all other pieces. Untrusted text cannot contain control characters.
 */
function countersText(answer: Exclude<LookUpAnswer, { fault: Phrase }>, look: Look): string {
  const { pieces, told: selected, summary } = answer
  const drawn = pieces.filter((piece, place) => place === selected || piece.series)
  const text = [
    askedLine(answer),
    '',
    ...wrap(inEnglish(summary), Math.max(COLUMNS_MIN, look.columns)),
    ...drawn.flatMap((piece) => ['', ...pieceLines(piece, look)]),
    '',
    ...allLines(pieces, Math.max(COLUMNS_MIN, look.columns)),
  ].join('\n')
  return look.isAscii ? spelled(text) : text
}

function askedLine({ question }: Known): string {
  if ('hash' in question) return `hash ${question.hash}`
  if ('type' in question) return `${question.type}  ${clean(question.value)}`
  const { kind, isGuessed, value } = question
  return `${kind}${isGuessed ? ' (detected)' : ''}  ${clean(value)}`
}

function pieceLines(piece: KnownPiece, look: Look): string[] {
  return [
    pieceLabel(piece, look.columns),
    ...(Object.keys(piece.counts) as Prefix[]).flatMap((prefix) => [
      ...windowLines(piece, prefix),
      ...dayLines(piece, prefix, look),
      ...weekLines(piece, prefix, look),
    ]),
    ...uniqueLines(piece),
  ]
}

function windowLines({ counts }: KnownPiece, prefix: Prefix): string[] {
  const head = kinds.map(([, words]) => words.padStart(NUMBER_COLUMNS)).join('')
  return [
    `  ${prefix.padEnd(NAME_COLUMNS)}${head}`,
    ...windows.map(([name, words]) => {
      const numbers = kinds.map(([kind]) => numberCell(counts[prefix]?.[name][kind] ?? 0))
      return `  ${words.padEnd(NAME_COLUMNS)}${numbers.join('')}`
    }),
  ]
}

/** Formats the last day with one character per half hour; all rows have the same scale. */
function dayLines({ series }: KnownPiece, prefix: Prefix, { isAscii, now }: Look): string[] {
  const last = Math.floor(now.getTime() / SLOT_MS)
  const first = last - SLOTS + 1
  const rows = sumsOf(series?.[prefix]?.tenMinutes ?? [], (at) =>
    Math.floor((Math.min(Math.floor(at / SLOT_MS), last) - first) / SLOTS_PER_SIGN),
  )
  const most = Math.max(0, ...[...rows.values()].flatMap((row) => Object.values(row)))
  if (most <= 0) return []
  const signs = Math.ceil(SLOTS / SLOTS_PER_SIGN)
  const lines = kinds.flatMap(([kind, words]) => {
    const values = Array.from({ length: signs }, (_, place) => rows.get(place)?.[kind] ?? 0)
    if (values.every((value) => value <= 0)) return []
    const bars = values.map((value) => signFor(value / most, isAscii)).join('')
    return [`  ${words.padEnd(NAME_COLUMNS)}${isAscii ? '|' : '▕'}${bars}${isAscii ? '|' : '▏'}`]
  })
  const head = `Last day, one character per half hour; the highest is ${number(most)}.`
  return ['', `  ${head}`, ...lines]
}

/**
 * Formats two weeks with one line per day and a bar for complaints, or for verdicts if there are no
 * complaints.
 */
function weekLines({ series }: KnownPiece, prefix: Prefix, look: Look): string[] {
  const today = Math.floor(look.now.getTime() / DAY_MS)
  const days = sumsOf(series?.[prefix]?.days ?? [], (at) =>
    Math.min(Math.floor(at / DAY_MS), today),
  )
  if (days.size === 0) return []
  const heightOf = ({ complaint, spam, ham }: WindowSums) => Math.max(complaint, spam + ham)
  const most = Math.max(1, ...[...days.values()].map(heightOf))
  const amountsOf = (sums: WindowSums) =>
    kinds
      .filter(([kind]) => sums[kind] !== 0)
      .map(([kind, name]) => `${name} ${number(sums[kind])}`)
      .join(', ')
  const longest = Math.max(...[...days.values()].map((sums) => amountsOf(sums).length))
  const room = Math.max(4, Math.min(look.columns, 100) - NAME_COLUMNS - longest - 4)
  const lines = Array.from({ length: DAYS }, (_, place) => {
    const day = today - DAYS + 1 + place
    const sums = days.get(day)
    const date = dates.format(new Date(day * DAY_MS)).padEnd(NAME_COLUMNS)
    if (!sums) return `  ${date}`.trimEnd()
    const bar = (look.isAscii ? '#' : '█').repeat(Math.max(1, (heightOf(sums) / most) * room))
    return `  ${date}${bar} ${amountsOf(sums)}`
  })
  return ['', '  Last two weeks, by day (UTC).', ...lines]
}

function uniqueLines({ uniques }: KnownPiece): string[] {
  const lines = uniques.flatMap((unique) =>
    (Object.keys(unique.counts) as Prefix[]).flatMap((prefix) => {
      const words = differentWords(unique, prefix)
      const name = unique.meaning.replace(/\.$/, '')
      const of = prefix === 'reports' ? '' : ` (${prefix})`
      return words === undefined ? [] : [`  ${words.padStart(NUMBER_COLUMNS)}  ${name}${of}`]
    }),
  )
  return lines.length > 0 ? ['', '  Unique counts in two weeks:', ...lines] : []
}

function allLines(pieces: readonly KnownPiece[], columns: number): string[] {
  const counted = pieces.filter(isCounted)
  const absent = pieces.filter((piece) => !counted.includes(piece))
  const head = kinds.slice(0, 3).map(([, words]) => words.padStart(NUMBER_COLUMNS))
  const rows = counted.flatMap((piece) =>
    (Object.keys(piece.counts) as Prefix[]).map((prefix) => {
      const amounts = piece.counts[prefix]?.twoWeeks
      const numbers = kinds.slice(0, 3).map(([kind]) => numberCell(amounts?.[kind] ?? 0))
      const of = prefix === 'reports' ? '' : ` (${prefix})`
      const room = columns - numbers.length * NUMBER_COLUMNS - 2 - of.length
      return `${numbers.join('')}  ${pieceLabel(piece, room)}${of}`
    }),
  )
  const nothing = absent.map((piece) => pieceLabel(piece, columns - 2))
  return [
    ...(rows.length > 0 ? [`${head.join('')}  in two weeks`, ...rows] : []),
    ...(nothing.length > 0 ? ['No counts for:', ...nothing.map((name) => `  ${name}`)] : []),
    ...(pieces.some(({ countedFrom }) => countedFrom > 1)
      ? ['', '* In checked mail, counted from the third occurrence on.']
      : []),
  ]
}

/**
 * The type of a piece and its text, shortened to fit; followed by a star if checks do not count the
 * piece from its first occurrence.
 */
function pieceLabel({ type, piece, hash, countedFrom }: KnownPiece, columns: number): string {
  if (type === null) return `hash ${hash}`
  const remark = countedFrom > 1 ? ' *' : ''
  const room = columns - type.length - remark.length - 3
  const text = shownLine(piece, Math.max(TEXT_CHARS_MIN, Math.min(room, TEXT_CHARS_MAX)))
  return `${type}  ${text}${remark}`
}

/** Sums the points by the place that `placeOf` returns for their start. */
function sumsOf(
  points: readonly ChartBucket[],
  placeOf: (at: number) => number,
): Map<number, WindowSums> {
  const sums = new Map<number, WindowSums>()
  for (const { startsAt, ...amounts } of points) {
    const place = placeOf(startsAt.getTime())
    const before = sums.get(place) ?? { ham: 0, spam: 0, complaint: 0, redeemed: 0 }
    sums.set(place, {
      ham: before.ham + amounts.ham,
      spam: before.spam + amounts.spam,
      complaint: before.complaint + amounts.complaint,
      redeemed: before.redeemed + amounts.redeemed,
    })
  }
  return sums
}

/** Returns the character for a share from 0 to 1; only a share of zero or less is blank. */
function signFor(share: number, isAscii: boolean): string {
  const signs = isAscii ? '.:-=+*#@' : '▁▂▃▄▅▆▇█'
  if (share <= 0) return ' '
  return signs[Math.min(signs.length, Math.ceil(share * signs.length)) - 1] ?? ' '
}

const whole = new Intl.NumberFormat('en-GB')

function number(value: number): string {
  return whole.format(value)
}

function numberCell(value: number): string {
  return (value === 0 ? '-' : number(value)).padStart(NUMBER_COLUMNS)
}

const dates = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short', timeZone: 'UTC' })

const plain = new Map([
  ['“', '"'],
  ['”', '"'],
  ['…', '...'],
  ['‹', '<'],
  ['›', '>'],
])

/** Replaces non-ASCII characters by their code points, because pieces may be in any language. */
function spelled(text: string): string {
  return text.replaceAll(/[^\n -~]/gu, (sign) => {
    const code = sign.codePointAt(0) ?? 0
    return plain.get(sign) ?? `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
  })
}

function clean(text: string): string {
  return shownLine(text, TEXT_CHARS_MAX)
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of shownLine(text, 2_000).split(' ')) {
    if (line !== '' && line.length + word.length + 1 > columns) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

export type CountersRequest = {
  given: LookUpInput
  isJson: boolean
  isAll: boolean
  isPlain: boolean
}

export type CountersInput = { stdin: NodeJS.ReadableStream }

/**
 * Parses `[KIND] VALUE`, `--type TYPE VALUE` or `--hash HASH`. A file is given by its path, unless
 * the value is a SHA-256; `-` reads the value from standard input.
 *
 * @throws UsageError, also if the value is invalid for its kind, or if a file cannot be read
 */
export async function readCounters(
  args: readonly string[],
  { stdin }: CountersInput,
): Promise<CountersRequest> {
  const flag = { type: 'boolean' } as const
  const word = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: flag, series: flag, plain: flag, type: word, hash: word },
  })
  const given = await resolve(givenBy(positionals, values), stdin)
  const read = readQuestion(given)
  if ('fault' in read) throw new UsageError([inEnglish(read.fault)])
  const { json: isJson = false, series: isAll = false, plain: isPlain = false } = values
  return { given, isJson, isAll, isPlain }
}

function givenBy(
  positionals: readonly string[],
  named: { type?: string; hash?: string },
): LookUpInput {
  const { type, hash } = named
  const [first, second, ...more] = positionals
  const isNamed = type !== undefined || hash !== undefined
  if (more.length > 0 || (isNamed && second !== undefined)) {
    throw new UsageError(['Enclose a value of several words in quotes.'])
  }
  if (type !== undefined || hash !== undefined) {
    return { ...(type && { type }), ...(hash && { hash }), ...(first && { value: first }) }
  }
  if (second !== undefined) return { ...(first && { kind: first }), value: second }
  if (first !== undefined && kindNames.includes(first)) {
    throw new UsageError([`The value is missing. Use "counters ${first} VALUE".`])
  }
  return first === undefined ? {} : { value: first }
}

async function resolve(given: LookUpInput, stdin: NodeJS.ReadableStream): Promise<LookUpInput> {
  const { kind, value } = given
  if (value === '-' && kind !== 'file') return { ...given, value: await text(stdin) }
  if (kind !== 'file' || value === undefined || /^[0-9a-f]{64}$/i.test(value)) return given
  return { ...given, value: await hashOf(value === '-' ? stdin : createReadStream(value), value) }
}

async function hashOf(bytes: NodeJS.ReadableStream, name: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    await pipeline(bytes, hash)
  } catch (error) {
    throw new UsageError([`Cannot read ${name}: ${reasonOf(error)}`])
  }
  return hash.digest('hex')
}

export type CountersOutput = {
  stdout: { write: (text: string) => unknown; columns?: number }
  env: Readonly<Record<string, string | undefined>>
}

/**
 * Writes the answer as text or JSON. Returns 1 if nothing was counted in two weeks, otherwise 0.
 */
export async function printCounters(
  { given, isJson, isAll, isPlain }: CountersRequest,
  app: Pick<App, 'pool' | 'clock'>,
  { stdout, env }: CountersOutput,
): Promise<0 | 1> {
  const answer = await ask(app, given, isAll ? 'all' : 'told')
  if ('fault' in answer) throw new UsageError([inEnglish(answer.fault)])
  const isUnicode = /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '')
  const look = {
    isAscii: isPlain || !isUnicode,
    columns: stdout.columns ?? COLUMNS_USUAL,
    now: app.clock(),
  }
  const inWords = { ...answer, summary: inEnglish(answer.summary) }
  const text = isJson ? JSON.stringify(inWords, undefined, 2) : countersText(answer, look)
  stdout.write(`${concealKeys(text)}\n`)
  return answer.told === null ? 1 : 0
}

const COLUMNS_USUAL = 80
