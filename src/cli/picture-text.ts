import type { styleText } from 'node:util'
import { shownLine } from '../mail/text.ts'
import type { TracedHop } from '../origin/trace.ts'
import type { Analysis } from '../pieces/analyze.ts'
import {
  drawWalk,
  ownReasons,
  percentOf,
  type Station,
  type StationRole,
  surenessOf,
} from '../verdict/walk-picture.ts'
import { inEnglish } from '../texts/phrases.ts'

/** The input of a picture; `network` describes the network of the origin if it is known. */
export type Pictured = Pick<Analysis, 'hops' | 'origin' | 'originObstacle' | 'submitter'> & {
  network?: string | undefined
}

type Style = Parameters<typeof styleText>[0]

const WIDTH = 96
const TEXT_CHARS_MAX = 400
const looks: Record<StationRole, { mark: string; rail: string; style: Style; words: string }> = {
  mailbox: { mark: '■', rail: '│', style: 'green', words: '' },
  ours: { mark: '●', rail: '│', style: 'green', words: "a machine of the reporter's provider" },
  origin: { mark: '◆', rail: '│', style: ['bold', 'yellow'], words: 'THE ORIGIN' },
  unclear: { mark: '?', rail: '┊', style: 'yellow', words: 'the trace ends here' },
  believed: { mark: '◉', rail: '│', style: 'cyan', words: 'named by a known provider' },
  claimed: { mark: '○', rail: '┊', style: 'dim', words: 'only claimed' },
  forged: { mark: '✗', rail: '┊', style: 'red', words: 'cannot be true' },
}
const seen: Record<TracedHop['trust'], string> = {
  trusted: 'received it from',
  injection: 'received it directly from',
  believed: 'reports (and is trusted) that it received it from',
  claimed: 'claims that it received it from',
  forged: 'a forged line names',
}
const sure = { very: 'very sure', fairly: 'fairly sure', not: 'not sure' } as const
const border = 'nothing below this line can be verified'

/**
 * Formats the route of a message as lines of text, from the mailbox outward, like the pages.
 * `paint` adds colors if the output supports them.
 */
export function pictureText(
  found: Pictured,
  paint: (style: Style, text: string) => string = (_style, text) => text,
): string {
  const { stations, border: borderAt } = drawWalk(found)
  const lines = stations.flatMap((station, index) => {
    const look = looks[station.role]
    const rail = `  ${paint(look.style, look.rail)} `
    const hop = station.line === null ? undefined : found.hops[station.line]
    const next = stations[index + 1]
    const below = next && index + 1 !== borderAt ? looks[next.role] : undefined
    const aside = below ? `  ${paint(below.style, below.rail)} ` : '    '
    return [
      ...(index === borderAt ? [borderLine(paint)] : []),
      ...(index === 0 ? [] : [`${rail} ${paint('dim', arrowWords(station, hop))}`]),
      `  ${paint(look.style, look.mark)} ${stationWords(station, paint)}`,
      ...details(station, hop, found).flatMap((text) => wrap(text).map((one) => aside + one)),
    ]
  })
  const end = found.origin
    ? []
    : wrap(`No origin: ${clean(inEnglish(found.originObstacle) || 'unknown')}`)
  return [...lines, ...end.map((line) => `   ${line}`)].join('\n')
}

function borderLine(paint: (style: Style, text: string) => string): string {
  const rule = '═'.repeat(Math.max(2, (WIDTH - border.length - 6) / 2))
  return paint('red', `  ${rule} ${border} ${rule}`)
}

function arrowWords({ isUnlinked }: Station, hop: TracedHop | undefined): string {
  if (!hop) return isUnlinked ? '▼ no line above names this machine' : '▼ received it from'
  const at = hop.at === null ? '' : `${hop.at.slice(0, 16).replace('T', ' ')} UTC, `
  return `▼ ${seen[hop.trust]} (${at}line ${hop.index + 1})`
}

function stationWords(
  { role, name, ip }: Station,
  paint: (style: Style, text: string) => string,
): string {
  if (role === 'mailbox') return paint('bold', 'The mailbox')
  const machine = clean(name ?? ip ?? 'a machine without a name')
  const address = name !== null && ip !== null ? ` [${clean(ip)}]` : ''
  const { style, words } = looks[role]
  const isBold = role === 'origin' || role === 'ours'
  return `${paint(isBold ? 'bold' : style, machine)}${address}  ${paint(style, `· ${words}`)}`
}

function details(station: Station, hop: TracedHop | undefined, found: Pictured): string[] {
  const { origin, submitter, network } = found
  const { role, aliases, isSubmitter, notes } = station
  const odd = notes.map((note) => `! ${inEnglish(note)}`)
  const because = hop?.because ? [inEnglish(hop.because)] : []
  const also = aliases.length > 0 ? [`calls itself ${aliases.join(', ')}`] : []
  const submitted = isSubmitter ? ['the machine from which the message was submitted'] : []
  if (role !== 'origin' || !origin) return [...also, ...because, ...submitted, ...odd].map(clean)
  const behind = submitter
    ? [`client behind it, according to its provider: ${submitter.ip}. ${inEnglish(submitter.how)}`]
    : []
  return [
    ...also,
    ...(network === undefined ? [] : [`network: ${network}`]),
    `${sure[surenessOf(origin.confidence)]} (${percentOf(origin.confidence)} %), because`,
    ...ownReasons(found).map((why) => `· ${inEnglish(why)}`),
    ...behind,
    ...odd,
  ].map(clean)
}

/**
 * Makes untrusted text safe to print: at most `TEXT_CHARS_MAX` characters, without control
 * characters or changes of the text direction.
 */
function clean(text: string): string {
  return shownLine(text, TEXT_CHARS_MAX)
}

/** Wraps text beside the vertical line of the picture; continuation lines are indented. */
function wrap(text: string): string[] {
  const lines: string[] = []
  let line = ' '
  for (const word of text.split(' ')) {
    if (line.trim() !== '' && line.length + word.length + 1 > WIDTH - 6) {
      lines.push(line)
      line = '   '
    }
    line += ` ${word}`
  }
  return [...lines, line]
}
