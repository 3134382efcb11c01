/*
 * Generates messages that reveal their recipient: each identity, at each place of a message,
 * written in each way. These texts may stay in a feedback report and are therefore not generated,
 * or have no needle:
 *
 * - A first name or a surname alone, in small letters or in a code (base64, rot13): it is an
 *   ordinary word to everyone else (`rose`, `roe`), and does not tell one of many recipients.
 * - Names that neither the account nor the message tells ("Dear Marketa" to m471@…): no program can
 *   tell them from other words. Nicknames and transliterations are names of this kind.
 * - The usual local parts and words (`info`, `jane` in small letters), without their domain.
 * - The domain of a mailbox provider and the names of its hosts: many people share them. The domain
 *   of a family is not exempt.
 * - The registrable domain of the spammer, its hosts with ordinary names, and the parts of a link
 *   that are the same for all recipients (`/c/`, `open.gif`, `?u=`).
 * - Numbers of fewer than eight digits in texts: amounts, years, times. A port is searched in a
 *   link.
 * - The codes of this service (`redacted-…`): they depend on a key that the spammer does not have.
 * - Times, sizes and addresses of hosts: a report has to tell them.
 * - The queue id that the reporter's own server wrote: the desk finds the message by it, in the
 *   answer of that server in its log.
 * - A token in capitals without digits, which reads as a word, and a token of fewer than 25
 *   characters that is broken over two lines, whose halves do.
 * - Base64 in the name of a host, which programs write in small letters.
 * - A name in a wrong charset, and a text in a wrong charset that is written in another way
 *   besides: nobody can read them.
 */
import { chanceFrom } from './chance.ts'
import { bodyPlaces } from './identity-forms/body-places.ts'
import { charsetPlaces } from './identity-forms/charset-places.ts'
import { composeDraft, type Draft, newDraft, type Place } from './identity-forms/draft.ts'
import { fieldPlaces } from './identity-forms/field-places.ts'
import {
  type Category,
  type Declaration,
  identities,
  type Identity,
  type Pick,
  type Value,
} from './identity-forms/identities.ts'
import { linkPlaces } from './identity-forms/link-places.ts'
import { dividedNeedles, type Needle, type Secret, squeezed } from './identity-forms/needles.ts'
import { partPlaces } from './identity-forms/part-places.ts'
import { escapeHtml, type Way } from './identity-forms/way.ts'
import { ways } from './identity-forms/ways.ts'

/** An identity of the reporter, at a place of a message, written in a way. */
export type Combination = { identity: Identity; place: Place; way: Way }

/** What the account of a reporter tells. */
export type Reporter = {
  addresses: string[]
  names: string[]
  userNames: string[]
  telephones: string[]
}

export type IdentityMessage = {
  name: string
  raw: Buffer
  /** The addresses of the account, and those that the message names as its recipients. */
  addresses: string[]
  reporter: Reporter
  /** One for each combination, in the same order. */
  secrets: Secret[]
  combinations: Combination[]
}

export const places: readonly Place[] = [
  ...fieldPlaces,
  ...bodyPlaces,
  ...linkPlaces,
  ...partPlaces,
  ...charsetPlaces,
]

/** A message has several combinations, because composing a report costs the most. */
const COMBINATIONS_MAX = 10
const DECLARATIONS_MAX = 10

/** How often a combination is drawn from each category, in a hundred. */
const shares: Readonly<Record<Category, number>> = {
  address: 34,
  'full name': 18,
  'single name': 12,
  local: 14,
  token: 12,
  telephone: 5,
  domain: 4,
  port: 1,
}

/** `spelled` is the text in its way, and `written` the same as its place needs it. */
/**
 * Most messages have parts. The others have one text only, and no places that need parts, because
 * programs read them in other ways.
 */
const kinds = ['parts', 'parts', 'parts', 'html', 'plain'] as const

/** What a message must have for a place. */
const needs = new Map(places.map((place) => [place, needOf(place)]))

type Slot = { combination: Combination; value: Value; spelled: string; written: string }

/**
 * Yields messages with, in total, `count` different combinations (or more, by less than one
 * message). The same seed gives the same messages. In one message no two combinations have a needle
 * in common, so that a leak tells the combination.
 */
export function* messagesOf(seed: number, count: number): Generator<IdentityMessage> {
  const pick = pickFrom(chanceFrom(seed))
  const drawn = new Set<string>()
  const waiting: Slot[] = []
  let total = 0
  for (let number = 1; total < count; number++) {
    const message = new Composition(pick(kinds))
    for (let at = waiting.length - 1; at >= 0; at--) {
      const [slot] = waiting.slice(at)
      if (slot !== undefined && message.add(slot)) waiting.splice(at, 1)
    }
    for (let tries = 0; tries < 40 && !message.isFull; tries++) {
      const slot = draw(pick, drawn)
      if (slot !== undefined && !message.add(slot)) waiting.push(slot)
    }
    if (waiting.length > 400) waiting.length = 300
    total += message.slots.length
    yield message.compose(`message ${String(number)}`, pick)
  }
}

function nameOf({ identity, place, way }: Combination): string {
  return `${identity.name} in ${place.name}, ${way.name}`
}

class Composition {
  readonly slots: Slot[] = []
  private readonly kind: (typeof kinds)[number]
  private readonly draft: Draft = newDraft()
  private readonly keys = new Set<string>()
  private readonly texts = new Set<string>()
  private readonly declarations: Declaration[] = []
  private readonly needles: (readonly Needle[])[] = []

  constructor(kind: (typeof kinds)[number]) {
    this.kind = kind
  }

  get isFull(): boolean {
    return this.slots.length >= COMBINATIONS_MAX
  }

  /** Returns false if the combination does not fit into this message. */
  add(slot: Slot): boolean {
    const { combination, value, written } = slot
    const { place } = combination
    const words = value.needles.map(({ text }) => text)
    const declarations = [...this.declarations, ...value.declarations]
    const fromAccount = declarations.filter(
      ({ by, kind }) => by === 'account' && kind === 'address',
    )
    if (this.isFull || declarations.length > DECLARATIONS_MAX || fromAccount.length > 1)
      return false
    if (place.key !== undefined && this.keys.has(place.key)) return false
    const need = needs.get(place)
    if (this.kind !== 'parts' && need !== undefined && need !== this.kind) return false
    if (words.some((word) => this.texts.has(word))) return false
    const needles = place.put(this.draft, written) ?? []
    // It cannot stand there in any message.
    if (needles === 'impossible') return true
    if (place.key !== undefined) this.keys.add(place.key)
    for (const word of words) this.texts.add(word)
    this.declarations.push(...value.declarations)
    this.needles.push([...value.needles, ...needles, ...needlesOfWriting(slot)])
    this.slots.push(slot)
    return true
  }

  compose(name: string, pick: Pick): IdentityMessage {
    const reporter: Reporter = { addresses: [], names: [], userNames: [], telephones: [] }
    const recipients: string[] = []
    for (const one of this.declarations) declare(one, { draft: this.draft, reporter, recipients })
    const raw = composeDraft(this.draft, recipients, pick)
    const named = this.declarations.flatMap((one) => (one.kind === 'address' ? [one.address] : []))
    return {
      name,
      raw,
      addresses: [...new Set([...reporter.addresses, ...named])],
      reporter,
      secrets: this.slots.map(({ combination }, index) => ({
        name: nameOf(combination),
        needles: this.needles[index] ?? [],
      })),
      combinations: this.slots.map(({ combination }) => combination),
    }
  }
}

function needOf(place: Place): (typeof kinds)[number] | undefined {
  const { plain, html, head, parts, preamble, epilogue, boundary, parameters } = draftWith(place)
  const isOfParts = parts.length + preamble.length + epilogue.length > 0
  if (isOfParts || boundary !== newDraft().boundary || parameters !== '') return 'parts'
  if (html.length + head.length > 0) return 'html'
  return plain.length > 0 ? 'plain' : undefined
}

function draftWith(place: Place): Draft {
  const draft = newDraft()
  place.put(draft, 'word')
  return draft
}

function needlesOfWriting({ combination, value, spelled, written }: Slot): Needle[] {
  // A single name in another notation is an ordinary word, unless it can be decoded.
  if (combination.identity.category === 'single name') return dividedNeedles(value.text)
  return [...squeezed(written), ...squeezed(spelled), ...dividedNeedles(value.text)]
}

function declare(
  declaration: Declaration,
  { draft, reporter, recipients }: { draft: Draft; reporter: Reporter; recipients: string[] },
): void {
  if (declaration.kind !== 'address') {
    const lists = {
      name: reporter.names,
      'user name': reporter.userNames,
      telephone: reporter.telephones,
    }
    lists[declaration.kind].push(declaration.text)
    return
  }
  const { by, address, name } = declaration
  const mailbox = name === undefined ? `<${address}>` : `${encodedName(name)} <${address}>`
  if (by === 'account') reporter.addresses.push(address)
  else if (by === 'To') draft.to.push(mailbox)
  else if (by === 'Cc') draft.cc.push(mailbox)
  else if (by === 'Received for' && recipients.length === 0) recipients.push(address)
  else if (by === 'Received for') {
    draft.hops.unshift(
      `Received: from mx1.inbox.test ([198.51.100.7]) by mx2.inbox.test with LMTP for <${address}>; Sun, 22 Nov 2026 15:00:10 +0000`,
    )
  } else draft.deliveries.push(`${by}: ${address}`)
}

function encodedName(name: string): string {
  return /^[\x20-\x7e]*$/.test(name)
    ? `"${name}"`
    : `=?utf-8?B?${Buffer.from(name).toString('base64')}?=`
}

/** Draws a combination that was not drawn before; undefined if the drawn one is impossible. */
function draw(pick: Pick, drawn: Set<string>): Slot | undefined {
  const category = pick(categories)
  const identity = pick(identitiesOf[category])
  const place = pick(category === 'port' ? portPlaces : allPlaces)
  const fitting = ways.filter((way) => fits({ identity, place, way }))
  const [first, ...rest] = fitting
  if (first === undefined) return undefined
  const combination = { identity, place, way: pick([first, ...rest]) }
  const name = nameOf(combination)
  if (drawn.has(name)) return undefined
  drawn.add(name)
  return slotOf(combination, pick)
}

function slotOf(combination: Combination, pick: Pick): Slot | undefined {
  if (!fits(combination)) return undefined
  const value = combination.identity.make(pick)
  const spelled = combination.way.write(value.text)
  const written = spelled === undefined ? undefined : writtenAt(combination, spelled)
  if (spelled === undefined || written === undefined) return undefined
  return { combination, value, spelled, written }
}

function fits({ identity, place, way }: Combination): boolean {
  if (hostName.test(place.name) && /base64/.test(way.name)) return false
  if (/ labeled /.test(place.name) && (way.name !== 'as is' || /name/.test(identity.category))) {
    return false
  }
  return (
    way.media.includes(place.medium) &&
    way.categories.includes(identity.category) &&
    (place.categories?.includes(identity.category) ?? identity.category !== 'port')
  )
}

const hostName = /topmost Received, (?:by|reverse|helo)|\{\}\.(?:t\.)?spam\.test/

/** Changes a text so that it can stand at a place; undefined if it cannot. */
function writtenAt({ place, way }: Combination, written: string): string | undefined {
  switch (place.medium) {
    case 'field':
    case 'plain':
    case 'file':
      return written
    case 'html':
    case 'attribute':
      return way.isMarkup ? written : escapeHtml(written)
    case 'link':
      return way.isMarkup ? written : escapeHtml(written).replace(/\s/g, '%20')
    case 'atom': {
      if (!/^[\x20-\x7e]+$/.test(written)) return undefined
      const word = written.replace(/[ <>()",;\\]+/g, '.')
      return /\{\}[\w.]*@|\{\}\.|^boundary/.test(place.name) ? word.replaceAll('@', '=') : word
    }
  }
}

const allPlaces = places as readonly [Place, ...Place[]]
const portPlaces = places.filter((one) => one.categories?.includes('port')) as [Place, ...Place[]]

const categories = Object.entries(shares).flatMap(([category, share]) =>
  Array<Category>(share).fill(category as Category),
) as [Category, ...Category[]]

const identitiesOf = Object.fromEntries(
  Object.keys(shares).map((category) => [
    category,
    identities.filter((one) => one.category === category),
  ]),
) as unknown as Readonly<Record<Category, readonly [Identity, ...Identity[]]>>

function pickFrom(chance: () => number): Pick {
  return (list) => list[Math.floor(chance() * list.length)] ?? list[0]
}
