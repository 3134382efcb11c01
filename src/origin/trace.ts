import { fieldValues, type HeaderField } from '../mail/header.ts'
import { type IpAddress, isInternal, isRoutable, parseIp } from '../mail/ip.ts'
import { parseReceived, type ReceivedField } from '../mail/received.ts'
import { storableText } from '../mail/text.ts'
import { type Note, suspicionsOf } from './forgery.ts'
import type { Walk } from './injection-point.ts'
import type { ProviderProfile } from './provider-profiles.ts'
import { isByUser, isHandedIn, isWrittenBy } from './providers.ts'

/** One Received field on its way through the analysis; index 0 is the topmost, the newest. */
export type Hop = {
  index: number
  /** Undefined where the field cannot be read. */
  field: ReceivedField | undefined
  fromIp: IpAddress | undefined
  byIp: IpAddress | undefined
  /** Names in lower case. */
  helo: string | undefined
  rdns: string | undefined
  byHost: string | undefined
}

/** A machine that hands a message over, as the mail server that takes it sees it. */
export type Client = { ip: string; helo?: string; rdns?: string }

/** Messages with more Received fields than this are read to there: no honest one has as many. */
const hopsMax = 100

/**
 * The Received fields of a header, top first, read and made ready to compare. A `client` stands
 * above them, or in place of the topmost line where that names it already: then the mail server
 * has written its own, or the client brought it along, to say what it likes of itself. Inside an
 * internal network that line stays.
 */
export function readHops(fields: readonly HeaderField[], client?: Client): Hop[] {
  const lines = fieldValues(fields, 'received').slice(0, hopsMax).map(parseReceived)
  const clientIp = addressOf(client?.ip)
  const isWritten = clientIp?.text === addressOf(lines[0]?.from?.ip)?.text
  const older = isWritten ? lines.slice(1) : lines
  const isKept = !clientIp || (isWritten && !isRoutable(clientIp))
  const seen: (ReceivedField | undefined)[] =
    client && !isKept ? [{ from: client, by: {} }, ...older] : lines
  return seen.map((field, index) => ({
    index,
    field,
    fromIp: addressOf(field?.from?.ip),
    byIp: addressOf(field?.by.ip),
    helo: field?.from?.helo?.toLowerCase(),
    rdns: field?.from?.rdns?.toLowerCase(),
    byHost: field?.by.host?.toLowerCase(),
  }))
}

function addressOf(ip: string | undefined): IpAddress | undefined {
  return ip === undefined ? undefined : parseIp(ip)
}

/** A message's way through the machines of one provider, from the machine it left by. */
export type Custody = {
  provider: ProviderProfile
  /** How many lines below the first are its own, the border's included. */
  lines: number
  /** The line in which it saw a machine that is not its own: undefined where none is left. */
  border: Hop | undefined
  /** How sure the way is, 0 to 1. */
  certainty: number
}

/**
 * Below the line of a user who handed the message in. Mostly a mailbox's own rule took it out and
 * put it in again, lines and all; but a user may bring lines along, so nothing that follows from
 * them reaches the usual threshold.
 */
const handedInCertainty = 0.7

/**
 * Follows the lines that a provider wrote from `first` on, as long as their peers are machines of
 * its own, to the one in which it saw somebody else. Believable only where the line above `first`
 * was written by somebody we believe and names a machine of the provider as its peer: then the
 * provider prepended these lines itself. It ends where a customer may have brought lines along.
 */
export function custodyOf(provider: ProviderProfile, hops: readonly Hop[], first: number): Custody {
  const custody: Custody = { provider, lines: 0, border: undefined, certainty: 1 }
  for (let at = first; at < hops.length; at++) {
    const hop = hops[at]
    if (!hop?.field || !isWrittenBy(provider, hop)) return custody
    custody.lines++
    const { fromIp } = hop
    // By HTTP a customer hands in a message as it is, Received lines of his own included.
    if (/^http/i.test(hop.field.with ?? '')) return custody
    if (!hop.field.from || !fromIp) {
      if (isByUser(hop) || isHandedIn(hop)) custody.certainty = handedInCertainty
      continue
    }
    if (isInternal(fromIp) || provider.relays.has(fromIp) || provider.outbound.has(fromIp)) {
      if (isHandedIn(hop)) custody.certainty = handedInCertainty
      continue
    }
    custody.border = hop
    return custody
  }
  return custody
}

/**
 * How far a line is to be believed. `trusted`: written by the reporter's provider about itself;
 * `injection`: by it, about the stranger; `believed`: by a provider we know that handed the
 * message over; `claimed`: by anybody; `forged`: it cannot be true.
 */
export type Trust = 'trusted' | 'injection' | 'believed' | 'claimed' | 'forged'

/** A Received line as shown to people: what it says, whether to believe it, and what is odd. */
export type TracedHop = {
  index: number
  from: { helo: string | null; rdns: string | null; ip: string | null; port: number | null }
  by: { host: string | null; ip: string | null }
  with: string | null
  id: string | null
  for: string | null
  /** ISO 8601. */
  at: string | null
  auth: string | null
  trust: Trust
  /** Why the walk passed over it or believes it, as a sentence. */
  because: string | null
  notes: Note[]
}

const textCharsMax = 400

/** What was found out about the lines of a message. */
export type Traced = {
  walk: Walk
  /** How the lines of the sending provider go, where we know that provider. */
  custody: Custody | undefined
  /** Whether a registered domain is one of the author's: of the return path or Message-ID too. */
  isHouseOfAuthor: (house: string) => boolean
}

/** Marks every hop with its trust, why, and what is odd about those below the injection point. */
export function traceHops(hops: readonly Hop[], traced: Traced): TracedHop[] {
  const { walk, custody } = traced
  const entryIndex = walk.entry?.index ?? hops.length
  const believedTo = entryIndex + (custody?.lines ?? 0)
  let isForged = false
  return hops.map((hop, index) => {
    const above = hops[index - 1]
    const notes: Note[] = hop.field ? [] : [unreadable]
    if (!above || index <= entryIndex) {
      return describe(hop, trustAbove(hop, walk), walk.passed[index] ?? null, notes)
    }
    if (index <= believedTo) return describe(hop, 'believed', believedBecause(custody), notes)
    const suspicions = suspicionsOf(hop, { above, below: hops[index + 1] }, traced.isHouseOfAuthor)
    notes.push(...suspicions.map(({ note }) => note))
    if (isForged && notes.length === 0) notes.push(belowInvented)
    isForged ||= suspicions.some(({ isProof }) => isProof)
    return describe(hop, isForged ? 'forged' : 'claimed', null, notes)
  })
}

const unreadable: Note = { name: 'unreadable', text: 'This line cannot be read.' }
const belowInvented: Note = {
  name: 'below-invented',
  text: 'It stands below a line that was invented.',
}

function believedBecause(custody: Custody | undefined): string | null {
  if (!custody) return null
  return `${custody.provider.name} handed the message over, and wrote this line about itself.`
}

/** What the walk says of a line: the one it stopped at was still written by a friend. */
function trustAbove({ index, field }: Hop, { passed, entry }: Walk): Trust {
  if (index === entry?.index) return 'injection'
  const isReached = index < passed.length || (index === passed.length && field !== undefined)
  return isReached ? 'trusted' : 'claimed'
}

function describe(
  { index, field }: Hop,
  trust: Trust,
  because: string | null,
  notes: Note[],
): TracedHop {
  const from = field?.from
  return {
    index,
    from: {
      helo: text(from?.helo),
      rdns: text(from?.rdns),
      ip: from?.ip ?? null,
      port: from?.port ?? null,
    },
    by: { host: text(field?.by.host), ip: field?.by.ip ?? null },
    with: text(field?.with),
    id: text(field?.id),
    for: text(field?.for),
    at: field?.at?.toISOString() ?? null,
    auth: text(field?.auth),
    trust,
    because,
    notes,
  }
}

function text(value: string | undefined): string | null {
  return value === undefined ? null : storableText(value, textCharsMax)
}
